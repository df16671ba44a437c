package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Input is the source of a document: a run, a result, or both. Everything else is optional.
type Input struct {
	Run    *measure.Run
	Result *ratchet.Result
	Name   string // of the suite, used when there is no record
	Sides  Sides  // of the comparison, if not "base" and "candidate" of Run

	Commit string // of the candidate, if not that of Run

	Stages  []Stage // the steps before measuring, in order
	Forgets bool    // no baseline is kept, so improvements move none
	Paths   Paths
	Next    []Step    // further steps, after those that the verdicts suggest
	Whys    []Why     // what profiles show about cases
	Now     time.Time // when the report is made; zero hides it
}

// Sides names the samples that belong to the two sides of a result.
type Sides struct {
	Base, Candidate         []*measure.Run
	BaseName, CandidateName string // implementations; empty for "base" and "candidate"
}

// Paths are the locations of written files, as a reader of the report can open them.
type Paths struct {
	Record  string `json:"record,omitempty"`
	Verdict string `json:"verdict,omitempty"`
}

// Document is the content of a report, in order, independent of the format. Its text is
// sanitized: see plain.
type Document struct {
	Title    string          // "matmul on NVIDIA L4"
	Verdict  ratchet.Verdict // empty if not judged
	Outcome  string          // "pass", "fail" or "no answer"; empty if not judged
	Headline string          // "1 regression, 1 improvement, 25 unchanged"
	Sentence string          // the worst result in one sentence
	Counts   []Count
	Suite    string // the verdict on all cases together
	Facts    []Fact
	Stages   []Stage // steps before measuring that did not pass cleanly
	Sections []Section
	Whys     []Reason // explanations of cases, in case order
	Next     []Step
	Warnings []string
	Paths    Paths
	Made     string // creation time; empty if unset

	run    *measure.Run
	result *ratchet.Result
	whys   []Why   // as given in Input
	limit  float64 // the slowdown from which the policy reports a regression
	draw   *drawer
}

// Fact is one labeled piece of information.
type Fact struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// NewDocument arranges the content of a report.
func NewDocument(in Input) *Document {
	d := &Document{Paths: in.Paths, run: in.Run, result: in.Result, whys: in.Whys, draw: newDrawer(in)}
	if !in.Now.IsZero() {
		d.Made = in.Now.UTC().Format("2006-01-02 15:04 UTC")
	}
	d.Title = title(in)
	d.Facts, d.Stages = facts(in), notableStages(in.Stages)
	var summaries []summary.Case
	if in.Run != nil {
		summaries = summary.Of(in.Run)
		d.Warnings = words.SanitizeAll(Warnings(in.Run, summaries), words.SentenceLength)
	}
	if in.Result == nil {
		d.Sections = []Section{measuredSection(summaries)}
		d.Headline = words.Plural(len(summaries), "case") + " measured"
	} else {
		d.judged(in, summaries)
	}
	for i, id := 0, 0; i < len(d.Sections); i++ {
		for c := range d.Sections[i].Cases {
			id++
			d.Sections[i].Cases[c].ID = id
		}
	}
	d.reasons(in.Whys)
	d.Next = next(d, in.Forgets)
	for _, step := range in.Next {
		d.Next = append(d.Next, Step{words.SanitizeTo(step.Text, words.SentenceLength), words.SanitizeTo(step.Command, words.SentenceLength)})
	}
	return d
}

// judged adds the verdicts.
func (d *Document) judged(in Input, summaries []summary.Case) {
	r := in.Result
	d.Verdict, d.limit = r.Verdict, r.Policy.Slower
	d.Outcome = map[ratchet.Severity]string{ratchet.SeverityPass: "pass", ratchet.SeverityNoAnswer: "no answer", ratchet.SeverityFail: "fail"}[r.Severity()]
	d.Sections = sections(in, summaries)
	d.Counts = counts(d.Sections)
	d.Sentence = d.lead(r)
	d.Headline = headlineOf(d.Counts)
	d.Warnings = append(words.SanitizeAll(r.Warnings, words.SentenceLength), d.Warnings...)
	if r.Suite != nil {
		d.Suite = words.SanitizeTo(r.Suite.Sentence, words.SentenceLength)
	}
}

// lead is the one sentence a reader must not miss: the worst case, and whether all cases
// together got worse.
func (d *Document) lead(r *ratchet.Result) string {
	if len(r.Cases) < 2 {
		return words.SanitizeTo(r.Sentence, words.SentenceLength)
	}
	var parts []string
	if len(r.Devices) > 0 {
		parts = append(parts, words.SanitizeTo(r.Sentence, words.SentenceLength))
	}
	first := d.Sections[0]
	switch first.Class {
	case ClassBroken, ClassRegressed, ClassMissing, ClassInconclusive:
		parts = append(parts, fmt.Sprintf("The worst case is %s: %s", first.Cases[0].Name, first.Cases[0].Sentence))
	case ClassImproved, ClassNew, ClassUnchanged, ClassSkipped, ClassMeasured:
		if d.Verdict.Severity() != ratchet.SeverityPass { // the reason is not in the cases
			return words.SanitizeTo(r.Sentence, words.SentenceLength)
		}
		parts = append(parts, fmt.Sprintf("No case is worse by %s or more.", words.Percent(d.limit)))
	}
	if r.Suite != nil && r.Suite.Verdict == ratchet.Regression {
		parts = append(parts, words.SanitizeTo(r.Suite.Sentence, words.SentenceLength))
	}
	if left := r.LeftOut(); left != "" {
		parts = append(parts, words.SanitizeTo(left, words.SentenceLength))
	}
	return strings.Join(parts, " ")
}

// Cases returns the number of cases in the document.
func (d *Document) Cases() int {
	n := 0
	for _, s := range d.Sections {
		n += len(s.Cases)
	}
	return n
}

// Changed returns the cases that may need attention, worst first.
func (d *Document) Changed() []Case {
	var list []Case
	for _, s := range d.Sections {
		if !s.Folded {
			list = append(list, s.Cases...)
		}
	}
	return list
}

// about returns the record whose suite and device the report describes; nil if none.
func (in Input) about() *measure.Run {
	if in.Run == nil && len(in.Sides.Candidate) > 0 {
		return in.Sides.Candidate[0]
	}
	return in.Run
}

func title(in Input) string {
	run := in.about()
	if run == nil {
		return cmp.Or(words.SanitizeTo(in.Name, words.NameLength), "comparison")
	}
	name := cmp.Or(words.SanitizeTo(run.Suite.Name, words.NameLength), "run")
	if device := words.SanitizeTo(run.Device.Name, words.NameLength); device != "" {
		name += " on " + device
	}
	return name
}

// headlineOf counts cases in the user's terms: worse, better, unchanged.
func headlineOf(counts []Count) string {
	var parts []string
	for _, c := range counts {
		if c.Cases > 0 {
			parts = append(parts, c.String())
		}
	}
	if len(parts) == 0 {
		return "no cases"
	}
	return strings.Join(parts, ", ")
}
