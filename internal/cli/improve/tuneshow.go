package improve

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// tuneDocument is the JSON output of pawl tune.
type tuneDocument struct {
	*tune.Report
	Schema      string              `json:"schema"`
	Case        string              `json:"case"`
	Evaluations int                 `json:"evaluations"`
	Failures    map[tune.Status]int `json:"failures"`
	Files       []string            `json:"files"`
}

// show writes the files of a search and prints the result.
func (t *tuneSession) show(r *tune.Report) error {
	files, err := t.write(r)
	d := tuneDocument{Report: r, Schema: "pawl.tune/v1", Case: r.Header.Case, Evaluations: len(r.Evaluations), Failures: map[tune.Status]int{}, Files: files}
	for _, e := range r.Evaluations {
		if e.Status != tune.OK {
			d.Failures[e.Status]++
		}
	}
	if t.JSON {
		return errors.Join(err, command.WriteJSON(t.Out, d))
	}
	_, shown := io.WriteString(t.Out, t.text(d))
	return errors.Join(err, shown)
}

// write writes the files for users and other tools. It returns their paths.
func (t *tuneSession) write(r *tune.Report) (files []string, err error) {
	files = []string{r.Journal}
	found := tune.NewSuggestions(r)
	for _, file := range tuneFiles {
		path := filepath.Join(t.dir, file.name)
		if e := env.WriteFile(path, func(w io.Writer) error { return file.write(found, w) }); e != nil {
			err = errors.Join(err, e)
			continue
		}
		files = append(files, path)
	}
	if r.Proof != nil && r.Proof.Record != "" {
		files = append(files, r.Proof.Record)
	}
	if t.export != "" {
		format := tune.KernelTuner
		if strings.HasSuffix(t.export, ".t4.json") {
			format = tune.T4
		}
		e := env.WriteFile(t.export, func(w io.Writer) error { return tune.Export(w, format, r.Header, r.Evaluations) })
		if err = errors.Join(err, e); e == nil {
			files = append(files, t.export)
		}
	}
	return files, err
}

// text formats the result for a terminal.
func (t *tuneSession) text(d tuneDocument) string {
	style := t.Style()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	fmt.Fprintf(&b, "%s on %s: %s of %s in %s", d.Case, d.Header.Device.Name, words.Plural(d.Evaluations, "evaluation"),
		words.Plural(d.Header.Space.Points, "point"), words.Duration(time.Duration(d.Seconds*float64(time.Second))))
	if len(d.Failures) > 0 {
		fmt.Fprintf(&b, ", failed: %s", progress.FailureText(d.Failures))
	}
	line("\n")
	rows := [][]string{
		{"default", words.Quantity(d.Default.Value, "ns"), progress.PointText(d.Default.Point)},
	}
	if d.Best.N != d.Default.N {
		rows = append(rows, []string{"best", words.Quantity(d.Best.Value, "ns"), progress.PointText(d.Best.Point), words.Change(d.Best.Value/d.Default.Value) + " in the search"})
	}
	for _, row := range progress.Aligned(rows) {
		line("  %s", row)
	}
	line("")
	switch {
	case d.Proof != nil:
		line("%s", proofText(d.Proof, style))
	default:
		line("%s %s", style.Warn("Not proven:"), d.Unproven+". The best of many looks better than it is.")
	}
	if d.Unchecked != "" {
		line("%s %s", style.Warn("Not checked:"), d.Unchecked)
	}
	for _, f := range d.Files {
		line("%s", style.Faint("wrote "+f))
	}
	return b.String()
}

// proofText formats the answer of the proof and the choice for each config.
func proofText(p *tune.Proof, style report.Style) string {
	mark := style.Warn
	switch p.Answer {
	case tune.Faster:
		mark = style.Good
	case tune.Small, tune.Same, tune.Inconclusive:
	}
	var b strings.Builder
	head, rest, _ := strings.Cut(p.Sentence, ":")
	b.WriteString(mark(head+":") + rest + "\n")
	if len(p.Finalists) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	rows := [][]string{{"config", "choose", "change", "with"}}
	for _, c := range p.Choices {
		name, gain := "default", ""
		switch {
		case c.Finalist >= 0:
			name, gain = p.Finalists[c.Finalist].Side, tune.SpeedupText(c.Speedup, c.Low, c.High)
		case !c.Significant:
			gain = "no answer"
		}
		rows = append(rows, []string{c.Case, name, gain, progress.PointText(c.Point)})
	}
	b.WriteString("\n")
	for _, row := range progress.Aligned(rows) {
		b.WriteString("  " + row + "\n")
	}
	if p.Reduced != "" {
		fmt.Fprintf(&b, "\n%s %s", style.Warn("note:"), p.Reduced)
	}
	for _, f := range p.Finalists {
		if f.ResultError != "" {
			fmt.Fprintf(&b, "\n%s %s gives wrong results: %s", style.Warn("note:"), progress.PointText(f.Point), f.ResultError)
		}
		if f.Baseline != nil {
			fmt.Fprintf(&b, "\n%s against the baseline %.12s: %s", f.Side, p.Baseline, tune.SpeedupText(f.Baseline.Speedup, f.Baseline.Low, f.Baseline.High))
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
