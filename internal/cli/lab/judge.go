package lab

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

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	judgelab "github.com/goatnote-inc/pawl/internal/judge/lab"
)

// judgeFlags are the flags of pawl-lab judge.
type judgeFlags struct {
	*command.Globals
	judgelab.Options
	json bool
	out  string
}

func newJudge(g *command.Globals) *cobra.Command {
	f := judgeFlags{Globals: g}
	cmd := &cobra.Command{
		Use:   "judge",
		Short: "Measure how often the judge is wrong, compared with the rules of other tools",
		Long: `Runs the judge many thousands of times on data whose truth is known: recordings of
identical code (a), samples of recorded tuning spaces (b), and a generator (c). Reports
false alarms, missed changes and the number of rounds, next to the rules of other tools on
the same data. docs/lab/judge.md is its output.

Corpora a and b need recorded data: set --data or the environment variable PAWL_DATA.

Exit code: 0 if every promise holds, 1 if one does not.`,
		Example: `  pawl-lab judge --quick            # 1/50 of the trials, under 20 s
  pawl-lab judge --corpus c --json
  pawl-lab judge --out docs/lab --data DATA`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.Quick, "quick", false, "run 1/50 of the trials")
	fl.BoolVar(&f.json, "json", false, "print JSON on stdout")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` for judge.md, judge.json and the plots (default: print the page on stdout)")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of all random choices")
	fl.StringVar(&f.Data, "data", "", "`folder` of recorded data (default $PAWL_DATA)")
	fl.StringSliceVar(&f.Corpora, "corpus", nil, "only these corpora: a, b, c")
	return cmd
}

func (f *judgeFlags) run(ctx context.Context) error {
	if f.Data == "" {
		f.Data = f.Getenv("PAWL_DATA")
	}
	if err := f.check(); err != nil {
		return command.Usage(err)
	}
	f.Say = progress(f.Globals)
	report, err := judgelab.Judge(ctx, f.Options)
	if err != nil {
		return err
	}
	if err := f.write(report); err != nil {
		return err
	}
	return promises(report.Broken(), len(report.Claims), "promises")
}

func (f *judgeFlags) check() error {
	letters := []string{judgelab.LetterRecorded, judgelab.LetterSpaces, judgelab.LetterGenerated}
	for _, letter := range f.Corpora {
		if !slices.Contains(letters, letter) {
			return fmt.Errorf("unknown corpus %q (known: %s)", letter, strings.Join(letters, ", "))
		}
		if letter != judgelab.LetterGenerated && f.Data == "" {
			return fmt.Errorf("corpus %s is recorded data: set its folder with --data", letter)
		}
	}
	return checkData(f.Data)
}

func (f *judgeFlags) write(report *judgelab.Report) error {
	plots := map[string][]byte{}
	for _, plot := range report.Plots() {
		plots[plot.Name+".svg"] = []byte(plot.SVG())
	}
	return publish(f.Globals, "judge", f.out, f.json, report, plots)
}

// publish prints the page or the figures of a measurement, or writes both into a folder.
func publish(g *command.Globals, name, dir string, asJSON bool, report interface{ Markdown(io.Writer) error }, files map[string][]byte) error {
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
	g.Say("written: " + filepath.Join(dir, name+".md"))
	return nil
}
