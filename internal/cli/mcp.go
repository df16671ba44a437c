package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/learn/mcp"
)

// mcpFlags are the flags of pawl mcp.
type mcpFlags struct {
	*globals
	http      string
	socket    string
	tokenFile string
	total     time.Duration
	wait      time.Duration
}

func newMCP(g *globals) *cobra.Command {
	f := mcpFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Judge the candidates of AI agents over the Model Context Protocol",
		Long: `Serves pawl submit to AI agents as six tools: submit, submit_batch, explain, history, note
and doctor. It uses stdin and stdout, a Unix socket, or HTTP on this machine with a token.

Judging a candidate executes it. By default candidates are built in a sandbox and run by
pawl's own launcher; see pawl submit grant.

On stdin and stdout a client has the account of the server, so a budget is advice. With
--socket or --http attempts are kept in the user's own state folder, and --total is
enforced for clients of other accounts.`,
		Example: `  pawl mcp                                            # started by a client, on stdin and stdout
  pawl mcp --socket /run/pawl/agent.sock --total 30m  # for agents with another account
  pawl mcp --http 127.0.0.1:7717                      # over HTTP; the token is printed once
  pawl init --agents                                  # write AGENTS.md and the client configuration`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.socket, "socket", "", "serve on this Unix socket instead, a `file`; its folder decides which accounts can use it")
	fl.StringVar(&f.http, "http", "", "serve HTTP on this `address` of this machine instead, such as 127.0.0.1:7717")
	fl.StringVar(&f.tokenFile, "token-file", "", "with --http: read the token from this `file` (default: a new one, printed once)")
	fl.DurationVar(&f.total, "total", 0, "with --socket or --http: max `time` of all attempts of a suite together; 0 for no limit")
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
	if f.http != "" || f.socket != "" {
		if o.Private, err = privateFolder(f.Getenv); err != nil {
			return command.Exit(command.ExitCannot, err)
		}
	}
	s, err := mcp.New(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close()
	switch {
	case f.http != "":
		return f.serveHTTP(ctx, s)
	case f.socket != "":
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
	switch _, _, err := net.SplitHostPort(f.http); {
	case f.http != "" && f.socket != "":
		return errors.New("--http and --socket exclude each other")
	case f.http == "" && f.tokenFile != "":
		return errors.New("--token-file requires --http")
	case f.http == "" && f.socket == "" && f.total != 0:
		return errors.New("--total requires --socket or --http: on stdin and stdout use `pawl submit grant --total`, which is advice")
	case f.total < 0:
		return fmt.Errorf("--total %s: must be a time, or 0 for no limit", f.total)
	case f.http != "" && err != nil:
		return fmt.Errorf("--http %q: must be an address and a port, such as 127.0.0.1:7717", f.http)
	case f.http != "" && !loopback.Is(f.http):
		return fmt.Errorf("--http %s can be reached from other machines, and the token allows executing code here\n  use 127.0.0.1:PORT, and a tunnel for other machines", f.http)
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

func (f *mcpFlags) serveHTTP(ctx context.Context, s *mcp.Server) error {
	token := mcp.NewToken()
	if f.tokenFile != "" {
		var err error
		if token, err = mcp.ReadToken(f.tokenFile); err != nil {
			return command.Usage(err)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.http)
	if err != nil {
		return command.Exit(command.ExitCannot, fmt.Errorf("cannot listen on %s: %w", f.http, err))
	}
	fmt.Fprintf(f.Err, "serving http://%s\n", l.Addr())
	if f.tokenFile == "" {
		fmt.Fprintf(f.Err, "token, shown once: %s\n", token)
	}
	return s.ServeHTTP(l, token)
}

// noClose keeps stdout open for later writes.
type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }
