package share

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/explain"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// reportFormats are the formats of a report, with the file extensions that select them.
var reportFormats = []struct {
	name    string
	endings []string
	write   func(*env.Env, io.Writer, *report.Document) error
}{
	{"terminal", []string{".txt"}, func(g *env.Env, w io.Writer, d *report.Document) error {
		if w != g.Out {
			return report.Verdicts(w, d, report.Style{}, false)
		}
		return report.Verdicts(w, d, g.Style(), false)
	}},
	{"md", []string{".md"}, func(_ *env.Env, w io.Writer, d *report.Document) error { return report.Markdown(w, d) }},
	{"html", []string{".html", ".htm"}, func(_ *env.Env, w io.Writer, d *report.Document) error { return report.HTML(w, d) }},
	{"png", []string{".png"}, func(_ *env.Env, w io.Writer, d *report.Document) error { return report.PNG(w, d) }},
	{"junit", []string{".xml"}, func(_ *env.Env, w io.Writer, d *report.Document) error { return report.JUnit(w, d) }},
	{"json", []string{".json"}, func(_ *env.Env, w io.Writer, d *report.Document) error { return report.VerdictJSON(w, d) }},
}

// reportFlags are the flags of pawl report.
type reportFlags struct {
	*env.Env
	format string
	out    string
}

// NewReport returns the command pawl report.
func NewReport(g *env.Env) *cobra.Command {
	f := reportFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Show a run record or a verdict, for people or for programs",
		Long: `Shows what a run record contains. If it has a base and a candidate, they are judged: by the
verdict.json next to the record if it belongs to the same run, otherwise by the default
policy. RUN may also be a verdict.json.

The exit code is 0 for every verdict: pawl compare and pawl run are the gates.`,
		Example: `  pawl report results/current.json
  pawl report results/current.json --out report.html
  pawl report results/current.json --format junit > pawl.xml`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0]) },
	}
	cmd.Flags().StringVar(&f.format, "format", "", "terminal, md, html, png, junit or json (default: by the extension of --out, else terminal)")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write to this `file`")
	return cmd
}

func (f *reportFlags) run(path string) error {
	write, err := f.writer()
	if err != nil {
		return command.Usage(err)
	}
	in, err := reportInput(path)
	if err != nil {
		return command.Usage(err)
	}
	in.Now = time.Now()
	if in.Whys, err = explanationsFromProfiles(in); err != nil {
		return err
	}
	doc := report.NewDocument(in)
	if f.out == "" {
		return write(f.Env, f.Out, doc)
	}
	var b bytes.Buffer // buffered, so that a failed report leaves the old file unchanged
	if err := write(f.Env, &b, doc); err != nil {
		return err
	}
	if err := os.WriteFile(f.out, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

// writer returns the writer of the format, chosen by --format or by the extension of the file.
func (f *reportFlags) writer() (func(*env.Env, io.Writer, *report.Document) error, error) {
	var names []string
	for _, format := range reportFormats {
		names = append(names, format.name)
		if f.format == format.name || f.format == "" && slices.Contains(format.endings, strings.ToLower(filepath.Ext(f.out))) {
			if format.name == "png" && f.out == "" && f.OutScreen != nil {
				return nil, errors.New("cannot show a picture on a terminal: name a file with --out")
			}
			return format.write, nil
		}
	}
	switch {
	case f.format != "":
		return nil, fmt.Errorf("unknown format %q (known: %s)", f.format, strings.Join(names, ", "))
	case f.out != "":
		return nil, fmt.Errorf("%s: unknown extension: add --format (known: %s)", f.out, strings.Join(names, ", "))
	default:
		return reportFormats[0].write, nil
	}
}

// maxVerdictBytes bounds the size in bytes of a verdict that is read into memory.
const maxVerdictBytes = 256 << 20

// reportInput reads the file at path: a record, or a verdict and the record beside it.
func reportInput(path string) (report.Input, error) {
	if verdict, err := readVerdict(path); err != nil {
		return report.Input{}, err
	} else if verdict != nil {
		in := report.Input{Result: &verdict.Result, Paths: report.Paths{Verdict: path}}
		record := filepath.Join(filepath.Dir(path), "current.json")
		if run, err := measure.Load(record); err == nil && verdict.Run != "" && run.ID == verdict.Run {
			in.Run, in.Paths.Record = run, record
		}
		return in, nil
	}
	run, err := measure.Load(path)
	if err != nil {
		return report.Input{}, err
	}
	in := report.Input{Run: run, Paths: report.Paths{Record: path}}
	beside := filepath.Join(filepath.Dir(path), "verdict.json")
	if verdict, err := readVerdict(beside); err == nil && verdict != nil && verdict.Run == run.ID && run.ID != "" {
		in.Result, in.Paths.Verdict = &verdict.Result, beside
		return in, nil
	}
	if Measured(run, measure.Base) && Measured(run, measure.Candidate) {
		same := []*measure.Run{run}
		result := ratchet.Judge(ratchet.Default().ForPlan(run.Plan), ratchet.Gather(same, same, measure.Base, measure.Candidate))
		in.Result = &result
	}
	return in, nil
}

// explanationsFromProfiles explains why cases changed, from the profiles beside the record.
func explanationsFromProfiles(in report.Input) ([]report.Why, error) {
	if in.Run == nil || in.Result == nil || in.Paths.Record == "" {
		return nil, nil
	}
	changed := map[string]bool{}
	for _, c := range in.Result.Cases {
		changed[c.Name] = c.Verdict == ratchet.Regression || c.Verdict == ratchet.Improvement || c.Ratchet == ratchet.Moves
	}
	kept, err := explain.ReadProfiles(filepath.Join(filepath.Dir(in.Paths.Record), runner.ProfileFolder), in.Run, func(name, _ string) bool { return changed[name] })
	if err != nil {
		return nil, err
	}
	rules := diagnose.Rules()
	var whys []report.Why
	for _, w := range kept.Whys {
		if w.After == nil {
			continue
		}
		d, difference, _ := rules.Explain(w.Before, *w.After) // profiles that cannot be compared are still diagnosed
		w.Diagnosis, w.Difference = &d, difference
		whys = append(whys, w)
	}
	return whys, nil
}

// Measured reports whether a run has samples of a side.
func Measured(run *measure.Run, side string) bool {
	return slices.ContainsFunc(run.Cases, func(c measure.Case) bool { return c.Implementation == side })
}

// storedVerdict is the part of verdict.json that a report needs.
type storedVerdict struct {
	ratchet.Result
	Run string `json:"run"`
}

// readVerdict returns nil if the file is not a verdict. Only its first bytes decide, because a record may
// be huge.
func readVerdict(path string) (*storedVerdict, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil // reading it as a record reports the error
	}
	defer file.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(file, head)
	if !bytes.Contains(head[:n], []byte(`"`+ratchet.Schema+`"`)) {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), file), maxVerdictBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read verdict %s: %w", path, err)
	}
	if len(data) > maxVerdictBytes {
		return nil, fmt.Errorf("cannot read verdict %s: it is larger than %d MB", path, maxVerdictBytes>>20)
	}
	var v storedVerdict
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("cannot read verdict %s: %w", path, err)
	}
	return &v, nil
}
