package ci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/affected"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// affectedFlags are the flags of pawl ci affected.
type affectedFlags struct {
	*env.Env
	suite, base string
	json        bool
}

func newAffected(g *env.Env) *cobra.Command {
	f := affectedFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "affected",
		Short: "Check whether a change affects the suite, so that it must be measured",
		Long: `Decides by the names of the changed files. Files count if they belong to the suite, if the
suite names them (build.inputs, build.sources, definition, harness.files, gate.paths, and
files elsewhere in its commands), or if they are in its folder. Without gate.paths, any file
of the repository counts. Files that gate.ignore names, by default documentation, count only
if the suite names them too. If in doubt, the answer is yes.

In GitHub Actions it writes measure=true or measure=false to the outputs of the step.

Exit code: 0 whatever the answer; 3 or 4 if it cannot tell: then measure.`,
		Example: `  pawl ci affected
  pawl ci affected --base origin/main --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&f.base, "base", "", "`commit` that the change started from (default: the merge base with the main branch)")
	cmd.Flags().StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// affectedAnswer is the JSON output of pawl ci affected.
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
	s, path, err := env.LoadSuite(f.suite)
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("cannot find the folder of %s: %w", path, err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("cannot find the folder of %s: %w", path, err)
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
		return fmt.Errorf("cannot find %s in its repository: %w", path, err)
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
	_, job, err := f.CurrentJob()
	if err != nil || job.Outputs == "" {
		return err
	}
	out, err := os.OpenFile(job.Outputs, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("cannot write the step outputs: %w", err)
	}
	_, err = fmt.Fprintf(out, "measure=%t\n", measure)
	return errors.Join(err, out.Close())
}

// touchedShown is the maximum number of files that are printed.
const touchedShown = 20

func (f *affectedFlags) show(a affectedAnswer) error {
	if f.json {
		return command.WriteJSON(f.Out, a)
	}
	if !a.Measure {
		_, err := fmt.Fprintf(f.Out, "no kernel touched: %s changed since %.12s, none affects the suite\n", words.Plural(a.Changed, "file"), a.Base)
		return err
	}
	fmt.Fprintf(f.Out, "measure: %d of %s changed since %.12s affect the suite\n", len(a.Files), words.Plural(a.Changed, "file"), a.Base)
	for i, file := range a.Files {
		if i == touchedShown {
			fmt.Fprintf(f.Out, "  and %d more\n", len(a.Files)-i)
			break
		}
		fmt.Fprintf(f.Out, "  %s: %s\n", env.LogText(file.Path), file.Why)
	}
	return nil
}
