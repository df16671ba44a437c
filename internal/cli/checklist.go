package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

// checklistFlags are the flags of pawl checklist.
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
		Short: "The gates of the session in a browser, live",
		Long: `Serves a page with the gates as they stand, the one thing to do now, what was spent and
what happened. It changes as the session does. The page only shows; it answers on this
machine alone, to no other site's page, and ends with the command.

On a host far away, bring it to your own: ssh -L 8123:127.0.0.1:8123 HOST, and
pawl checklist --addr 127.0.0.1:8123 there.`,
		Example: `  pawl checklist --open
  pawl checklist --addr 127.0.0.1:8123
  pawl checklist --for 4h`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.addr, "addr", "127.0.0.1:0", "listen at this `address`: a loopback one; port 0 is any that is free")
	fl.BoolVar(&f.open, "open", false, "open it in the browser")
	fl.DurationVar(&f.time, "for", 0, "end after this `time`: 30m, 4h")
	return cmd
}

func (f *checklistFlags) run(ctx context.Context) error {
	if err := requireLoopback(f.addr); err != nil {
		return err
	}
	if f.time < 0 {
		return usageError{fmt.Errorf("--for %v: want a time from now on", f.time)}
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
		return fmt.Errorf("listen for the browser: %w", err)
	}
	address := "http://" + listener.Addr().String() + "/"
	fmt.Fprintln(f.Out, address)
	fmt.Fprintln(f.Err, f.errStyle().Faint("the checklist, until Ctrl-C; reload it where script is off"))
	if f.open {
		f.browse(ctx, address)
	}
	return f.serve(ctx, listener)
}

// requireLoopback requires an address that only this machine can reach, because the page has no
// authentication.
func requireLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usageError{fmt.Errorf("--addr %.60q: want an address and a port, such as 127.0.0.1:8123", addr)}
	}
	if host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.Unmap().IsLoopback() {
		return usageError{fmt.Errorf("--addr %.60q: the page has no lock, so it is for this machine alone: 127.0.0.1:PORT\n  for another machine's browser: ssh -L 8123:127.0.0.1:8123 HOST", addr)}
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
		return fmt.Errorf("serve the checklist: %w", err)
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
		fmt.Fprintln(f.Err, f.errStyle().Warn("warning: ")+"the browser does not open ("+err.Error()+"): open the address above yourself")
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
		return state, usageError{wrong}
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
