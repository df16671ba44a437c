package report

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Case is one row of a report, with its evidence.
type Case struct {
	ID       int // from 1, in the order of the document
	Name     string
	Unit     string
	Verdict  ratchet.Verdict // empty if not judged
	Gate     bool            // may fail the change
	Excused  string          // why it may not fail the change although it would: a quarantine
	Fails    bool            // it fails the change
	Moves    bool            // its baseline moves
	Person   bool            // only a human decision can settle it
	Base     string          // "100.2 us"; empty if there is none
	Now      string
	Change   string  // "6.0 % slower"
	Range    string  // interval of the change: "+5.2 to +6.8 %"
	Effect   *Effect // Change and Range as numbers, for figures
	Sentence string
	Notes    []string // other changes, which are not gated
	Numbers  Numbers  // the sides next to each other
	Evidence []Fact
	Why      *Reason // what its profiles show; nil without profiles

	key     string         // its name in the record
	facts   *ratchet.Facts // nil if nothing could be compared
	seconds float64        // the candidate's median, for time metrics
}

// gateNote says why a case cannot fail the change; empty if it can.
func (c Case) gateNote() string {
	switch {
	case c.Excused != "":
		return " (quarantined)"
	case !c.Gate:
		return " (watched)"
	default:
		return ""
	}
}

// Effect is a relative change in which more is worse, for every metric.
type Effect struct{ At, Low, High float64 }

// caseBuilder collects the data of each case.
type caseBuilder struct {
	summaries map[string]summary.Case
}

func newCaseBuilder(summaries []summary.Case) *caseBuilder {
	b := &caseBuilder{map[string]summary.Case{}}
	for _, s := range summaries {
		b.summaries[s.Name] = s
	}
	return b
}

// judged builds a case that has a verdict.
func (b *caseBuilder) judged(j ratchet.Judgment) Case {
	name := j.Name
	if len(j.Devices) > 0 {
		name += " on " + strings.Join(j.Devices, ", ")
	}
	c := Case{
		Name: words.SanitizeTo(name, words.NameLength), Verdict: j.Verdict, Gate: j.Gate, Fails: j.Fails(), Moves: j.Ratchet == ratchet.Moves, Person: j.Needs != "",
		Sentence: words.SanitizeTo(j.Sentence, words.SentenceLength), Notes: words.SanitizeAll(j.Watch, words.SentenceLength),
		key: j.Name,
	}
	if j.Cause != "" {
		c.Notes = append(c.Notes, "cause: "+words.SanitizeTo(j.Cause, words.NameLength))
	}
	if j.Reported {
		c.Notes = append(c.Notes, "reported by the harness or the driver: no clock of pawl checks it")
	}
	switch c.Excused = words.SanitizeTo(j.Quarantine, words.SentenceLength); {
	case c.Excused != "":
		c.Notes = append(c.Notes, "quarantined ("+c.Excused+"): it cannot fail the change")
	case !j.Gate:
		c.Notes = append(c.Notes, "only watched: it cannot fail the change")
	}
	sides := b.summaries[j.Name]
	if j.Facts == nil {
		c.unpaired(sides)
		return c
	}
	f := j.Facts
	c.facts, c.Unit = f, f.Unit
	c.Base, c.Now = words.Quantity(f.Base.Median, f.Unit), words.Quantity(f.Now.Median, f.Unit)
	if f.HasRatio() {
		c.Change, c.Range = changeOf(f), rangeOf(f)
		c.Effect = newEffect(f.Better, f.Change, f.Change, f.Change)
	}
	if i := f.Interval; i != nil {
		c.Effect = newEffect(f.Better, f.Change, i.Low, i.High)
	}
	if f.Unit == "ns" {
		c.seconds = f.Now.Median / 1e9
	}
	c.Numbers = numbersOf(f, sides)
	c.Evidence = evidenceOf(f)
	return c
}

// unpaired fills in what is known about a case with fewer than two sides.
func (c *Case) unpaired(s summary.Case) {
	for _, side := range s.Sides {
		text := sideText(side, s.Unit)
		switch side.Implementation {
		case measure.Base:
			c.Base = text
		case measure.Candidate:
			c.Now = text
		}
	}
	if len(s.Sides) > 0 {
		c.Unit, c.Numbers = s.Unit, sidesTable(s)
	}
}

// measured builds a case that was not judged.
func (b *caseBuilder) measured(s summary.Case) Case {
	c := Case{Name: words.SanitizeTo(s.Name, words.NameLength), Unit: s.Unit, Numbers: sidesTable(s), key: s.Name}
	for _, side := range s.Sides {
		if side.Error != "" {
			c.Notes = append(c.Notes, words.SanitizeTo(side.Implementation+" failed: "+side.Error, words.SentenceLength))
		}
		if side.Ratio != 0 && c.Effect == nil {
			c.Change = change(side.Ratio, s.Unit)
			c.Effect = newEffect(s.Better, side.Ratio-1, side.RatioLow-1, side.RatioHigh-1)
		}
	}
	if len(s.Sides) > 0 {
		c.Now = sideText(s.Sides[0], s.Unit)
		if s.Unit == "ns" {
			c.seconds = s.Sides[0].P50 / 1e9
		}
	}
	return c
}

func sideText(s summary.Side, unit string) string {
	switch {
	case s.Samples > 0 || s.NoSamples:
		return words.Quantity(s.P50, unit)
	case s.Error != "":
		return "failed"
	default:
		return "no samples"
	}
}

// newEffect returns a change of a metric, with its interval, as an effect.
func newEffect(better measure.Better, at, low, high float64) *Effect {
	if better == measure.Higher {
		at, low, high = -at, -high, -low
	}
	return &Effect{at, low, high}
}

// changeOf describes a change in words, so that no sign needs interpreting.
func changeOf(f *ratchet.Facts) string {
	return change(1+f.Change, f.Unit)
}

func rangeOf(f *ratchet.Facts) string {
	switch i := f.Interval; {
	case i == nil:
		return ""
	case f.Change >= 1:
		return fmt.Sprintf("%.2fx to %.2fx", 1+i.Low, 1+i.High)
	case f.Change <= -0.5 && i.Low > -1:
		return fmt.Sprintf("%.2fx to %.2fx", 1/(1+i.High), 1/(1+i.Low))
	default:
		return words.Signed(100*i.Low, 1) + " to " + words.SignedPercent(i.High)
	}
}
