package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/judge/lab"
)

func newLab(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Measure pawl's own judge and tuner",
		Long: `Measures what pawl itself does: how often its verdicts are wrong, how close its searches
come to the best, and what both cost.`,
		Example: `  pawl lab judge --quick                                   # the judge, in a few seconds
  pawl lab tune --quick                                    # the tuner, likewise
  pawl lab judge --data DATA --out docs/lab --seed 1       # all of it, minutes`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, part := range []*cobra.Command{newLabJudge(g), newLabTune(g)} {
		part.Args = checked(part.Args)
		cmd.AddCommand(part)
	}
	return cmd
}

// labFlags are the flags of pawl lab judge.
type labFlags struct {
	*globals
	lab.Options
	json bool
	out  string
}

func newLabJudge(g *globals) *cobra.Command {
	f := labFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "judge",
		Short: "Measure how often the judge is wrong, beside the rules of other tools",
		Long: `Lets the judge decide about data of which the truth is known, many thousand times:
recordings of the same code (a), samples of recorded tuning spaces (b), and a generator
(c). Says how often it accuses innocent code, what it misses and how many rounds it takes,
beside other tools' rules on the same data. docs/lab/judge.md is what it wrote.

Corpora a and b need recorded data: --data, or the environment variable PAWL_DATA.

Exit code: 0 if every promise holds, 1 if one does not.`,
		Example: `  pawl lab judge --quick            # a fiftieth of the trials, under 20 s
  pawl lab judge --corpus c --json
  pawl lab judge --out docs/lab --data DATA`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.Quick, "quick", false, "a fiftieth of the trials")
	fl.BoolVar(&f.json, "json", false, "the figures as JSON on stdout")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` for judge.md, judge.json and the plots (default: the page on stdout)")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of everything that is drawn")
	fl.StringVar(&f.Data, "data", "", "`folder` of recorded data (default $PAWL_DATA)")
	fl.StringSliceVar(&f.Corpora, "corpus", nil, "only these corpora: a, b, c")
	return cmd
}

func (f *labFlags) run(ctx context.Context) error {
	if f.Data == "" {
		f.Data = f.Getenv("PAWL_DATA")
	}
	if err := f.check(); err != nil {
		return usageError{err}
	}
	began := time.Now()
	f.Say = func(text string) { f.say(fmt.Sprintf("%5.0f s  %s", time.Since(began).Seconds(), text)) }
	report, err := lab.Judge(ctx, f.Options)
	if err != nil {
		return err
	}
	if err := f.write(report); err != nil {
		return err
	}
	if n := report.Broken(); n > 0 {
		return exitError{exitFailed, fmt.Errorf("%d of %d promises do not hold", n, len(report.Claims))}
	}
	return nil
}

func (f *labFlags) check() error {
	letters := []string{lab.LetterRecorded, lab.LetterSpaces, lab.LetterGenerated}
	for _, letter := range f.Corpora {
		if !slices.Contains(letters, letter) {
			return fmt.Errorf("there is no corpus %q: %s", letter, strings.Join(letters, ", "))
		}
		if letter != lab.LetterGenerated && f.Data == "" {
			return fmt.Errorf("corpus %s is recorded data: --data names its folder", letter)
		}
	}
	if f.Data == "" {
		return nil
	}
	if _, err := os.Stat(f.Data); err != nil {
		return fmt.Errorf("recorded data: %w", err)
	}
	return nil
}

func (f *labFlags) write(report *lab.Report) error {
	plots := map[string][]byte{}
	for _, plot := range report.Plots() {
		var drawn bytes.Buffer
		if err := plot.SVG(&drawn); err != nil {
			return err
		}
		plots[plot.Name+".svg"] = drawn.Bytes()
	}
	return f.publishLab("judge", f.out, f.json, report, plots)
}

// publishLab prints the page or the figures of a measurement, or writes both into a folder.
func (g *globals) publishLab(name, dir string, asJSON bool, report interface{ Markdown(io.Writer) error }, files map[string][]byte) error {
	figures, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	figures = append(figures, '\n')
	var page bytes.Buffer
	if err := report.Markdown(&page); err != nil {
		return err
	}
	shown := page.Bytes()
	if asJSON {
		shown = figures
	}
	if dir == "" || asJSON {
		if _, err := g.Out.Write(shown); err != nil || dir == "" {
			return err
		}
	}
	if files == nil {
		files = map[string][]byte{}
	}
	files[name+".md"], files[name+".json"] = page.Bytes(), figures
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	g.say("written: " + filepath.Join(dir, name+".md"))
	return nil
}
