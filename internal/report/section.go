package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Section is one class of cases.
type Section struct {
	Class  Class
	Title  string // "Regressions"
	About  string // the meaning of the class, in a sentence
	Folded bool   // needs no attention
	Cases  []Case // worst first
}

// Class groups verdicts for display.
type Class string

// The classes in display order. ClassMeasured holds cases that were not judged.
const (
	ClassBroken       Class = "broken"
	ClassRegressed    Class = "regression"
	ClassMissing      Class = "missing"
	ClassInconclusive Class = "inconclusive"
	ClassImproved     Class = "improvement"
	ClassNew          Class = "new"
	ClassUnchanged    Class = "unchanged"
	ClassSkipped      Class = "skipped"
	ClassMeasured     Class = "measured"
)

var classes = []struct {
	class        Class
	one, many    string
	title, about string
	tone         chart.Tone
	verdicts     []ratchet.Verdict
}{
	{ClassBroken, "broken", "broken", "Broken", "The candidate failed, or its result is wrong.", chart.Bad, []ratchet.Verdict{ratchet.Broken}},
	{ClassRegressed, "regression", "regressions", "Regressions", "Clearly worse than the base, by the limit or more.", chart.Bad, []ratchet.Verdict{ratchet.Regression}},
	{ClassMissing, "missing", "missing", "Missing", "The base has them, the candidate does not.", chart.Bad, []ratchet.Verdict{ratchet.Missing}},
	{ClassInconclusive, "inconclusive", "inconclusive", "Inconclusive", "No answer yet: the rounds do not agree well enough.", chart.Open, []ratchet.Verdict{ratchet.Inconclusive}},
	{ClassImproved, "improvement", "improvements", "Improvements", "Clearly better than the base.", chart.Good, []ratchet.Verdict{ratchet.Improvement}},
	{ClassNew, "new", "new", "New", "The base does not have them.", chart.Soft, []ratchet.Verdict{ratchet.New}},
	{ClassUnchanged, "unchanged", "unchanged", "Unchanged", "Not worse by the limit or more.", chart.Soft, []ratchet.Verdict{ratchet.Maintained}},
	{ClassSkipped, "not measured", "not measured", "Not measured", "They cannot have changed: nothing differs from the base that they execute or read.", chart.Soft, []ratchet.Verdict{ratchet.Identical}},
}

// classOf returns the class of a verdict. An unknown verdict is inconclusive, so that it
// stays visible.
func classOf(v ratchet.Verdict) Class {
	for _, c := range classes {
		if slices.Contains(c.verdicts, v) {
			return c.class
		}
	}
	return ClassInconclusive
}

// tone returns the color of a class.
func (c Class) tone() chart.Tone {
	for _, class := range classes {
		if class.class == c {
			return class.tone
		}
	}
	return chart.Soft
}

// toneOf returns the color of a verdict, that of unchanged cases if there is none.
func toneOf(v ratchet.Verdict) chart.Tone {
	if v == "" {
		return chart.Soft
	}
	return classOf(v).tone()
}

// Count is the number of cases in a class.
type Count struct {
	Class Class
	Cases int
	Words string
}

// String returns the count in words: "2 regressions".
func (c Count) String() string { return fmt.Sprintf("%d %s", c.Cases, c.Words) }

// counts always lists regressions, improvements and unchanged, which readers look for
// first. It lists other classes only if they have cases.
func counts(sections []Section) []Count {
	var list []Count
	for _, class := range classes {
		c := Count{Class: class.class, Words: class.many}
		for _, s := range sections {
			if s.Class == class.class {
				c.Cases = len(s.Cases)
			}
		}
		if c.Cases == 1 {
			c.Words = class.one
		}
		if c.Cases > 0 || c.Class == ClassRegressed || c.Class == ClassImproved || c.Class == ClassUnchanged {
			list = append(list, c)
		}
	}
	return list
}

// sections groups the judged cases by class, worst first.
func sections(in Input, summaries []summary.Case) []Section {
	build := newCaseBuilder(summaries)
	var list []Section
	for _, class := range classes {
		s := Section{Class: class.class, Title: class.title, About: class.about, Folded: class.class == ClassUnchanged || class.class == ClassSkipped}
		for _, j := range in.Result.Cases {
			if classOf(j.Verdict) == class.class {
				s.Cases = append(s.Cases, build.judged(j))
			}
		}
		slices.SortStableFunc(s.Cases, worstFirst(class.class))
		if len(s.Cases) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// measuredSection returns the section of a run without verdicts, in the order of the
// record.
func measuredSection(summaries []summary.Case) Section {
	s := Section{Class: ClassMeasured, Title: "Cases"}
	build := newCaseBuilder(summaries)
	for _, c := range summaries {
		s.Cases = append(s.Cases, build.measured(c))
	}
	return s
}

// worstFirst sorts cases that may fail the change before watched ones, then by the largest
// loss; for improvements, by the largest gain.
func worstFirst(class Class) func(a, b Case) int {
	return func(a, b Case) int {
		if a.Gate != b.Gate {
			if a.Gate {
				return -1
			}
			return 1
		}
		weight := func(c Case) float64 {
			switch {
			case c.Effect == nil:
				return math.Inf(-1)
			case class == ClassImproved:
				return -c.Effect.At
			default:
				return c.Effect.At
			}
		}
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a.Name, b.Name))
	}
}
