package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

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
	cmd := add("move", "Write what another machine measured on the main branch", cobra.NoArgs, func(ctx context.Context, _ []string) error { return m.run(ctx) })
	cmd.Long = `Takes the records that pawl run --main --no-keep left on the machine with the GPU
(current.json, and confirm.json where something gained), judges them again with the suite
of this checkout, and writes the ledger as pawl run would have: on its branch, or, where
baselines are kept in a file, as a commit of its own on the main branch.

It refuses what was not measured of the commit that is checked out here, what is not on
the main branch, and everything that a pull request or a fork can cause.

Exit code: 0 written, or nothing to write; 1 the results do not belong here; 2 the run is
none that others may be held to, or a gain was not measured again; 3 the ledger could not
be written.`
	cmd.Example = `  pawl run --main --no-keep --out results   # on the machine with the GPU
  pawl baseline move --results results      # in a job that may write
  pawl baseline move --results results --dry-run`
	cmd.Flags().StringVar(&m.results, "results", "results", "`folder` that pawl run left")
	cmd.Flags().BoolVar(&m.dryRun, "dry-run", false, "say what would be written, and write nothing")
}

func (m *baselineMove) run(ctx context.Context) error {
	s, path, err := loadSuite(m.suite)
	if err != nil {
		return err
	}
	if s.Baseline.Keep == "none" {
		return usageError{errors.New("the suite keeps no baselines: write baseline: {keep: branch} into pawl.yaml")}
	}
	dir := filepath.Dir(path)
	commit, err := m.mainCommit(ctx, dir, s.Baseline.Main)
	if err != nil {
		return err
	}
	k := runner.LedgerUpdate{Policy: runner.Policy(s), Time: time.Now()}
	if k.Run, k.Confirmed, err = loadResults(m.results); err != nil {
		return err
	}
	for _, run := range []*measure.Run{k.Run, k.Confirmed} {
		if err := checkRecordOrigin(run, commit, s.Digest); err != nil {
			return exitError{exitFailed, fmt.Errorf("%s does not belong here: %w", m.results, err)}
		}
	}
	if err := k.Check(); err != nil {
		return exitError{exitNoAnswer, err}
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
	w := ledgerLocation(b, dir)
	if b.Keep == "file" {
		w.File, w.Branch, w.Remote = cmp.Or(b.File, ledger.DefaultFile), b.Main, cmp.Or(b.Remote, "origin")
	}
	return w
}

// mainCommit returns the commit that is checked out. It refuses a commit that is not on the main
// branch, and a workflow that a pull request can start.
func (m *baselineMove) mainCommit(ctx context.Context, dir, branch string) (string, error) {
	refuse := func(format string, args ...any) error {
		return exitError{exitFailed, fmt.Errorf("no baseline is written: "+format, args...)}
	}
	if event := m.Getenv("GITHUB_EVENT_NAME"); event != "" {
		switch event {
		case "push", "schedule", "workflow_dispatch":
		default:
			return "", refuse("event %.40q can be caused by a change that is not merged; baselines move on a push to %s", event, branch)
		}
		if ref := m.Getenv("GITHUB_REF"); ref != "refs/heads/"+branch {
			return "", refuse("this is %.80q, and baselines move on refs/heads/%s", ref, branch)
		}
	}
	repo, err := build.Open(ctx, dir)
	if err != nil {
		return "", err
	}
	head, dirty, err := repo.Head(ctx)
	if err != nil {
		return "", err
	}
	switch sha := m.Getenv("GITHUB_SHA"); {
	case dirty:
		return "", refuse("files of this checkout differ from its commit %.12s", head)
	case sha != "" && sha != head:
		return "", refuse("commit %.12s is checked out, and this workflow is about %.12s", head, sha)
	case !repo.Contains(ctx, branch, head):
		return "", refuse("commit %.12s is not on branch %s here", head, branch)
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
			return errors.New("it was measured with changes that are in no commit")
		case im.Commit != commit:
			return fmt.Errorf("it was measured of commit %.12q, and %.12s is checked out", im.Commit, commit)
		case run.Suite.Digest != digest:
			return fmt.Errorf("it was measured with another suite than that of commit %.12s", commit)
		default:
			return nil
		}
	}
	return errors.New("it does not say what was measured")
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
		fmt.Fprintln(m.Out, "nothing is written (--dry-run); it would be:")
	}
	if err := m.printEntries(kept, nil); err != nil {
		return err
	}
	if state.Stopped != nil {
		return exitError{exitNoAnswer, fmt.Errorf("nothing is kept: %s", state.Stopped.Why)}
	}
	if len(kept) == 0 && !m.json {
		fmt.Fprintln(m.Out, "nothing to write: no baseline moved, and what there is was measured often enough")
	}
	return nil
}
