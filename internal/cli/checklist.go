package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

// checklistFlags are the flags of pawl session checklist.
type checklistFlags struct {
	*globals
	addr string
	open bool
	time time.Duration
}

func newChecklist(g *globals) *cobra.Command {
	f := checklistFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "checklist",
		Short: "Show the gates of the session live in a browser",
		Long: `Serves a page with the state of the gates, the next step, what was spent and what
happened. The page updates as the session changes. It is read-only, accepts requests only
from this machine and not from other sites' pages, and stops with the command.

On a remote host, run pawl session checklist --addr 127.0.0.1:8123 there, and forward the
port to your machine: ssh -L 8123:127.0.0.1:8123 HOST.`,
		Example: `  pawl session checklist --open
  pawl session checklist --addr 127.0.0.1:8123
  pawl session checklist --for 4h`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.addr, "addr", "127.0.0.1:0", "listen on this loopback `address`; port 0 picks a free port")
	fl.BoolVar(&f.open, "open", false, "open the page in the browser")
	fl.DurationVar(&f.time, "for", 0, "stop after this `time`, such as 30m or 4h")
	return cmd
}

func (f *checklistFlags) run(ctx context.Context) error {
	if err := requireLoopback(f.addr); err != nil {
		return err
	}
	if f.time < 0 {
		return command.Usage(fmt.Errorf("--for %v: must not be negative", f.time))
	}
	if _, err := f.pageState(ctx); err != nil { // report an error here rather than on the page
		return err
	}
	if f.time > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, f.time)
		defer end()
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("cannot serve the checklist: %w", err)
	}
	address := "http://" + listener.Addr().String() + "/"
	fmt.Fprintln(f.Out, address)
	fmt.Fprintln(f.Err, f.ErrStyle().Faint("serving the checklist until Ctrl-C; reload the page if JavaScript is off"))
	if f.open {
		f.browse(ctx, address)
	}
	return f.serve(ctx, listener)
}

// requireLoopback requires an address that only this machine can reach, because the page has no
// authentication.
func requireLoopback(addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return command.Usage(fmt.Errorf("--addr %.60q: must be an address and a port, such as 127.0.0.1:8123", addr))
	}
	if !loopback.Is(addr) {
		return command.Usage(fmt.Errorf("--addr %.60q: must be a loopback address, such as 127.0.0.1:8123, because the page has no authentication\n  to use a browser on another machine, run there: ssh -L 8123:127.0.0.1:8123 HOST", addr))
	}
	return nil
}

// serve answers requests until the context ends, which is the normal end of the command.
func (f *checklistFlags) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           page.Checklist{Look: f.pageState, Version: journalVersion}.Handler(),
		ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }, // open pages end with the context
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("cannot serve the checklist: %w", err)
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if server.Shutdown(late) != nil {
		_ = server.Close() // clients had two seconds to finish
	}
	return nil
}

// browse opens a page in the browser, or warns if it cannot.
func (f *checklistFlags) browse(ctx context.Context, address string) {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	if err := exec.CommandContext(ctx, opener, address).Start(); err != nil {
		fmt.Fprintln(f.Err, f.ErrStyle().Warn("warning: ")+"cannot open the browser ("+err.Error()+"): open the address above")
	}
}

// journalVersion returns a text that changes with the journal of the open session and with the
// thresholds of the repository. It is made of file names, sizes and modification times.
func journalVersion() string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(journal.Dir), "open", "*.jsonl")) // the pattern is valid
	for _, name := range append(files, filepath.FromSlash(gates.ThresholdFile)) {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// pageState returns the state of the work in this folder, as pages show it. A journal that was tampered
// with is shown as far as it can be read, and marked.
func (g *globals) pageState(ctx context.Context) (page.State, error) {
	state := page.State{Now: g.now()}
	w, root, err := g.openJournal()
	broken, isBroken := errors.AsType[*journal.BrokenError](err)
	switch {
	case err == nil:
		st := g.gateStateOf(ctx, w, root, g.currentState(ctx, w, root))
		state.Session, state.Set, state.Status, state.Next = w.Session(), st.set, st.status, gates.Next(st.status)
		return state, nil
	case !errors.Is(err, journal.ErrNoSession) && !isBroken:
		return state, err
	}
	var wrong error
	if state.Set, wrong = repositoryGates(root); wrong != nil {
		return state, command.Usage(wrong)
	}
	if !isBroken {
		state.Next = firstStep(root)
		return state, nil
	}
	state.Session, _ = journal.ReadFile(broken.Path) // the readable part of it
	if state.Session == nil || len(state.Session.Entries) == 0 {
		return state, err
	}
	state.Chain = err
	state.Status = state.Set.Look(gates.LearnNow(state.Session, gates.Now{Time: state.Now}), state.Session.Entries)
	state.Next = gates.Next(state.Status)
	return state, nil
}
