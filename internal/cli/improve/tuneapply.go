package improve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// tuneApply makes the winner of a search the default.
type tuneApply struct {
	*env.Env
	suite, results string
	draft, dryRun  bool
	json           bool
}

func newTuneApply(g *env.Env) *cobra.Command {
	f := &tuneApply{Env: g}
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Make proven values the defaults, here or as a draft pull request",
		Long: `Takes the winner that pawl tune proved, judges the samples of the proof again with the
suite of this checkout, and writes its values as default: of the tunables into pawl.yaml.
Nothing else in the file changes, comments stay. Only values that the suite names are
accepted. If the proof does not show a gain of 5 % or more, the defaults stay.

The values also go to pawl.tuned.json, with what they were tuned for: device, driver,
compiler and sources. pawl run says when they are stale. A kernel in Python can read them
from there. Commit both files.

With --draft the change goes to a branch pawl/tune-CASE and into a draft pull request, with
the findings as its text (GITHUB_REPOSITORY, GITHUB_TOKEN with contents: write and
pull-requests: write). Files here stay unchanged.

Exit code: 0 applied, or the defaults are confirmed; 1 the results do not belong here; 2 no proven gain is worth a change;
3 the forge refuses; 4 pawl.yaml must be edited by hand.`,
		Example: `  pawl tune matmul/N512
  pawl tune apply
  pawl tune apply --results tuning --draft`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.results, "results", "", "`folder` that pawl tune wrote (default tuning)")
	fl.BoolVar(&f.draft, "draft", false, "open a draft pull request and change nothing here")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the change without making it")
	fl.BoolVar(&f.json, "json", false, "print JSON on stdout")
	return cmd
}

// applied is the JSON output of pawl tune apply.
type applied struct {
	Schema  string         `json:"schema"`
	Case    string         `json:"case"`
	Values  map[string]any `json:"values"` // values that became defaults
	Speedup float64        `json:"speedup"`
	File    string         `json:"file"`
	Tuned   string         `json:"tuned"` // file that says what the values were tuned for
	Diff    string         `json:"diff"`
	Pull    string         `json:"pull,omitempty"` // URL of the draft
}

func (f *tuneApply) run(ctx context.Context) error {
	s, path, err := env.LoadSuite(f.suite)
	if err != nil {
		return err
	}
	r, err := f.found(ctx, s, filepath.Dir(path))
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return command.Usage(err)
	}
	a := applied{Schema: "pawl.applied/v1", Case: r.Header.Case, Values: changedValues(s, r), File: path, Tuned: filepath.Join(filepath.Dir(path), tune.TunedFile)}
	if r.Proof.Winner >= 0 {
		for _, c := range r.Proof.Finalists[r.Proof.Winner].Cases {
			if c.Case == a.Case {
				a.Speedup = c.Speedup
			}
		}
	}
	tuned, known, err := tunedValues(s, r, a)
	switch {
	case err != nil:
		return command.Usage(err)
	case len(a.Values) == 0 && (known || f.draft):
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("nothing to change: %s already has the winning values as its defaults", path))
	}
	files := map[string][]byte{a.Tuned: tuned}
	if len(a.Values) > 0 {
		after, err := suite.SetDefaults(before, benchmarkOf(s, a.Case), a.Values)
		if err != nil {
			return command.Usage(fmt.Errorf("%s: %w\n  set these values by hand: %s", path, err, progress.PointText(a.Values)))
		}
		a.Diff, files[a.File] = lineDiff(string(before), string(after)), after
	}
	switch {
	case f.dryRun:
	case f.draft:
		a.Pull, err = f.openDraft(ctx, s, r, a, files)
	default:
		for name, content := range files {
			err = errors.Join(err, env.WriteFile(name, func(w io.Writer) error { _, err := w.Write(content); return err }))
		}
	}
	if err != nil {
		return err
	}
	return f.show(a, r)
}

