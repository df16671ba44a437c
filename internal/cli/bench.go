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

	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/scout"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// benchFlags are the flags of pawl bench.
type benchFlags struct {
	*globals
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
}

func newBench(g *globals) *cobra.Command {
	f := benchFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a suite, alone or side by side with its base",
		Long: `Measures every case of the suite in rounds of fresh processes and writes the
record with every sample to results/current.json.

With --base the commit is checked out beside the working tree, built, and measured
in the same rounds, in a balanced random order.`,
		Example: `  pawl bench                         # the working tree
  pawl bench --base HEAD~1           # beside the commit before
  pawl bench --case 'matmul/*N512*'  # some cases only
  pawl bench --dry-run               # what it would do, how long and what it would cost`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.cases, "case", "", "measure only cases whose name, or benchmark, matches this `glob`")
	fl.StringVar(&f.base, "base", "", "measure this `commit` beside the working tree")
	fl.IntVar(&f.rounds, "rounds", 0, "exactly this many `rounds` a side (default: the suite's first look, 4)")
	fl.IntVar(&f.samples, "samples", 0, "`samples` a round (default: the suite's, 100)")
	fl.StringVarP(&f.out, "out", "o", "", "record `file` (default results/current.json)")
	fl.DurationVar(&f.budget, "budget", 0, "stop before this much `time` was spent on the device")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of order and inputs (default: a new one, kept in the record)")
	fl.DurationVar(&f.wait, "wait", 30*time.Minute, "how long to wait while another pawl has the device")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan, its time and its cost, and measure nothing")
	fl.BoolVar(&f.force, "force-measure", false, "measure also when both sides are identical")
	fl.BoolVar(&f.json, "json", false, "the result as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

func (f *benchFlags) run(ctx context.Context) error {
	s, path, err := loadSuite(f.suite)
	if err != nil {
		return err
	}
	return f.measure(ctx, s, path)
}

// measure runs the bench on a suite that is loaded or was found.
func (f *benchFlags) measure(ctx context.Context, s *suite.Suite, path string) error {
	o := f.options(s, path)
	if f.dryRun {
		plan, err := bench.Forecast(ctx, o)
		if err != nil {
			return err
		}
		return f.printPlan(plan)
	}
	progress := newProgress(f.globals, f.json)
	o.Emit = progress.event
	res, err := bench.Run(ctx, o)
	progress.close()
	if res.Path != "" {
		if showErr := f.show(res.Path); showErr != nil {
			return errors.Join(err, showErr)
		}
	}
	if err == nil && res.Outcome.State == measure.Throttled {
		return codeError{exitNoAnswer, fmt.Errorf("%s: %s", res.Outcome.State, res.Outcome.Reason)}
	}
	return err
}

func (f *benchFlags) options(s *suite.Suite, path string) bench.Options {
	dir, file := ".", "" // a suite that was found and not written has no file
	if path != "" {
		dir, file = filepath.Dir(path), filepath.Base(path)
	}
	out := f.out
	if out == "" {
		out = filepath.Join(dir, "results", "current.json")
	}
	seed := f.seed
	if seed == 0 {
		seed = randomSeed()
	}
	return bench.Options{
		Suite: s, Dir: dir, Path: file, Case: f.cases, Base: f.base, Rounds: f.rounds, Samples: f.samples,
		Budget: f.budget, Seed: seed, Out: out, ForceMeasure: f.force, Wait: f.wait, Version: Version(), Owner: "pawl bench",
		Now: time.Now,
	}
}

// show prints the record: the table for people, the numbers for programs.
func (f *benchFlags) show(path string) error {
	run, err := measure.Load(path)
	if err != nil {
		return err
	}
	if f.json {
		return report.JSON(f.Out, run, path)
	}
	if err := report.Terminal(f.Out, run, f.style()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(f.Out, f.style().Faint("record: "+path))
	return err
}

// loadSuite reads the named suite file, or pawl.yaml in this folder.
func loadSuite(name string) (*suite.Suite, string, error) {
	path := cmp.Or(name, scout.SuiteFile)
	s, err := suite.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return nil, "", usageError{errors.New("there is no pawl.yaml in this folder\n  pawl init writes one; -C FOLDER or --suite FILE names another place")}
	case err != nil:
		return nil, "", usageError{err} // what cannot be read was named by the user
	}
	return s, path, nil
}

func randomSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}
