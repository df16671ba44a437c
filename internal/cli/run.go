package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// runFlags are the flags of pawl run: those of bench, and those that handle the verdict.
type runFlags struct {
	benchFlags
	dir    string // folder for all output
	strict bool
	main   bool
	noKeep bool
	fuzz   time.Duration
	why    time.Duration // time for profiling changed cases
}

// profiledCases is how many changed cases are profiled, the worst first. One reason usually explains
// all of them, and a run must end.
const profiledCases = 3

func newRun(g *globals) *cobra.Command {
	f := runFlags{benchFlags: benchFlags{globals: g}}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "The whole loop: build, check, measure, decide, keep, report",
		Long: `Builds the working tree and its base, looks at the kernels (pawl preflight) and for
wrong results (pawl fuzz), each a stop, measures both side by side in rounds of fresh
processes, and decides case by case: regression, improvement, maintained, or no answer.
Cases without an answer get more rounds, as the suite says (up to 64).

Where the suite keeps baselines, the baseline's commit is measured too: a gain on the
main branch is confirmed with fresh rounds, and moves it.

Cases that changed are profiled on both sides, the worst first (pawl profile), and the
report begins with the reason.

Writes current.json (every sample), verdict.json, ratchet_report.md and report.html, and
nsight/CASE.{json,txt,ncu-rep,png} for what was profiled; account.json says what it took
and cost (pawl cost).

Exit code: 0 maintained, improved, new or identical; 1 a regression, a broken or a
missing case; 2 no answer, or the base does not work.`,
		Example: `  pawl run                    # against the merge base with the main branch
  pawl run --base HEAD~1
  pawl run --budget 5m --out results
  pawl run --dry-run          # what it would do, how long and what it would cost`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.addMeasureFlags(fl)
	f.liveFlag(fl)
	fl.StringVar(&f.cases, "case", "", "judge only cases whose name, or benchmark, matches this `glob`")
	fl.StringVar(&f.base, "base", "", "`commit` to judge against (default: the merge base with the main branch)")
	fl.StringVarP(&f.dir, "out", "o", "", "`folder` for everything that is written (default results)")
	fl.BoolVar(&f.force, "force-measure", false, "measure also when both sides are identical")
	fl.BoolVar(&f.strict, "strict", false, "fail also when the base is slower than the baseline (drift)")
	fl.BoolVar(&f.main, "main", false, "this commit is on the main branch: baselines may move (default: found out)")
	fl.BoolVar(&f.noKeep, "no-keep", false, "write no baselines, and read them as this clone fetched them: a job without credentials can (see pawl baseline move)")
	fl.DurationVar(&f.fuzz, "fuzz", 30*time.Second, "`time` for looking for wrong results before measuring; 0 for none")
	fl.DurationVar(&f.why, "profile", 5*time.Minute, "`time` for profiling cases that changed, the worst first; 0 for none")
	fl.StringVar(&f.accept, "accept", "", "your `reason` to take a changed definition, or a gain above 10 times; it stays in the record")
	fl.BoolVar(&f.json, "json", false, "the verdicts as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

func (f *runFlags) run(ctx context.Context) error {
	if err := errors.Join(f.checkNumbers(), f.checkLive()); err != nil {
		return usageError{err}
	}
	s, path, err := loadSuite(f.suite)
	if err != nil {
		return err
	}
	if f.base == "" {
		if f.base, err = f.findBase(ctx, nil); err != nil {
			return exitError{exitNoAnswer, fmt.Errorf("nothing to judge against: %w\n  --base REF names a commit; pawl bench measures without one", err)}
		}
	}
	o := f.options(s, path)
	f.dir = cmp.Or(f.dir, filepath.Join(o.Dir, "results"))
	o.Out, o.Owner = filepath.Join(f.dir, "current.json"), "pawl run"
	gate, err := f.gate(ctx, s, o)
	if err != nil {
		return err
	}
	if f.dryRun {
		o.Decide = func(*measure.Run, bool) []string { return nil } // any function will do: it makes the plan include all looks
		plan, err := runner.Forecast(ctx, o)
		if err != nil {
			return err
		}
		return f.printPlan(plan)
	}
	progress := newProgress(f.globals, f.json)
	accountant, live := newAccountant(time.Now), f.startLive(ctx, o)
	gate.Emit = func(e runner.Event) {
		accountant.event(e)
		live.event(e)
		progress.event(e)
	}
	var shown error
	gate.Report = func(out runner.Outcome) error {
		progress.close()
		shown = f.report(s, out)
		return nil // a failed write must not affect the verdict
	}
	out, err := runner.RunGate(ctx, gate)
	live.end(newVerdict(out), err)
	progress.close()
	shown = errors.Join(shown, f.writeAccount(ctx, accountant, s, out, err))
	if err = interruptedError(ctx, out.Result, err); err != nil {
		return err
	}
	return errors.Join(shown, verdictError(out.State.Verdict()))
}

// gate plans the loop from the suite, the flags and the repository.
func (f *runFlags) gate(ctx context.Context, s *suite.Suite, o runner.Options) (runner.Gate, error) {
	p := runner.Policy(s)
	p.Strict = p.Strict || f.strict
	gate := runner.Gate{Options: o, Fuzz: f.fuzz, Explain: f.why, Plan: loop.Plan{Policy: p, Preflight: true}}
	if f.why > 0 {
		gate.Plan.Profile = profiledCases
	}
	if slices.ContainsFunc(s.Benchmarks, func(b suite.Benchmark) bool { return b.Check != nil }) {
		if gate.Plan.Check = f.fuzz > 0; !gate.Plan.Check {
			gate.Plan.Unchecked = "by --fuzz 0"
		}
	}
	if err := p.Check(); err != nil {
		return gate, usageError{fmt.Errorf("policy of the suite: %w", err)}
	}
	if s.Baseline.Keep == "none" {
		return gate, nil
	}
	where := ledgerLocation(s.Baseline, o.Dir)
	where.Fetched = f.noKeep
	l, err := ledger.Open(ctx, where)
	if err != nil {
		return gate, err
	}
	gate.Ledger, gate.Plan.Ledger, gate.ReadOnly = l, true, f.noKeep
	repo, err := build.Open(ctx, o.Dir)
	if err != nil {
		return gate, err
	}
	gate.Plan.Main = f.main
	if !f.isSet("main") {
		gate.Plan.Main = repo.AtTipOf(ctx, s.Baseline.Main)
	}
	return gate, nil
}
