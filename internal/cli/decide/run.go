package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// runFlags are the flags of pawl run: those of bench, and those that handle the verdict.
type runFlags struct {
	bench.Flags
	dir    string // folder for all output
	strict bool
	main   bool
	noKeep bool
	resume bool
	built  bool // only build
	builds string
	arch   string
	on     string
	urgent int // priority on the fleet
	fuzz   time.Duration
	why    time.Duration // time for profiling changed cases
}

// profiledCases is how many changed cases are profiled, the worst first. One reason usually explains
// all of them, and a run must end.
const profiledCases = 3

// NewRun returns the command pawl run.
func NewRun(g *env.Env) *cobra.Command {
	f := runFlags{Flags: bench.Flags{Env: g}}
	cmd := &cobra.Command{
		Use:   "run [-- COMMAND...]",
		Short: "Run the whole loop: build, check, measure, decide, save, report",
		Long: `Builds the working tree and its base, then runs static checks (pawl preflight) and
correctness checks (pawl fuzz); either can stop the run. Measures both side by side in
rounds of fresh processes, and decides case by case: regression, improvement, maintained,
or no answer. Cases without an answer get more rounds, as set in the suite (up to 64).

If the suite keeps baselines, the commit of the baseline is measured too. A gain on the
main branch is confirmed with fresh rounds, and then moves the baseline.

Cases that changed are profiled on both sides, the worst first (pawl profile), and the
report starts with the reason.

At trust checked, cases whose kernels cannot have changed are not measured, except for 8 of
them, chosen at random. If one of the 8 differs, all cases are measured. With --no-keep, on
the main branch and with --force-measure all cases are measured.

With a command after --, no suite is needed: the command runs in both trees, and its
times are judged. Its results are not checked, and no baseline moves.

Writes current.json (every sample), verdict.json, ratchet_report.md and report.html, and
profiles/CASE.{json,txt,ncu-rep,png} for profiled cases. account.json has the time and the
cost of the run (pawl ci cost).

A run that was killed, or interrupted, can be continued: with --resume, pawl builds and checks
again and, if the question is still the same, keeps every finished round and measures the
next one. If something differs, it says what, and starts anew.

With --build-only, nothing is measured: the next run finds the builds in the cache. Builds that the
cache cannot keep are left to that run. If there is nothing to measure, because a side does
not build or both are identical, the run ends as usual, with its verdict.

With --builds as well, builds in the sandbox are also put into a folder. A run with --builds on
another machine takes them from there if its tools are equal (pawl build --tools).

Exit code: 0 maintained, improved, new or identical; 1 a regression, a broken or a
missing case; 2 no answer, or the base does not work.`,
		Example: `  pawl run                    # against the merge base with the main branch
  pawl run --base HEAD~1
  pawl run --budget 5m --out results
  pawl run --resume           # continue a run that was killed
  pawl run --on l4,h100       # on a server's devices; the change must be committed
  pawl run --dry-run          # show the plan, its time and its cost
  pawl run -- python3 bench.py               # any benchmark command, without a suite
  pawl run --build 'make -j' -- ./bench      # built once for each side`,
		Args: f.TakeCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.AddMeasureFlags(fl)
	f.AddCommandFlags(fl)
	f.Live.Register(fl)
	fl.StringVar(&f.Cases, "case", "", "judge only cases whose name or benchmark matches this `glob`")
	fl.StringVar(&f.Base, "base", "", "`commit` to judge against (default: the merge base with the main branch)")
	fl.StringVarP(&f.dir, "out", "o", "", "`folder` for all output (default results)")
	fl.StringVar(&f.on, "on", "", "run on the fleet of PAWL_SERVER, on one device of each of these `models` (l4,h100)")
	fl.IntVar(&f.urgent, "priority", 3, "with --on: 3 (normal) to 5 (least urgent); gates of other projects may go first")
	fl.BoolVar(&f.Force, "force-measure", false, "measure all cases, even if they cannot have changed")
	fl.BoolVar(&f.strict, "strict", false, "also fail if the base is slower than the baseline (drift)")
	fl.BoolVar(&f.main, "main", false, "this commit is on the main branch: baselines may move (default: detected)")
	fl.BoolVar(&f.noKeep, "no-keep", false, "write no baselines, and read them as this clone fetched them, for a job without credentials (see pawl baseline move)")
	fl.BoolVar(&f.resume, "resume", false, "continue an unfinished run of the same question, if there is one")
	fl.BoolVar(&f.built, "build-only", false, "only build both sides into the cache, for the next run")
	fl.StringVar(&f.builds, "builds", "", "`folder` of builds for a machine with equal tools: filled with --build-only, otherwise used")
	fl.StringVar(&f.arch, "arch", "", "`architecture` to build for with --build-only, such as sm_89 (default: the device's)")
	fl.DurationVar(&f.fuzz, "fuzz", 30*time.Second, "`time` for checking results before measuring; 0 for none")
	fl.DurationVar(&f.why, "profile", 5*time.Minute, "`time` for profiling changed cases, the worst first; 0 for none")
	fl.StringVar(&f.Accept, "accept", "", "your `reason` to accept a changed definition, or a gain of more than 10x; it stays in the record")
	fl.BoolVar(&f.JSON, "json", false, "print the verdicts as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

func (f *runFlags) run(ctx context.Context) error {
	if f.IsSet("on") {
		if err := f.checkOn(); err != nil {
			return command.Usage(err)
		}
	} else if f.IsSet("priority") {
		return command.Usage(errors.New("--priority is for a gate on the fleet: add --on MODEL"))
	}
	if err := errors.Join(f.CheckNumbers(), f.Live.Check(f.Env)); err != nil {
		return command.Usage(err)
	}
	if err := f.checkBuilds(); err != nil {
		return command.Usage(err)
	}
	s, path, err := f.LoadSuite(ctx)
	if err != nil {
		return err
	}
	if f.Base == "" {
		if f.Base, err = f.FindBase(ctx, nil); err != nil {
			return command.Exit(command.ExitNoAnswer, fmt.Errorf("nothing to judge against: %w\n  name a commit with --base REF, or measure without one: pawl bench", err))
		}
	}
	if f.on != "" {
		return f.runOn(ctx, path)
	}
	o := f.Options(s, path)
	f.dir = cmp.Or(f.dir, filepath.Join(o.Dir, "results"))
	o.Out, o.Owner = filepath.Join(f.dir, "current.json"), "pawl run"
	o.BuildsOnly, o.Builds, o.Arch = f.built, f.builds, f.arch
	o.OnlyChanged = !f.noKeep // otherwise another job judges the record, which proves no case that was left out
	o.Resume = runner.ResumeOptions{Allow: true, Continue: f.resume, AnySeed: !f.IsSet("seed")}
	gate, err := f.gate(ctx, s, o)
	if err != nil {
		return err
	}
	if f.DryRun {
		o.Decide = func(*measure.Run, bool) []string { return nil } // any function will do: it makes the plan include all looks
		plan, err := runner.Forecast(ctx, o)
		if err != nil {
			return err
		}
		return f.PrintPlan(plan)
	}
	progress := progress.New(f.Env, f.JSON)
	accountant, live := newAccountant(time.Now), f.Live.Start(ctx, f.Env, o)
	gate.Emit = func(e runner.Event) {
		accountant.event(e)
		live.Event(e)
		progress.Event(e)
	}
	var shown error
	gate.Report = func(out runner.Outcome) error {
		progress.Close()
		shown = f.report(ctx, s, out)
		return nil // a failed write must not affect the verdict
	}
	out, err := runner.RunGate(ctx, gate)
	live.End(newVerdict(out).Result, err)
	progress.Close()
	if errors.Is(err, runner.ErrBuilt) {
		return nil
	}
	shown = errors.Join(shown, f.writeAccount(ctx, accountant, s, out, err))
	if errors.Is(err, runner.ErrPlaceholder) {
		return command.Exit(command.ExitNoAnswer, err)
	}
	if err = bench.InterruptedError(ctx, out.Result, err); err != nil {
		if errors.Is(err, command.ErrInterrupted) && out.Path != "" {
			err = fmt.Errorf("%w; pawl run --resume continues it", err)
		}
		return err
	}
	return errors.Join(shown, verdictError(out.State.Verdict()))
}

// checkBuilds checks the flags that say what is built, and for which machine.
func (f *runFlags) checkBuilds() error {
	switch {
	case f.built && f.DryRun:
		return errors.New("--build-only builds and --dry-run does not: leave one of them out")
	case f.arch != "" && !f.built:
		return errors.New("--arch is for --build-only: a run measures on this machine's device, and builds for it")
	case f.builds != "" && f.NoCache:
		return errors.New("--builds are cached builds, which --no-cache ignores: leave one of them out")
	}
	return suite.CheckArch(f.arch)
}

// gate plans the loop from the suite, the flags and the repository.
func (f *runFlags) gate(ctx context.Context, s *suite.Suite, o runner.Options) (runner.Gate, error) {
	p := s.JudgePolicy()
	p.Strict = p.Strict || f.strict
	gate := runner.Gate{Options: o, Fuzz: f.fuzz, Explain: f.why, Plan: loop.Plan{Policy: p, Preflight: true}}
	if f.why > 0 && o.Detect == nil { // profilers need to know the kernel of a case
		gate.Plan.Profile = profiledCases
	}
	if slices.ContainsFunc(s.Benchmarks, func(b suite.Benchmark) bool { return b.Check != nil }) {
		if gate.Plan.Check = f.fuzz > 0; !gate.Plan.Check {
			gate.Plan.Unchecked = "by --fuzz 0"
		}
	}
	if err := p.Check(); err != nil {
		return gate, command.Usage(fmt.Errorf("policy of the suite: %w", err))
	}
	if s.Baseline.Keep == "none" {
		return gate, nil
	}
	where := env.LedgerLocation(s.Baseline, o.Dir)
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
	if !f.IsSet("main") {
		gate.Plan.Main = repo.AtTipOf(ctx, s.Baseline.Main)
	}
	return gate, nil
}
