package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/judge/lab"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// labTuneFlags are the flags of pawl lab tune.
type labTuneFlags struct {
	*globals
	lab.TuneOptions
	json bool
	out  string
}

func newLabTune(g *globals) *cobra.Command {
	f := labTuneFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Measure how close searches come to the best point, and at what cost",
		Long: `Lets every strategy of pawl tune search spaces of which every point is known, many times
each: by evaluations, by what they cost, with noise, and with what another GPU taught.
docs/lab/tune.md is what it wrote. With --part the other parts of the figures in the folder
of --out stay as they are.

Recorded spaces are in tuning-spaces of --data, or of the environment variable PAWL_DATA;
without them, and with --quick, two small generated ones are searched.

Exit code: 0 if every promise holds, 1 if one does not.`,
		Example: `  pawl lab tune --quick             # ten searches each on generated spaces, under a minute
  pawl lab tune --data DATA --space 'gemm*' --strategy auto,random --part count
  pawl lab tune --data DATA --out docs/lab
  pawl lab tune --data DATA --out docs/lab --part noise   # that part again, the others stay`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.Quick, "quick", false, "few searches on small generated spaces")
	fl.BoolVar(&f.json, "json", false, "the figures as JSON on stdout")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` for tune.md and tune.json (default: the page on stdout)")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of the first search; the next has the next")
	fl.IntVar(&f.Repeats, "repeats", 0, "searches of a strategy on a space (default 100, 10 with --quick)")
	fl.StringVar(&f.Data, "data", "", "`folder` of recorded data (default $PAWL_DATA)")
	fl.StringSliceVar(&f.Strategies, "strategy", nil, "only these strategies: "+strings.Join(search.Names(), ", "))
	fl.StringSliceVar(&f.Spaces, "space", nil, "only recorded spaces whose name matches one of these `globs`")
	fl.StringSliceVar(&f.Parts, "part", nil, "only these parts: "+strings.Join(lab.TuneParts, ", "))
	return cmd
}

func (f *labTuneFlags) run(ctx context.Context) error {
	if f.Data == "" && !f.Quick {
		f.Data = f.Getenv("PAWL_DATA")
	}
	if err := f.check(); err != nil {
		return usageError{err}
	}
	began := time.Now()
	f.Say = func(text string) { f.say(fmt.Sprintf("%5.0f s  %s", time.Since(began).Seconds(), text)) }
	report, err := lab.Tune(ctx, f.TuneOptions)
	if err != nil {
		return err
	}
	if err := f.keepParts(report); err != nil {
		return err
	}
	if err := f.publishLab("tune", f.out, f.json, report, nil); err != nil {
		return err
	}
	if n := report.Broken(); n > 0 {
		return exitError{exitFailed, fmt.Errorf("%d of %d promises do not hold", n, len(report.Claims))}
	}
	return nil
}

// keepParts takes over the parts that an earlier run wrote to the same folder.
func (f *labTuneFlags) keepParts(report *lab.TuneReport) error {
	if f.out == "" || len(f.Parts) == 0 {
		return nil
	}
	path := filepath.Join(f.out, "tune.json")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the parts measured before: %w", err)
	}
	defer file.Close()
	old, err := lab.ReadTune(file)
	if err == nil {
		err = report.Keep(old)
	}
	if err != nil {
		return fmt.Errorf("keep the parts of %s that were measured before: %w: write to another folder", path, err)
	}
	return nil
}

func (f *labTuneFlags) check() error {
	for _, list := range []struct {
		flag        string
		given, have []string
	}{{"strategy", f.Strategies, search.Names()}, {"part", f.Parts, lab.TuneParts}} {
		for _, name := range list.given {
			if !slices.Contains(list.have, name) {
				return fmt.Errorf("--%s %q: take %s", list.flag, name, strings.Join(list.have, ", "))
			}
		}
	}
	if f.Repeats < 0 {
		return fmt.Errorf("--repeats %d: take more than 0", f.Repeats)
	}
	if len(f.Spaces) > 0 && f.Data == "" {
		return fmt.Errorf("--space chooses recorded spaces: --data names their folder")
	}
	if f.Data == "" {
		return nil
	}
	if _, err := os.Stat(f.Data); err != nil {
		return fmt.Errorf("recorded data: %w", err)
	}
	return nil
}