// tunedValues returns the new content of the file of tuned values, and whether the file says the same already.
func tunedValues(s *suite.Suite, r *tune.Report, a applied) (content []byte, known bool, err error) {
	was, err := tune.LoadTuned(filepath.Dir(a.Tuned))
	if err != nil {
		return nil, false, err
	}
	name := benchmarkOf(s, a.Case)
	v := tune.TunedValues{Case: a.Case, Values: s.Benchmark(name).Tune.Defaults(), For: r.Target.Sanitized()}
	maps.Copy(v.Values, a.Values)
	last, ok := was.Benchmarks[name]
	known = ok && tune.Key(last.Values) == tune.Key(v.Values) && len(last.For.Differs(v.For)) == 0
	content, err = was.With(name, v)
	return content, known, err
}

func (f *tuneApply) show(a applied, r *tune.Report) error {
	if f.json {
		return command.WriteJSON(f.Out, a)
	}
	fmt.Fprintf(f.Out, "%s\n\n%s\n", words.Sanitize(r.Proof.Sentence), a.Diff)
	switch {
	case len(a.Values) == 0 && !f.dryRun:
		fmt.Fprintf(f.Out, "the defaults stay; wrote %s\n", a.Tuned)
	case f.dryRun:
		fmt.Fprintln(f.Out, "nothing changed (--dry-run)")
	case a.Pull != "":
		fmt.Fprintln(f.Out, "opened "+words.Sanitize(a.Pull))
	default:
		fmt.Fprintf(f.Out, "wrote %s and %s; run `pawl run --force-measure` to measure the change\n", a.File, a.Tuned)
	}
	return nil
}

// changedValues returns the winner's values that differ from the defaults.
func changedValues(s *suite.Suite, r *tune.Report) map[string]any {
	values := map[string]any{}
	if r.Proof.Winner < 0 {
		return values
	}
	for _, b := range s.Benchmarks {
		if b.Name != benchmarkOf(s, r.Header.Case) || b.Tune == nil {
			continue
		}
		for _, p := range b.Tune.Parameters {
			won := r.Proof.Finalists[r.Proof.Winner].Point[p.Name]
			for _, v := range p.Values { // the suite's own value, not the one from the results
				if tune.Key(map[string]any{"": v}) == tune.Key(map[string]any{"": won}) && v != p.Default {
					values[p.Name] = v
				}
			}
		}
	}
	return values
}

// benchmarkOf returns the benchmark of a case.
func benchmarkOf(s *suite.Suite, name string) string {
	for _, c := range s.Cases() {
		if c.Name() == name {
			return c.Benchmark
		}
	}
	return name
}

// found reads the results of the search and judges its proof again.
func (f *tuneApply) found(ctx context.Context, s *suite.Suite, dir string) (*tune.Report, error) {
	from := cmp.Or(f.results, filepath.Join(dir, "tuning"))
	sent, err := openTuning(from)
	if err != nil {
		return nil, err
	}
	defer sent.Close()
	r, run, err := readTuning(sent)
	if err != nil {
		return nil, err
	}
	if err := f.sameCommit(ctx, dir, r.Header); err != nil {
		return nil, err
	}
	if r.Proof == nil {
		return nil, command.Exit(command.ExitNoAnswer, fmt.Errorf("nothing is proven (%s): the winner of a search looks better than it is", words.Sanitize(cmp.Or(r.Unproven, "there was no proof"))))
	}
	if r.Proof, err = tuning.JudgeProof(s, r.Header.Case, r.Proof, run); err != nil {
		return nil, command.Exit(command.ExitFailed, fmt.Errorf("%s does not match the suite: %w", from, err))
	}
	switch p := r.Proof; {
	case p.Winner < 0 && p.Answer == tune.Same && !f.draft: // the defaults are the best known for what was tuned
	case p.Winner < 0 || p.Answer != tune.Faster:
		return nil, command.Exit(command.ExitNoAnswer, fmt.Errorf("nothing changed: %s", words.Sanitize(p.Sentence)))
	case len(p.SlowerCases) > 0:
		return nil, command.Exit(command.ExitNoAnswer, fmt.Errorf("nothing changed: with these defaults other configs get slower: %s\n  suggestions.md shows how to choose by config", words.Sanitize(strings.Join(p.SlowerCases, ", "))))
	}
	r.Created = time.Now().UTC()
	return r, nil
}
