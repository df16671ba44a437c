package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// baselineMove writes to the ledger what another machine measured. That machine ran the kernel, so
// it must not write the ledger itself, and its results are checked before they are used.
type baselineMove struct {
	*baselineFlags
	results string
	dryRun  bool
}

func newBaselineMove(f *baselineFlags, add func(use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command) {
	m := &baselineMove{baselineFlags: f}
	cmd := add("move", "Move baselines with results from another machine", cobra.NoArgs, func(ctx context.Context, _ []string) error { return m.run(ctx) })
	cmd.Long = `Reads the records that pawl run --main --no-keep wrote on the machine with the GPU
(current.json, and confirm.json if something improved), judges them again with the suite
of this checkout, and writes the ledger as pawl run would: on its branch or, if the suite
keeps baselines in a file, as a separate commit on the main branch.

It refuses results that were not measured at the commit checked out here, commits that are
not on the main branch, and all events that a pull request or a fork can trigger.

Exit code: 0 written, or nothing to write; 1 the results or the event are refused; 2 the
run cannot be used as a baseline, or an improvement was not measured again; 3 the ledger
cannot be written.`
	cmd.Example = `  pawl run --main --no-keep --out results   # on the machine with the GPU
  pawl baseline move --results results      # in a job that may write
  pawl baseline move --results results --dry-run`
	cmd.Flags().StringVar(&m.results, "results", "results", "results `folder` of pawl run")
	cmd.Flags().BoolVar(&m.dryRun, "dry-run", false, "show what would be written, but write nothing")
}

func (m *baselineMove) run(ctx context.Context) error {
	s, path, err := env.LoadSuite(m.suite)
	if err != nil {
		return err
	}
	if s.Baseline.Keep == "none" {
		return command.Usage(errors.New("the suite keeps no baselines: add baseline: {keep: branch} to pawl.yaml"))
	}
	dir := filepath.Dir(path)
	commit, err := m.mainCommit(ctx, dir, s.Baseline.Main)
	if err != nil {
		return err
	}
	k := runner.LedgerUpdate{Policy: s.JudgePolicy(), Time: time.Now()}
	if k.Run, k.Confirmed, err = bench.LoadResults(m.results); err != nil {
		return err
	}
	for _, run := range []*measure.Run{k.Run, k.Confirmed} {
		if err := checkRecordOrigin(run, commit, s.Digest); err != nil {
			return command.Exit(command.ExitFailed, fmt.Errorf("%s does not match this checkout: %w", m.results, err))
		}
	}
	if err := k.Check(); err != nil {
		return command.Exit(command.ExitNoAnswer, err)
	}
	l, err := ledger.Open(ctx, sharedLedgerLocation(s.Baseline, dir))
	if err != nil {
		return err
	}
	kept, state, err := m.keep(ctx, l, k)
	if err != nil {
		return err
	}
	return m.print(kept, state)
}

// sharedLedgerLocation returns where the shared ledger is. A ledger kept as a file in the tree is extended on
// the main branch of the remote, because this checkout is temporary.
func sharedLedgerLocation(b suite.Baseline, dir string) ledger.Location {
	w := env.LedgerLocation(b, dir)
	if b.Keep == "file" {
		w.File, w.Branch, w.Remote = cmp.Or(b.File, ledger.DefaultFile), b.Main, cmp.Or(b.Remote, "origin")
	}
	return w
}

// mainCommit returns the commit that is checked out. It refuses a commit that is not on the main
// branch, and a workflow that a pull request can start.
func (m *baselineMove) mainCommit(ctx context.Context, dir, branch string) (string, error) {
	refuse := func(format string, args ...any) error {
		return command.Exit(command.ExitFailed, fmt.Errorf("no baseline is written: "+format, args...))
	}
	_, job, err := m.CurrentJob()
	if err != nil {
		return "", command.Usage(err)
	}
	switch e := job.Event; {
	case e.Name == "": // not in CI
	case e.Kind != forge.OnMain:
		return "", refuse("event %.40q can come from an unmerged change; baselines move on a push to %s", e.Name, branch)
	case job.Ref != "refs/heads/"+branch:
		return "", refuse("the ref is %.80q, but baselines move only on refs/heads/%s", job.Ref, branch)
	}
	repo, err := build.Open(ctx, dir)
	if err != nil {
		return "", err
	}
	head, dirty, err := repo.Head(ctx)
	if err != nil {
		return "", err
	}
	switch sha := job.Commit; {
	case dirty:
		return "", refuse("the working tree differs from commit %.12s", head)
	case sha != "" && sha != head:
		return "", refuse("commit %.12s is checked out, but this workflow runs for %.12s", head, sha)
	case !repo.Contains(ctx, branch, head):
		return "", refuse("commit %.12s is not on branch %s in this checkout", head, branch)
	}
	return head, nil
}

// checkRecordOrigin returns an error if a record was not measured with this commit and its suite.
func checkRecordOrigin(run *measure.Run, commit, digest string) error {
	if run == nil {
		return nil
	}
	for _, im := range run.Implementations {
		switch {
		case im.Name != suite.Candidate:
		case im.Dirty:
			return errors.New("it was measured with uncommitted changes")
		case im.Commit != commit:
			return fmt.Errorf("it was measured at commit %.12q, but %.12s is checked out", im.Commit, commit)
		case run.Suite.Digest != digest:
			return fmt.Errorf("its suite differs from the suite of commit %.12s", commit)
		default:
			return nil
		}
	}
	return errors.New("it has no candidate")
}

// keep writes the entries, or with --dry-run only returns them.
func (m *baselineMove) keep(ctx context.Context, l *ledger.Ledger, k runner.LedgerUpdate) (kept []ratchet.Entry, state loop.State, err error) {
	decide := func(s ledger.State) (list []ratchet.Entry, err error) {
		list, state, err = k.Entries(s.Baselines)
		return list, err
	}
	if !m.dryRun {
		kept, err = l.Append(ctx, decide)
		return kept, state, err
	}
	now, err := l.Read(ctx)
	if err != nil {
		return nil, state, err
	}
	kept, err = decide(now)
	return kept, state, err
}

// print prints what was written, or why nothing was.
func (m *baselineMove) print(kept []ratchet.Entry, state loop.State) error {
	if m.dryRun && !m.json {
		fmt.Fprintln(m.Out, "--dry-run: nothing is written; it would write:")
	}
	if err := m.printEntries(kept, nil); err != nil {
		return err
	}
	if state.Stopped != nil {
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("nothing is recorded: %s", state.Stopped.Why))
	}
	if len(kept) == 0 && !m.json {
		fmt.Fprintln(m.Out, "nothing to write: no baseline moved, and the existing ones have enough measurements")
	}
	return nil
}
