package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/kernel/affected"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/report"
)

// affectedFlags are the flags of pawl touched.
type affectedFlags struct {
	*globals
	suite, base string
	json        bool
}

func newTouched(g *globals) *cobra.Command {
	f := affectedFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "touched",
		Short: "Does the change touch a kernel of the suite, so that it has to be measured?",
		Long: `Looks at the names of the files that the change touches, and at nothing else: those of
the suite, those that it names (build.inputs, build.sources, definition, harness.files,
gate.paths, and files elsewhere in its commands), and everything in its folder. Without
gate.paths any file of the repository may be read. What gate.ignore names counts only if the
suite names it too: documentation, by default. Unsure means yes.

In GitHub Actions it writes measure=true or measure=false to the outputs of the step.

Exit code: 0 whatever the answer; 3 or 4 when it cannot tell: then measure.`,
		Example: `  pawl touched
  pawl touched --base origin/main --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&f.base, "base", "", "`commit` that the change began from (default: the merge base with the main branch)")
	cmd.Flags().StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	cmd.Flags().BoolVar(&f.json, "json", false, "the answer as JSON")
	return cmd
}

// affectedAnswer is the JSON output of pawl touched.
type affectedAnswer struct {
	Measure bool          `json:"measure"`
	Suite   string        `json:"suite"`
	Base    string        `json:"base"`
	Changed int           `json:"changed"` // number of files
	Files   []touchedFile `json:"files"`   // files that affect the suite
}

type touchedFile struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

func (f *affectedFlags) run(ctx context.Context) error {
	s, path, err := loadSuite(f.suite)
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("find the folder of %s: %w", path, err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("find the folder of %s: %w", path, err)
	}
	repo, err := build.Open(ctx, dir)
	if err != nil {
		return err
	}
	answer := affectedAnswer{Suite: s.Name, Files: []touchedFile{}}
	if f.base == "" {
		answer.Base, _, err = repo.MergeBase(ctx)
	} else {
		answer.Base, err = repo.Commit(ctx, f.base)
	}
	if err != nil {
		return err
	}
	files, err := repo.Changed(ctx, answer.Base)
	if err != nil {
		return err
	}
	folder, err := filepath.Rel(repo.Root, dir)
	if err != nil {
		return fmt.Errorf("find %s in its repository: %w", path, err)
	}
	answer.Changed = len(files)
	rules := affected.Of(s, filepath.ToSlash(folder))
	touching, err := rules.Affecting(ctx, files, repo.Mentions)
	if err != nil {
		return err
	}
	for _, file := range touching {
		answer.Files = append(answer.Files, touchedFile(file))
	}
	answer.Measure = len(answer.Files) > 0
	return errors.Join(f.output(answer.Measure), f.show(answer))
}

// output sets the output of the workflow step. It contains no untrusted text.
func (f *affectedFlags) output(measure bool) error {
	path := f.Getenv("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("write the outputs of the step: %w", err)
	}
	_, err = fmt.Fprintf(out, "measure=%t\n", measure)
	return errors.Join(err, out.Close())
}

// touchedShown is the maximum number of files that are printed.
const touchedShown = 20

func (f *affectedFlags) show(a affectedAnswer) error {
	if f.json {
		return writeJSON(f.Out, a)
	}
	if !a.Measure {
		_, err := fmt.Fprintf(f.Out, "no kernel touched: %s changed since %.12s, none of the suite's\n", report.Plural(a.Changed, "file"), a.Base)
		return err
	}
	fmt.Fprintf(f.Out, "measure: %d of %s that changed since %.12s touch the suite\n", len(a.Files), report.Plural(a.Changed, "file"), a.Base)
	for i, file := range a.Files {
		if i == touchedShown {
			fmt.Fprintf(f.Out, "  and %d more\n", len(a.Files)-i)
			break
		}
		fmt.Fprintf(f.Out, "  %s: %s\n", logText(file.Path), file.Why)
	}
	return nil
}
