package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/learn/mcp"
)

// mcpFlags are the flags of pawl mcp.
type mcpFlags struct {
	*globals
	socket string
	total  time.Duration
	wait   time.Duration
}

func newMCP(g *globals) *cobra.Command {
	f := mcpFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Judge the candidates of AI agents over the Model Context Protocol",
		Long: `Serves pawl submit to AI agents as six tools: submit, submit_batch, explain, history, note
and doctor. It uses stdin and stdout, or a Unix socket.

Judging a candidate executes it. By default candidates are built in a sandbox and run by
pawl's own launcher; see pawl submit grant.

On stdin and stdout a client has the account of the server, so a budget is advice. With
--socket attempts are kept in the user's own state folder, and --total is
enforced for clients of other accounts.`,
		Example: `  pawl mcp                                            # started by a client, on stdin and stdout
  pawl mcp --socket /run/pawl/agent.sock --total 30m  # for agents with another account
  pawl init --agents                                  # write AGENTS.md and the client configuration`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.socket, "socket", "", "serve on this Unix socket instead, a `file`; its folder decides which accounts can use it")
	fl.DurationVar(&f.total, "total", 0, "with --socket: max `time` of all attempts of a suite together; 0 for no limit")
	fl.DurationVar(&f.wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	return cmd
}

func (f *mcpFlags) run(ctx context.Context) error {
	if err := f.check(); err != nil {
		return command.Usage(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("cannot get the current folder: %w", err)
	}
	o := mcp.Options{Dir: dir, Top: topOf(dir), Total: f.total, Wait: f.wait, Version: version.Version(), Now: f.Now, Doctor: examineFor}
	if f.socket != "" {
		if o.Private, err = privateFolder(f.Getenv); err != nil {
			return command.Exit(command.ExitCannot, err)
		}
	}
	s, err := mcp.New(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close()
	if f.socket != "" {
		l, err := mcp.Listen(ctx, f.socket)
		if err != nil {
			return command.Exit(command.ExitCannot, fmt.Errorf("cannot listen on %s: %w", f.socket, err))
		}
		fmt.Fprintf(f.Err, "serving %s\n", f.socket)
		return s.ServeSocket(l)
	}
	return s.Serve(io.NopCloser(f.In), noClose{f.Out}, false)
}

func (f *mcpFlags) check() error {
	switch {
	case f.socket == "" && f.total != 0:
		return errors.New("--total requires --socket: on stdin and stdout use `pawl submit grant --total`, which is advice")
	case f.total < 0:
		return fmt.Errorf("--total %s: must be a time, or 0 for no limit", f.total)
	}
	return nil
}

// examineFor examines the machine and a suite without starting a harness. What concerns the suite and its harness quotes
// their author.
func examineFor(ctx context.Context, suite string) ([]mcp.Finding, error) {
	found, err := doctor.Examine(ctx, doctor.Options{SuiteFile: suite, Results: filepath.Join(filepath.Dir(suite), "results"), Version: version.Version(), NoHarness: true})
	var list []mcp.Finding
	for _, f := range found.Findings {
		one := mcp.Finding{Group: string(f.Group), Name: f.Name, State: string(f.State), Message: f.Message, Fix: f.Fix}
		if f.Group == doctor.Suite || f.Group == doctor.Harness {
			one.Message, one.Fix, one.Detail = "", "", f.Message
			if f.Fix != "" {
				one.Detail += "; to fix it: " + f.Fix
			}
		}
		list = append(list, one)
	}
	return list, err
}

// privateFolder returns the folder for attempts in the user's own state, which only the user can write.
func privateFolder(getenv func(string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(state) && filepath.IsAbs(home) {
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return "", errors.New("there is no folder for attempts: set HOME or XDG_STATE_HOME")
	}
	dir := filepath.Join(state, "pawl", "attempts")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create the folder for attempts: %w", err)
	}
	return dir, nil
}

// noClose keeps stdout open for later writes.
type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }
