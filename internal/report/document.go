package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Input is what a document is made of. A run, a result, or both; all else may be
// left out.
type Input struct {
	Run    *measure.Run
	Result *ratchet.Result
	Name   string // of the suite, for where there is no record
	Sides  Sides  // of the comparison, where they are not "base" and "candidate" of Run

	// Commit and Base are what was compared with what. The record knows them if pawl
	// built both sides.
	Commit, Base string

	Stages  []Stage // what came before measuring, in order
	Forgets bool    // no baseline is kept: none moves with an improvement
	Paths   Paths
	Links   []Link
	Next    []Step             // what else to do, after what the verdicts ask for
	History map[string][]Point // of a case, by its name
	Whys    []Why              // what profiles say of cases
	Now     time.Time          // when the report is made; none is shown if it is zero
}

// Sides says which samples belong to the two sides of a result.
type Sides struct {
	Base, Candidate         []*measure.Run
	BaseName, CandidateName string // implementations; empty for "base" and "candidate"
}

// Paths are where things were written, as a reader of the report can open them.
type Paths struct {
	Record   string `json:"record,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	Markdown string `json:"markdown,omitempty"`
	HTML     string `json:"html,omitempty"`
	Picture  string `json:"picture,omitempty"`
}

// Link leads to something on the web: a CI run, an artifact.
type Link struct{ Title, URL string }

// Point is one earlier value of a case.
type Point struct {
	At     time.Time
	Commit string
	Value  float64
}

// Document is what a report says, in order, whatever the format. Text in it is
// plain: see plain.
type Document struct {
	Title    string          // "matmul on NVIDIA L4"
	Verdict  ratchet.Verdict // empty where nothing was judged
	Outcome  string          // "pass", "fail" or "no answer"; empty where nothing was judged
	Headline string          // "1 regression, 1 improvement, 25 unchanged"
	Sentence string          // the worst of it, for who reads no further
	Counts   []Count
	Suite    string // what is said of all cases together
	Facts    []Fact
	Stages   []Stage // those before measuring that are not green
	Sections []Section
	Whys     []Reason // why cases are as they are, in their order
	Next     []Step
	Warnings []string
	Links    []Link
	Paths    Paths
	Made     string // when; empty if nobody said

	run    *measure.Run
	result *ratchet.Result
	whys   []Why   // as they were given
	limit  float64 // what the policy calls slower
	draw   *drawer
}

// Fact is one thing that is known, with its name.
type Fact struct{ Label, Text string }

// NewDocument arranges what there is to say.
func NewDocument(in Input) *Document {
	d := &Document{Paths: in.Paths, run: in.Run, result: in.Result, whys: in.Whys, draw: newDrawer(in)}
	for _, l := range in.Links {
		d.Links = append(d.Links, Link{plain(l.Title, nameLength), l.URL})
	}
	if !in.Now.IsZero() {
		d.Made = in.Now.UTC().Format("2006-01-02 15:04 UTC")
	}
	d.Title = title(in)
	d.Facts, d.Stages = facts(in), loud(in.Stages)
	var summaries []Summary
	if in.Run != nil {
		summaries = Summarise(in.Run)
		d.Warnings = plainAll(Warnings(in.Run, summaries), sentenceLength)
	}
	if in.Result == nil {
		d.Sections = []Section{measuredSection(in, summaries)}
		d.Headline = Plural(len(summaries), "case") + " measured"
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
		d.Next = append(d.Next, Step{plain(step.Text, sentenceLength), plain(step.Command, sentenceLength)})
	}
	return d
}

// judged adds what the judge says.
func (d *Document) judged(in Input, summaries []Summary) {
	r := in.Result
	d.Verdict, d.limit = r.Verdict, r.Policy.Slower
	d.Outcome = map[ratchet.Severity]string{ratchet.Yes: "pass", ratchet.NoAnswer: "no answer", ratchet.No: "fail"}[r.Severity()]
	d.Counts = counts(r)
	d.Sections = sections(in, summaries)
	d.Sentence = d.lead(r)
	d.Headline = headlineOf(d.Counts)
	d.Warnings = append(plainAll(r.Warnings, sentenceLength), d.Warnings...)
	if r.Suite != nil {
		d.Suite = plain(r.Suite.Sentence, sentenceLength)
	}
}

// lead is what a reader must know if it is the only thing they read: the worst case,
// and whether all of them together got worse.
func (d *Document) lead(r *ratchet.Result) string {
	if len(r.Cases) < 2 {
		return plain(r.Sentence, sentenceLength)
	}
	var parts []string
	first := d.Sections[0]
	switch first.Class {
	case ClassBroken, ClassRegressed, ClassMissing, ClassInconclusive:
		parts = append(parts, fmt.Sprintf("Worst is %s: %s", first.Cases[0].Name, first.Cases[0].Sentence))
	case ClassImproved, ClassNew, ClassUnchanged, ClassMeasured:
		if d.Verdict.Severity() != ratchet.Yes { // for a reason that is not in the cases
			return plain(r.Sentence, sentenceLength)
		}
		parts = append(parts, fmt.Sprintf("No case is worse by %s or more.", Percent(d.limit)))
	}
	if r.Suite != nil && r.Suite.Verdict == ratchet.Regression {
		parts = append(parts, plain(r.Suite.Sentence, sentenceLength))
	}
	return strings.Join(parts, " ")
}

// Cases counts all cases of the document.
func (d *Document) Cases() int {
	n := 0
	for _, s := range d.Sections {
		n += len(s.Cases)
	}
	return n
}

// Changed are the cases that somebody may want to do something about, worst first.
func (d *Document) Changed() []Case {
	var list []Case
	for _, s := range d.Sections {
		if !s.Folded {
			list = append(list, s.Cases...)
		}
	}
	return list
}

// about is the record whose suite and device the report is about; nil if there is none.
func (in Input) about() *measure.Run {
	if in.Run == nil && len(in.Sides.Candidate) > 0 {
		return in.Sides.Candidate[0]
	}
	return in.Run
}

func title(in Input) string {
	run := in.about()
	if run == nil {
		return cmp.Or(plain(in.Name, nameLength), "comparison")
	}
	name := cmp.Or(plain(run.Suite.Name, nameLength), "run")
	if device := plain(run.Device.Name, nameLength); device != "" {
		name += " on " + device
	}
	return name
}

// headlineOf counts in the words of the user: what is worse, what is better, what is
// the same.
func headlineOf(counts []Count) string {
	var parts []string
	for _, c := range counts {
		if c.Cases > 0 {
			parts = append(parts, c.String())
		}
	}
	if len(parts) == 0 {
		return "no case"
	}
	return strings.Join(parts, ", ")
}
