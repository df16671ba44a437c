package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	judgelab "github.com/goatnote-inc/pawl/internal/judge/lab"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// tuneFlags are the flags of pawl-lab tune.
type tuneFlags struct {
	*command.Globals
	judgelab.TuneOptions
	json bool
	out  string
}

func newTune(g *command.Globals) *cobra.Command {
	f := tuneFlags{Globals: g}
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Measure how close searches come to the best point, and at what cost",
		Long: `Runs every search strategy of pawl many times on search spaces whose points are all known:
by evaluations, by cost, with noise, and with results of another GPU as a start.
docs/lab/tune.md is its output. With --part, the other parts of the figures in the folder
of --out stay unchanged.

Recorded spaces are in tuning-spaces of --data, or of the environment variable PAWL_DATA.
Without them, and with --quick, two small generated spaces are searched.

Exit code: 0 if every promise holds, 1 if one does not.`,
		Example: `  pawl-lab tune --quick             # ten searches each on generated spaces, under a minute
  pawl-lab tune --data DATA --space 'gemm*' --strategy auto,random --part count
  pawl-lab tune --data DATA --out docs/lab
  pawl-lab tune --data DATA --out docs/lab --part noise   # repeat one part, keep the others`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.Quick, "quick", false, "run few searches on small generated spaces")
	fl.BoolVar(&f.json, "json", false, "print JSON on stdout")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` for tune.md and tune.json (default: print the page on stdout)")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of the first search; later searches use the following seeds")
	fl.IntVar(&f.Repeats, "repeats", 0, "searches per strategy and space (default 100, 10 with --quick)")
	fl.StringVar(&f.Data, "data", "", "`folder` of recorded data (default $PAWL_DATA)")
	fl.StringSliceVar(&f.Strategies, "strategy", nil, "only these strategies: "+strings.Join(search.Names(), ", "))
	fl.StringSliceVar(&f.Spaces, "space", nil, "only recorded spaces whose name matches one of these `globs`")
	fl.StringSliceVar(&f.Parts, "part", nil, "only these parts: "+strings.Join(judgelab.TuneParts, ", "))
	return cmd
}

func (f *tuneFlags) run(ctx context.Context) error {
	if f.Data == "" && !f.Quick {
		f.Data = f.Getenv("PAWL_DATA")
	}
	if err := f.check(); err != nil {
		return command.Usage(err)
	}
	f.Say = progress(f.Globals)
	report, err := judgelab.Tune(ctx, f.TuneOptions)
	if err != nil {
		return err
	}
	if err := f.keepParts(report); err != nil {
		return err
	}
	if err := publish(f.Globals, "tune", f.out, f.json, report, nil); err != nil {
		return err
	}
	return promises(report.Broken(), len(report.Claims), "promises")
}

// keepParts takes over the parts that an earlier run wrote to the same folder.
func (f *tuneFlags) keepParts(report *judgelab.TuneReport) error {
	if f.out == "" || len(f.Parts) == 0 {
		return nil
	}
	path := filepath.Join(f.out, "tune.json")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read the parts measured before: %w", err)
	}
	defer file.Close()
	old, err := judgelab.ReadTune(file)
	if err == nil {
		err = report.Keep(old)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the parts of %s measured before: %w: write to another folder", path, err)
	}
	return nil
}

func (f *tuneFlags) check() error {
	for _, list := range []struct {
		flag        string
		given, have []string
	}{{"strategy", f.Strategies, search.Names()}, {"part", f.Parts, judgelab.TuneParts}} {
		for _, name := range list.given {
			if !slices.Contains(list.have, name) {
				return fmt.Errorf("--%s %q: take %s", list.flag, name, strings.Join(list.have, ", "))
			}
		}
	}
	if f.Repeats < 0 {
		return fmt.Errorf("--repeats %d: must be more than 0", f.Repeats)
	}
	if len(f.Spaces) > 0 && f.Data == "" {
		return fmt.Errorf("--space selects recorded spaces: set their folder with --data")
	}
	return checkData(f.Data)
}
