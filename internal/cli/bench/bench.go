package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/cli/remote"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Flags are the flags of pawl bench.
type Flags struct {
	*env.Env
	FlagSet *pflag.FlagSet // nil without a command line
	Suite   string
	Cases   string
	Base    string
	Rounds  int
	Samples int
	OutFile string
	Budget  time.Duration
	Seed    uint64
	Wait    time.Duration
	DryRun  bool
	Force   bool
	JSON    bool
	NoCache bool
	Trust   string
	Accept  string
	Live    remote.LiveFlag
	commits string
	every   int
	Command CommandFlags
}

// NewBench returns the command pawl bench.
func NewBench(g *env.Env) *cobra.Command {
	f := Flags{Env: g}
	cmd := &cobra.Command{
		Use:   "bench [-- COMMAND...]",
		Short: "Measure a suite or a command, alone or side by side with its base",
		Long: `Measures every case of the suite in rounds of fresh processes and writes a record with
every sample to results/current.json.

With --base, that commit is checked out beside the working tree, built, and measured in
the same rounds, in a balanced random order.

With a command after --, no suite is needed. The command runs once to find out what it
reports: times in a known format, printed or in a file, or only how long it takes.`,
		Example: `  pawl bench                         # the working tree
  pawl bench --base HEAD~1           # side by side with the previous commit
  pawl bench --case 'matmul/*N512*'  # only some cases
  pawl bench --dry-run               # show the plan, its time and its cost
  pawl bench --commits v1.4..main --every 8  # fill a history
  pawl bench -- python3 bench.py     # any benchmark command, without a suite`,
		Args: f.TakeCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.AddMeasureFlags(fl)
	f.AddCommandFlags(fl)
	f.Live.Register(fl)
	fl.StringVar(&f.Cases, "case", "", "measure only cases whose name or benchmark matches this `glob`")
	fl.StringVar(&f.Base, "base", "", "measure this `commit` side by side with the working tree")
	fl.IntVar(&f.Rounds, "rounds", 0, "exactly this many `rounds` per side (default: the suite's first look, 4)")
	fl.StringVarP(&f.OutFile, "out", "o", "", "record `file` (default results/current.json)")
	fl.StringVar(&f.commits, "commits", "", "measure the commits of a `range` A..B instead of the working tree, each into results/commits/COMMIT.json")
	fl.IntVar(&f.every, "every", 1, "of --commits, measure each `n`th and the last")
	fl.BoolVar(&f.Force, "force-measure", false, "measure even if both sides are identical")
	fl.BoolVar(&f.JSON, "json", false, "the result as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

// AddMeasureFlags registers the flags of every command that measures a suite.
func (f *Flags) AddMeasureFlags(fl *pflag.FlagSet) {
	f.FlagSet = fl
	fl.StringVarP(&f.Suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.IntVar(&f.Samples, "samples", 0, "`samples` per round (default: the suite's, 100)")
	fl.DurationVar(&f.Budget, "budget", 0, "max `time` to spend on the device")
	fl.Uint64Var(&f.Seed, "seed", 0, "seed for order and inputs (default: random, saved in the record)")
	fl.DurationVar(&f.Wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	fl.BoolVar(&f.NoCache, "no-cache", false, "rebuild everything, ignoring cached builds")
	fl.BoolVar(&f.DryRun, "dry-run", false, "show the plan, its time and its cost, but measure nothing")
	fl.StringVar(&f.Trust, "trust", "", "how far to trust the change's own timings, a `level`: trusted, checked or self-timed (default: the suite's)")
}

func (f *Flags) run(ctx context.Context) error {
	if err := errors.Join(f.CheckNumbers(), f.Live.Check(f.Env)); err != nil {
		return command.Usage(err)
	}
	s, path, err := f.LoadSuite(ctx)
	if err != nil {
		return err
	}
	if f.commits != "" {
		return f.fill(ctx, s, path)
	}
	return f.Measure(ctx, s, path)
}

// IsSet reports whether the user set a flag. A default value cannot stand for unset, because the user
// may pass any value.
func (f *Flags) IsSet(flag string) bool { return f.FlagSet != nil && f.FlagSet.Changed(flag) }

// CheckNumbers rejects flag values that are out of range.
func (f *Flags) CheckNumbers() error {
	for _, n := range []struct {
		flag  string
		least int64
		value int64
	}{{"rounds", 1, int64(f.Rounds)}, {"samples", 1, int64(f.Samples)}, {"budget", 1, int64(f.Budget)}, {"wait", 0, int64(f.Wait)}, {"every", 1, int64(f.every)}} {
		if f.IsSet(n.flag) && n.value < n.least {
			return fmt.Errorf("--%s %s: must be %s", n.flag, f.FlagSet.Lookup(n.flag).Value, [...]string{"0 or more", "more than 0"}[n.least])
		}
	}
	switch measure.Trust(f.Trust) {
	case "", measure.Trusted, measure.Checked, measure.SelfTimed:
		return nil
	default:
		return fmt.Errorf("--trust %q: must be trusted, checked or self-timed", f.Trust)
	}
}

// Measure runs the bench on a suite. path is empty for a suite that exists only in memory.
func (f *Flags) Measure(ctx context.Context, s *suite.Suite, path string) error {
	o := f.Options(s, path)
	if f.DryRun {
		plan, err := runner.Forecast(ctx, o)
		if err != nil {
			return err
		}
		return f.PrintPlan(plan)
	}
	run, res, err := f.RunAndLoad(ctx, o)
	if run == nil {
		return err
	}
	if showErr := f.show(run, res.Path); showErr != nil || err != nil {
		return errors.Join(err, showErr)
	}
	if res.Outcome.State == measure.Throttled {
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("%s: %s", res.Outcome.State, res.Outcome.Reason))
	}
	return env.FailedCases(run)
}

// RunAndLoad measures and reads the record back. The record may be incomplete if err is set; it is nil
// if nothing was saved.
func (f *Flags) RunAndLoad(ctx context.Context, o runner.Options) (*measure.Run, runner.Result, error) {
	progress := progress.New(f.Env, f.JSON)
	live := f.Live.Start(ctx, f.Env, o)
	o.Emit = func(e runner.Event) {
		live.Event(e)
		progress.Event(e)
	}
	res, err := runner.Run(ctx, o)
	live.End(ratchet.Result{}, err)
	progress.Close()
	if err = InterruptedError(ctx, res, err); res.Path == "" {
		return nil, res, err
	}
	run, loadErr := measure.Load(res.Path)
	return run, res, errors.Join(err, loadErr)
}

// InterruptedError replaces the error of an interrupted run by one that says how much of the run was kept.
func InterruptedError(ctx context.Context, res runner.Result, err error) error {
	switch {
	case err == nil || !errors.Is(context.Cause(ctx), command.ErrInterrupted):
		return err
	case res.Path == "":
		return fmt.Errorf("%w before the first round ended: nothing was saved, and the previous record is unchanged", command.ErrInterrupted)
	default:
		return fmt.Errorf("%w after %s, saved in %s", command.ErrInterrupted, words.Plural(res.Outcome.Rounds, "round"), res.Path)
	}
}

// Options returns the options of a run of a suite that lies at path.
func (f *Flags) Options(s *suite.Suite, path string) runner.Options {
	dir, file := ".", "" // a suite that exists only in memory has no file
	if path != "" {
		dir, file = filepath.Dir(path), filepath.Base(path)
	}
	out := f.OutFile
	if out == "" {
		out = filepath.Join(dir, "results", "current.json")
	}
	seed := f.Seed
	if !f.IsSet("seed") {
		seed = runner.RandomSeed()
	}
	return runner.Options{
		Suite: s, Dir: dir, Path: file, Case: f.Cases, Base: f.Base, Rounds: f.Rounds, Samples: f.Samples,
		Budget: f.Budget, Seed: seed, Out: out, ForceMeasure: f.Force, Wait: f.Wait, Version: version.Version(), Owner: "pawl bench",
		Trust: measure.Trust(f.Trust), Accepted: f.Accept, Now: time.Now, Detect: f.detect(),
		BuildOptions: runner.BuildOptions{NoCache: f.NoCache},
	}
}

// show prints the record: a table, or JSON with --json.
func (f *Flags) show(run *measure.Run, path string) error {
	if f.JSON {
		return report.JSON(f.Out, run, path)
	}
	if err := report.Terminal(f.Out, run, f.Style()); err != nil {
		return err
	}
	if f.Command.Saved != "" {
		fmt.Fprintln(f.Out, f.Style().Faint("wrote "+f.Command.Saved))
	}
	_, err := fmt.Fprintln(f.Out, f.Style().Faint("record: "+path))
	return err
}
