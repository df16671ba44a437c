package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// benchFlags are the flags of pawl bench.
type benchFlags struct {
	*globals
	flags   *pflag.FlagSet // nil without a command line
	suite   string
	cases   string
	base    string
	rounds  int
	samples int
	out     string
	budget  time.Duration
	seed    uint64
	wait    time.Duration
	dryRun  bool
	force   bool
	json    bool
	noCache bool
	trust   string
	accept  string
	live    bool
}

func newBench(g *globals) *cobra.Command {
	f := benchFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a suite, alone or side by side with its base",
		Long: `Measures every case of the suite in rounds of fresh processes and writes a record with
every sample to results/current.json.

With --base, that commit is checked out beside the working tree, built, and measured in
the same rounds, in a balanced random order.`,
		Example: `  pawl bench                         # the working tree
  pawl bench --base HEAD~1           # side by side with the previous commit
  pawl bench --case 'matmul/*N512*'  # only some cases
  pawl bench --dry-run               # show the plan, its time and its cost`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.addMeasureFlags(fl)
	f.liveFlag(fl)
	fl.StringVar(&f.cases, "case", "", "measure only cases whose name or benchmark matches this `glob`")
	fl.StringVar(&f.base, "base", "", "measure this `commit` side by side with the working tree")
	fl.IntVar(&f.rounds, "rounds", 0, "exactly this many `rounds` per side (default: the suite's first look, 4)")
	fl.StringVarP(&f.out, "out", "o", "", "record `file` (default results/current.json)")
	fl.BoolVar(&f.force, "force-measure", false, "measure even if both sides are identical")
	fl.BoolVar(&f.json, "json", false, "the result as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

// addMeasureFlags registers the flags of every command that measures a suite.
func (f *benchFlags) addMeasureFlags(fl *pflag.FlagSet) {
	f.flags = fl
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.IntVar(&f.samples, "samples", 0, "`samples` per round (default: the suite's, 100)")
	fl.DurationVar(&f.budget, "budget", 0, "max `time` to spend on the device")
	fl.Uint64Var(&f.seed, "seed", 0, "seed for order and inputs (default: random, saved in the record)")
	fl.DurationVar(&f.wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	fl.BoolVar(&f.noCache, "no-cache", false, "rebuild everything, ignoring cached builds")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan, its time and its cost, but measure nothing")
	fl.StringVar(&f.trust, "trust", "", "how far to trust the change's own timings, a `level`: trusted, checked or self-timed (default: the suite's)")
}

func (f *benchFlags) run(ctx context.Context) error {
	if err := errors.Join(f.checkNumbers(), f.checkLive()); err != nil {
		return command.Usage(err)
	}
	s, path, err := loadSuite(f.suite)
	if err != nil {
		return err
	}
	return f.measure(ctx, s, path)
}

// isSet reports whether the user set a flag. A default value cannot stand for unset, because the user
// may pass any value.
func (f *benchFlags) isSet(flag string) bool { return f.flags != nil && f.flags.Changed(flag) }

// checkNumbers rejects flag values that are out of range.
func (f *benchFlags) checkNumbers() error {
	for _, n := range []struct {
		flag  string
		least int64
		value int64
	}{{"rounds", 1, int64(f.rounds)}, {"samples", 1, int64(f.samples)}, {"budget", 1, int64(f.budget)}, {"wait", 0, int64(f.wait)}} {
		if f.isSet(n.flag) && n.value < n.least {
			return fmt.Errorf("--%s %s: must be %s", n.flag, f.flags.Lookup(n.flag).Value, [...]string{"0 or more", "more than 0"}[n.least])
		}
	}
	switch measure.Trust(f.trust) {
	case "", measure.Trusted, measure.Checked, measure.SelfTimed:
		return nil
	default:
		return fmt.Errorf("--trust %q: must be trusted, checked or self-timed", f.trust)
	}
}

// measure runs the bench on a suite. path is empty for a suite that exists only in memory.
func (f *benchFlags) measure(ctx context.Context, s *suite.Suite, path string) error {
	o := f.options(s, path)
	if f.dryRun {
		plan, err := runner.Forecast(ctx, o)
		if err != nil {
			return err
		}
		return f.printPlan(plan)
	}
	run, res, err := f.record(ctx, o)
	if run == nil {
		return err
	}
	if showErr := f.show(run, res.Path); showErr != nil || err != nil {
		return errors.Join(err, showErr)
	}
	if res.Outcome.State == measure.Throttled {
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("%s: %s", res.Outcome.State, res.Outcome.Reason))
	}
	return failedCases(run)
}

// record measures and reads the record back. The record may be incomplete if err is set; it is nil
// if nothing was saved.
func (f *benchFlags) record(ctx context.Context, o runner.Options) (*measure.Run, runner.Result, error) {
	progress := newProgress(f.globals, f.json)
	live := f.startLive(ctx, o)
	o.Emit = func(e runner.Event) {
		live.event(e)
		progress.event(e)
	}
	res, err := runner.Run(ctx, o)
	live.end(verdictDocument{}, err)
	progress.close()
	if err = interruptedError(ctx, res, err); res.Path == "" {
		return nil, res, err
	}
	run, loadErr := measure.Load(res.Path)
	return run, res, errors.Join(err, loadErr)
}

// interruptedError replaces the error of an interrupted run by one that says how much of the run was kept.
func interruptedError(ctx context.Context, res runner.Result, err error) error {
	switch {
	case err == nil || !errors.Is(context.Cause(ctx), command.ErrInterrupted):
		return err
	case res.Path == "":
		return fmt.Errorf("%w before the first round ended: nothing was saved, and the previous record is unchanged", command.ErrInterrupted)
	default:
		return fmt.Errorf("%w after %s, saved in %s", command.ErrInterrupted, words.Plural(res.Outcome.Rounds, "round"), res.Path)
	}
}

func (f *benchFlags) options(s *suite.Suite, path string) runner.Options {
	dir, file := ".", "" // a suite that exists only in memory has no file
	if path != "" {
		dir, file = filepath.Dir(path), filepath.Base(path)
	}
	out := f.out
	if out == "" {
		out = filepath.Join(dir, "results", "current.json")
	}
	seed := f.seed
	if !f.isSet("seed") {
		seed = randomSeed()
	}
	return runner.Options{
		Suite: s, Dir: dir, Path: file, Case: f.cases, Base: f.base, Rounds: f.rounds, Samples: f.samples,
		Budget: f.budget, Seed: seed, Out: out, ForceMeasure: f.force, Wait: f.wait, Version: Version(), Owner: "pawl bench",
		Trust: measure.Trust(f.trust), Accepted: f.accept, Now: time.Now,
		BuildOptions: runner.BuildOptions{NoCache: f.noCache},
	}
}

// show prints the record: a table, or JSON with --json.
func (f *benchFlags) show(run *measure.Run, path string) error {
	if f.json {
		return report.JSON(f.Out, run, path)
	}
	if err := report.Terminal(f.Out, run, f.Style()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f.Out, f.Style().Faint("record: "+path))
	return err
}

// loadSuite reads the named suite file, or pawl.yaml in this folder.
func loadSuite(name string) (*suite.Suite, string, error) {
	path := cmp.Or(name, discover.SuiteFile)
	s, err := suite.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return nil, "", command.Usage(errors.New("no pawl.yaml in this folder\n  run `pawl init` to write one, or use -C FOLDER or --suite FILE"))
	case err != nil:
		return nil, "", command.Usage(err) // the user named the file that cannot be read
	}
	return s, path, nil
}

func randomSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}
