package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/mcp"
)

// mcpFlags are the flags of pawl mcp.
type mcpFlags struct {
	*globals
	http      string
	anyway    bool
	tokenFile string
	hosts     []string
}

func newMCP(g *globals) *cobra.Command {
	f := mcpFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer pawl to AI agents over the Model Context Protocol",
		Long: `Serves pawl's commands as tools, its knowledge as resources, and guidance as prompts: on
stdin and stdout, or over HTTP with a token.

Tools run pawl's own commands. None of them takes a shell command, bypasses a gate or moves
a baseline, and device time is counted against a budget. Building and measuring a kernel
executes code of the repository: run an agent that edits it in a sandbox.`,
		Example: `  pawl mcp                         # started by a client, which uses stdin and stdout
  pawl mcp --http 127.0.0.1:7717   # over HTTP, on this machine; the token is printed once
  pawl init --agents               # write AGENTS.md and the client configuration`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.http, "http", "", "serve HTTP on this `address` instead, such as 127.0.0.1:7717")
	fl.BoolVar(&f.anyway, "listen-anyway", false, "with --http: allow an address that other machines can reach; requires --token-file")
	fl.StringVar(&f.tokenFile, "token-file", "", "with --http: read the token from this `file` (default: a new one, printed once)")
	fl.StringSliceVar(&f.hosts, "host", nil, "with --http: host `names` besides localhost that clients may use")
	return cmd
}

func (f *mcpFlags) run(ctx context.Context) error {
	if err := f.check(); err != nil {
		return command.Usage(err)
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	s, err := mcp.New(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if f.http != "" {
		return f.serveHTTP(ctx, s)
	}
	return s.Serve(ctx, &sdk.IOTransport{Reader: io.NopCloser(f.In), Writer: noClose{f.Out}, MaxLineLength: 1 << 20})
}

func (f *mcpFlags) check() error {
	if f.http == "" {
		if f.anyway || f.tokenFile != "" || len(f.hosts) > 0 {
			return errors.New("--listen-anyway, --token-file and --host require --http")
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(f.http); err != nil {
		return fmt.Errorf("--http %q: must be an address and a port, such as 127.0.0.1:8123", f.http)
	}
	if !loopback.Is(f.http) && (!f.anyway || f.tokenFile == "") {
		return fmt.Errorf("--http %s can be reached from other machines, and the token allows executing code here\n  use 127.0.0.1:PORT, or add --listen-anyway with --token-file", f.http)
	}
	return nil
}

// options returns the options of the server. Tools start this binary through /proc/self/exe, so that
// a pawl that replaces it on disk is not started.
func (f *mcpFlags) options() (mcp.Options, error) {
	dir, err := os.Getwd()
	if err != nil {
		return mcp.Options{}, fmt.Errorf("cannot get the current folder: %w", err)
	}
	top := topOf(dir) // without git: the git on the path may be one that lies in the repository
	return mcp.Options{
		Dir: dir, Top: top, Pawl: "/proc/self/exe", Version: version.Version(), Environ: mcp.CleanEnviron(os.Environ(), top),
		State: stateFolder(f.Getenv), Now: f.Now,
	}, nil
}

// stateFolder returns the user's folder for persistent state that belongs to no repository; empty if
// there is none.
func stateFolder(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "pawl")
	}
	return ""
}

func (f *mcpFlags) serveHTTP(ctx context.Context, s *mcp.Server) error {
	o := mcp.HTTPOptions{Hosts: f.hosts}
	var err error
	if f.tokenFile != "" {
		if o.Token, err = mcp.ReadToken(f.tokenFile); err != nil {
			return command.Usage(err)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.http)
	if err != nil {
		return command.Exit(command.ExitCannot, fmt.Errorf("cannot listen on %s: %w", f.http, err))
	}
	fmt.Fprintf(f.Err, "serving http://%s\n", l.Addr())
	if o.Token == "" {
		o.Token = mcp.NewToken()
		fmt.Fprintf(f.Err, "token, shown once: %s\n", o.Token)
	}
	if err := s.ServeHTTP(ctx, l, o); err != nil {
		return fmt.Errorf("cannot serve http://%s: %w", l.Addr(), err)
	}
	return nil
}

// noClose keeps stdout open for later writes.
type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }
