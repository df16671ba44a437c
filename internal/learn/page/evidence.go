package page

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// speedups are what a record says: geometric means over its cases against the reference
// and against the base, 0 where that side was not measured.
func speedups(m journal.Measured) (reference, base float64) {
	mean := func(other func(journal.MeasuredCase) float64) float64 {
		sum, n := 0.0, 0
		for _, c := range m.Cases {
			if ratio := other(c) / c.Candidate; c.Candidate > 0 && ratio > 0 && !math.IsInf(ratio, 0) {
				sum += math.Log(ratio)
				n++
			}
		}
		if n == 0 {
			return 0
		}
		return math.Exp(sum / float64(n))
	}
	return mean(func(c journal.MeasuredCase) float64 { return c.Reference }), mean(func(c journal.MeasuredCase) float64 { return c.Base })
}

// measuredFact is a record in one sentence.
func measuredFact(m journal.Measured) string {
	text := "measured " + words.Plural(len(m.Cases), "case")
	if m.Verdict != "" {
		text = m.Verdict + " over " + words.Plural(len(m.Cases), "case")
	}
	reference, base := speedups(m)
	if reference > 0 {
		text += fmt.Sprintf(", %.2fx of the reference's speed", reference)
	}
	if base > 0 {
		text += fmt.Sprintf(", %.2fx against the base", base)
	}
	return words.Sanitize(text)
}

// measurement is one record of a session, in its order.
type measurement struct {
	at    int // entry
	value journal.Measured
	did   journal.Did
	by    journal.Actor
}

func measurements(s *journal.Session) []measurement {
	var list []measurement
	for i, e := range s.Entries {
		if e.Did != nil && e.Did.Measured != nil {
			list = append(list, measurement{i, *e.Did.Measured, *e.Did, e.Actor})
		}
	}
	return list
}

// before is the last record before an entry, after the first one behind it; nil for none.
func recordsAround(list []measurement, at int) (before, after *measurement) {
	for i := range list {
		if list[i].at < at {
			before = &list[i]
		} else if after == nil {
			after = &list[i]
		}
	}
	return before, after
}

// claimView is what somebody said beside what is known about it.
type claimView struct {
	Clock, Stamp, Who string
	Program           bool
	Text              string
	Evidence          []string
	Word, Class       string // how the two go together
}

// claims are the notes of a session and its end. A note is text: it is never taken apart,
// only put beside the records. What the end says in fields is held against them.
func claims(s *journal.Session) []claimView {
	records := measurements(s)
	var list []claimView
	for i, e := range s.Entries {
		if e.Noted == nil && e.Ended == nil {
			continue
		}
		v := claimView{Clock: clock(e.Time), Stamp: stamp(e.Time), Who: actor(e.Actor), Program: e.Actor.Kind != journal.Person}
		if e.Noted != nil {
			v.note(*e.Noted, records, i)
		} else {
			v.end(*e.Ended, s, records)
		}
		list = append(list, v)
	}
	return list
}

func (v *claimView) note(n journal.Noted, records []measurement, at int) {
	v.Text, v.Word, v.Class = words.Sanitize(n.Text), "text", "same"
	before, after := recordsAround(records, at)
	if before == nil {
		v.Evidence = append(v.Evidence, "No record was there when this was written.")
	} else {
		v.Evidence = append(v.Evidence, "The last record before it: "+recordWords(*before)+".")
	}
	if n.Fix == "" && n.Lesson == "" {
		return
	}
	what := n.Fix
	if what == "" {
		what = n.Lesson
	}
	if after == nil {
		v.Evidence = append(v.Evidence, "Nothing was measured after "+words.Sanitize(what)+" was tried.")
		return
	}
	v.Evidence = append(v.Evidence, "Measured after "+words.Sanitize(what)+": "+recordWords(*after)+".")
}

// recordWords is a record with its name, so that it can be looked up.
func recordWords(m measurement) string {
	text := measuredFact(m.value)
	if m.value.Run != "" {
		text += " (run " + words.Sanitize(m.value.Run) + ")"
	}
	return text
}

// near is how far a claimed speed-up may be from the measured one: rounding, not more.
const near = 0.02

func (v *claimView) end(e journal.Ended, s *journal.Session, records []measurement) {
	v.Text = words.Sanitize(string(e.Outcome))
	if e.Text != "" {
		v.Text += ": " + words.Sanitize(e.Text)
	}
	if e.Speedup > 0 {
		v.Text += fmt.Sprintf(" (%.2fx)", e.Speedup)
	}
	v.Word, v.Class = "text", "same"
	wants := e.Outcome == journal.Reached || e.Outcome == journal.Better
	if len(records) == 0 {
		v.Evidence = []string{"Nothing was measured in this session."}
		if wants || e.Speedup > 0 {
			v.Word, v.Class = "no record", "fail"
		}
		return
	}
	last := records[len(records)-1]
	v.Evidence = []string{"The last record: " + recordWords(last) + "."}
	reference, base := speedups(last.value)
	measured := reference
	if measured == 0 {
		measured = base
	}
	if e.Speedup > 0 && (measured == 0 || math.Abs(e.Speedup/measured-1) > near) {
		v.Word, v.Class = "differs", "fail"
		v.Evidence = append(v.Evidence, "No record shows that speed-up.")
		return
	}
	switch {
	case !wants:
		return
	case len(definitionChanges(s)) > 0:
		v.Word, v.Class = "in doubt", "no-answer"
		v.Evidence = append(v.Evidence, "What it is measured with changed on the way: records before and after that are not comparable.")
	case e.Outcome == journal.Reached && s.Target > 0 && measured < s.Target*(1-near):
		v.Word, v.Class = "differs", "fail"
		v.Evidence = append(v.Evidence, fmt.Sprintf("The target was %.2fx.", s.Target))
	case e.Outcome == journal.Better && measured <= 1 && !improved(records):
		v.Word, v.Class = "differs", "fail"
		v.Evidence = append(v.Evidence, "No record of this session is an improvement.")
	default:
		v.Word, v.Class = "agrees", "pass"
	}
}

func improved(records []measurement) bool {
	for _, r := range records {
		if r.value.Verdict == "improvement" {
			return true
		}
	}
	return false
}

// definitionView is a moment at which what a kernel is measured with became another.
type definitionView struct{ Clock, Stamp, Who, Run, Before, After string }

func definitionChanges(s *journal.Session) []definitionView {
	var list []definitionView
	last := ""
	for _, e := range s.Entries {
		if e.Did == nil || e.Did.Definition == "" {
			continue
		}
		if last != "" && e.Did.Definition != last {
			list = append(list, definitionView{
				clock(e.Time), stamp(e.Time), actor(e.Actor), commandLine(e.Did.Command, e.Did.Args),
				short(last), short(e.Did.Definition),
			})
		}
		last = e.Did.Definition
	}
	return list
}

// short is the beginning of a digest.
func short(digest string) string {
	text := []rune(words.Sanitize(digest))
	return string(text[:min(len(text), 12)])
}
