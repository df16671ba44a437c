package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/explain"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// verdictDocument is verdict.json: the judgement of the change and related findings.
type verdictDocument struct {
	ratchet.Result
	Run     string               `json:"run,omitempty"`   // ID of the record
	Drift   *ratchet.Result      `json:"drift,omitempty"` // the base compared with the baseline
	Gain    *ratchet.Result      `json:"gain,omitempty"`  // the candidate compared with the baseline
	Moved   []string             `json:"moved,omitempty"` // cases whose baseline moved
	Stopped *loop.Failure        `json:"stopped,omitempty"`
	Stages  []report.Stage       `json:"stages,omitempty"` // steps before measuring
	Trust   measure.Trust        `json:"trust,omitempty"`
	Whys    []report.WhyDocument `json:"whys,omitempty"` // reasons of changed cases, the worst first
}

// newWhys converts the reasons of a gate for JSON.
func newWhys(whys []runner.Explanation) []report.WhyDocument {
	var list []report.WhyDocument
	for _, w := range whys {
		d := explain.ReportWhy(w).Document()
		if w.Err != nil {
			d.Problem = w.Err.Error()
		}
		list = append(list, d)
	}
	return list
}

// newVerdict returns the outcome of a gate as a document, even if the gate ended before it had a result.
func newVerdict(out runner.Outcome) verdictDocument {
	s := out.State
	d := verdictDocument{Drift: s.Drift, Gain: s.Gain, Stopped: s.Stopped, Stages: stagesOf(s), Whys: newWhys(out.Whys)}
	if s.Result != nil {
		d.Result = *s.Result
	} else {
		d.Result = stoppedResult(s)
	}
	if out.Run != nil {
		d.Run, d.Trust = out.Run.ID, out.Run.Trust
	}
	if d.Verdict != s.Verdict() {
		d.Verdict = s.Verdict()
		if s.Result != nil {
			d.Sentence = "Drift: the changes since the baseline add up. " + s.Drifted().Sentence
		}
	}
	for _, e := range out.Kept {
		if e.Kind == ratchet.KindMoved {
			d.Moved = append(d.Moved, e.Case)
		}
	}
	return d
}

func stagesOf(s loop.State) []report.Stage {
	var list []report.Stage
	for _, x := range s.Stages {
		list = append(list, report.Stage{Name: string(x.Step), Answer: string(x.Answer), Line: x.Line, Detail: x.Detail})
	}
	if s.Stopped == nil || s.Result != nil || slices.ContainsFunc(s.Stages, func(x loop.Stage) bool { return x.Step == s.Stopped.Step }) {
		return list
	}
	_, rest, _ := strings.Cut(s.Stopped.Why, "\n") // the first line is already in the sentence
	var detail []string
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); strings.Trim(line, "|^~ ") != "" { // skip lines of carets, which point at nothing after trimming
			detail = append(detail, line)
		}
	}
	if len(detail) == 0 {
		return list
	}
	return append(list, report.Stage{Name: string(s.Stopped.Step), Answer: string(loop.Stop), Line: detail[0], Detail: detail[1:]})
}

// stoppedResult returns the result of a run that ended before anything was judged: one line for all cases.
func stoppedResult(s loop.State) ratchet.Result {
	why := "the run ended before anything was judged"
	if s.Stopped != nil {
		why, _, _ = strings.Cut(s.Stopped.Why, "\n") // the stage has the rest
	}
	v := s.Verdict()
	return ratchet.Result{
		Schema: ratchet.Schema, Policy: s.Plan.Policy, Verdict: v, Sentence: why, Counts: map[ratchet.Verdict]int{v: 1},
		Cases: []ratchet.Judgment{{
			Name: "all cases", CaseKey: measure.CaseKey{Benchmark: "all cases", Implementation: measure.Candidate},
			Verdict: v, Ratchet: ratchet.Holds, Gate: true, Sentence: why,
		}},
	}
}

// report writes all files of a finished run and prints the verdicts.
func (f *runFlags) report(ctx context.Context, s *suite.Suite, out runner.Outcome) error {
	doc := newVerdict(out)
	paths, page, markdown := report.Paths{Record: out.Path}, "", ""
	in := report.Input{Run: out.Run, Result: &doc.Result, Now: time.Now(), Next: append(f.next(s, out), f.stale(ctx, s, out)...), Stages: doc.Stages, Name: cmp.Or(s.Name, "run"), Forgets: s.Baseline.Keep == "none"}
	var errs []error
	for _, w := range out.Whys {
		if w.Diagnosis == nil {
			continue
		}
		why, err := explain.DrawWhy(explain.ReportWhy(w).Judged(&doc.Result))
		errs = append(errs, err)
		in.Whys = append(in.Whys, why)
	}
	write := func(name string, path *string, content func(io.Writer) error) {
		at := filepath.Join(f.dir, name)
		if err := env.WriteFile(at, content); err != nil {
			errs = append(errs, err)
			return
		}
		*path = at
	}
	write("verdict.json", &paths.Verdict, func(w io.Writer) error { return command.WriteJSON(w, doc) })
	in.Paths = paths
	if out.Path != "" { // the files stay together, but not always on this machine
		in.Paths.Record = filepath.Base(out.Path)
	}
	d := report.NewDocument(in)
	write("ratchet_report.md", &markdown, func(w io.Writer) error { return report.Markdown(w, d) })
	write("report.html", &page, func(w io.Writer) error { return report.HTML(w, d) })
	if f.JSON {
		return errors.Join(append(errs, command.WriteJSON(f.Out, doc))...)
	}
	errs = append(errs, report.Verdicts(f.Out, d, f.Style(), false))
	for _, p := range []string{page, markdown, paths.Verdict, paths.Record, f.Command.Saved} {
		if p != "" {
			fmt.Fprintln(f.Out, f.Style().Faint("wrote "+p))
		}
	}
	if text := f.recorded(s.Baseline, len(out.Kept)); text != "" {
		fmt.Fprintln(f.Out, f.Style().Faint(text))
	}
	return errors.Join(errs...)
}

// recorded says where a run recorded its baselines, and what to do about it.
func (f *runFlags) recorded(b suite.Baseline, entries int) string {
	switch {
	case entries == 0:
		return ""
	case b.Keep == "branch":
		return "recorded on branch " + b.Branch
	default:
		return "wrote " + filepath.Join(filepath.Dir(f.Suite), b.File) + ": commit it"
	}
}

// stale returns what to do about tuned values that were tuned for something else than what was measured.
func (f *runFlags) stale(ctx context.Context, s *suite.Suite, out runner.Outcome) []report.Step {
	if out.Run == nil || len(f.Command.Args) > 0 {
		return nil
	}
	list, err := tuning.Stale(ctx, s, filepath.Dir(f.Suite), out.Run.Device)
	if err != nil {
		return []report.Step{{Text: fmt.Sprintf("Whether tuned values are stale is unknown: %v", err)}}
	}
	var steps []report.Step
	for _, v := range list {
		steps = append(steps, report.Step{
			Text:    fmt.Sprintf("The tuned values of %s are stale: they were tuned %s. Tune again:", v.Benchmark, strings.Join(v.Why, "; ")),
			Command: "pawl tune " + v.Case,
		})
	}
	return steps
}

// next returns the messages of the loop beyond the verdicts.
func (f *runFlags) next(s *suite.Suite, out runner.Outcome) []report.Step {
	var list []report.Step
	say := func(format string, args ...any) { list = append(list, report.Step{Text: fmt.Sprintf(format, args...)}) }
	st := out.State
	if st.Drift != nil && st.Drift.Verdict == ratchet.Regression {
		say("Drift: earlier changes made the base slower than the baseline. %s", st.Drift.Sentence)
	}
	if d := st.Drifted(); d != nil && d == st.Gain {
		list = append(list, report.Step{Text: "Drift: many small changes made main slower than its baseline. Make it faster, or accept its current speed:", Command: "pawl baseline accept --reason WHY"})
	}
	if st.Gain != nil {
		var without []ratchet.Judgment // cases without a comparable time of the baseline
		for _, j := range st.Gain.Cases {
			if j.Verdict == ratchet.Inconclusive && j.Facts == nil {
				without = append(without, j)
			}
		}
		if n := len(without); n == 1 {
			say("Compared with the baseline of %s: %s", without[0].Name, without[0].Sentence)
		} else if n > 1 {
			say("Compared with the baseline of %s and %s: %s", without[0].Name, words.Plural(n-1, "other case"), without[0].Sentence)
		}
	}
	for _, e := range out.Kept {
		if e.Kind == ratchet.KindMoved {
			say("The baseline of %s moved to %.12s: %s than the old baseline, confirmed with fresh rounds.", e.Case, e.Commit, words.Change(1/(1+e.Gain)))
		}
	}
	if f.noKeep && st.Plan.Main && st.Confirmed != nil && len(out.Kept) == 0 {
		say("A gain was confirmed with fresh rounds. This run writes no baselines: use pawl baseline move.")
	}
	for _, w := range out.Whys {
		if w.Err != nil {
			first, _, _ := strings.Cut(w.Err.Error(), "\n")
			say("No explanation for %s: %s", w.Case, first)
		}
	}
	if st.Stopped != nil && st.Result != nil {
		say("Step %s failed: %s", st.Stopped.Step, st.Stopped.Why)
	}
	if s.Baseline.Keep == "none" && len(f.Command.Args) == 0 {
		say("Set baseline.keep in pawl.yaml to remember the best commit and catch slow drift over many changes.")
	}
	return list
}
