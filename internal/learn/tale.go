package learn

import (
	"math"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Tale is one session in figures: how long each part of the way took, what went wrong on
// it, and what came of it.
type Tale struct {
	ID        string        `json:"id"`
	Goal      string        `json:"goal,omitempty"`
	Benchmark string        `json:"benchmark,omitempty"`
	GPU       string        `json:"gpu,omitempty"`
	By        journal.Actor `json:"by"`
	Began     time.Time     `json:"began"`
	Open      bool          `json:"open,omitempty"` // it goes on

	Minutes float64 `json:"minutes"`
	Planned float64 `json:"planned,omitempty"` // minutes
	// Dollars is what the device cost for as long as the session went on, where its price is
	// known, else what its commands cost.
	Dollars float64 `json:"dollars"`
	Device  float64 `json:"device_seconds"`

	// Minutes from the start to the first of each; nil where it never came.
	Build      *float64 `json:"minutes_to_build,omitempty"`
	Reference  *float64 `json:"minutes_to_reference,omitempty"`
	Bottleneck *float64 `json:"minutes_to_bottleneck,omitempty"` // the first profile

	Spans []Span `json:"spans"`           // what the minutes went to, in order
	Marks []Mark `json:"marks,omitempty"` // stops, overrides and mistakes, in order
	Tries []Try  `json:"tries,omitempty"`

	Wrong     int `json:"wrong_optimisations"`
	Stops     int `json:"stops"`
	Overrides int `json:"overrides"`
	Missed    int `json:"missed"` // stops that gates would have made in a session held without them

	Outcome journal.Result `json:"outcome,omitempty"`
	Text    string         `json:"text,omitempty"` // how it ended, in the words of whoever ended it; not to be trusted
	// Start and Speedup are against the reference, at the first and the last measurement; 0
	// where it was not measured. Gain is the last measurement against the first, as a
	// logarithm, nil where there are not two.
	Start   float64  `json:"start_speedup,omitempty"`
	Speedup float64  `json:"speedup,omitempty"`
	Gain    *float64 `json:"gain,omitempty"`

	Forecast *journal.Forecast `json:"forecast,omitempty"` // made when it began
}

// Try is an attempt with what is wrong about it.
type Try struct {
	journal.Attempt
	Minute float64  `json:"minute"`          // from the start
	Prior  float64  `json:"prior,omitempty"` // gain that its rule expected, as a logarithm; 0 for none
	Wrong  []string `json:"wrong,omitempty"` // "without a profile", "2 variables at once", ...
}

// Tell makes a session's tale; now is when it is told, for one that goes on.
func Tell(s *journal.Session, now time.Time) Tale {
	t := Tale{
		ID: s.ID, Goal: s.Goal, Benchmark: s.Benchmark, GPU: s.GPU, Began: s.Began, Open: s.Ended == nil,
		Minutes: s.Minutes(now), Planned: s.Planned, Forecast: s.Forecast,
	}
	if len(s.Entries) > 0 {
		t.By = s.Entries[0].Actor
	}
	t.Device, t.Dollars = s.Spent()
	if s.Price > 0 {
		t.Dollars = t.Minutes / 60 * s.Price
	}
	t.firsts(s)
	t.results(s)
	t.tries(s)
	t.Spans = spans(s, t.Minutes)
	t.Marks = marks(s, &t)
	for _, m := range t.Marks {
		switch m.Kind { //nolint:exhaustive // the others are not counted
		case MarkStop:
			t.Stops++
		case MarkOverride:
			t.Overrides++
		case MarkMissed:
			t.Missed++
		}
	}
	return t
}

// since is minutes from the start of a session; a clock that was set back makes it 0.
func since(s *journal.Session, at time.Time) float64 { return max(0, at.Sub(s.Began).Minutes()) }

// firsts finds when the way's stations were reached.
func (t *Tale) firsts(s *journal.Session) {
	reach := func(station **float64, at time.Time) {
		if *station == nil {
			minutes := since(s, at)
			*station = &minutes
		}
	}
	for _, e := range s.Entries {
		if e.Did == nil {
			continue
		}
		if b := e.Did.Built; b != nil && b.OK || hasCandidate(e.Did.Measured) {
			reach(&t.Build, e.Time)
		}
		if speedup(e.Did.Measured, referenceOf) > 0 || hasReference(e.Did.Measured) {
			reach(&t.Reference, e.Time)
		}
		if p := e.Did.Profiled; p != nil && p.Bottleneck != "" {
			reach(&t.Bottleneck, e.Time)
		}
	}
}

// results takes what was measured first and last.
func (t *Tale) results(s *journal.Session) {
	var first, last *journal.Measured
	for _, e := range s.Entries {
		if e.Did == nil || !hasCandidate(e.Did.Measured) {
			continue
		}
		if last = e.Did.Measured; first == nil {
			first = last
		}
		if x := speedup(last, referenceOf); x > 0 {
			if t.Speedup = x; t.Start == 0 {
				t.Start = x
			}
		}
	}
	if gain, ok := between(first, last); ok && first != last {
		t.Gain = &gain
	}
	if s.Ended == nil {
		return
	}
	t.Outcome, t.Text = s.Ended.Outcome, s.Ended.Text
	if s.Ended.Speedup > 0 {
		t.Speedup = s.Ended.Speedup
	}
}

func hasCandidate(m *journal.Measured) bool {
	return m != nil && anyCase(m, func(c journal.MeasuredCase) bool { return c.Candidate > 0 })
}

func hasReference(m *journal.Measured) bool {
	return m != nil && anyCase(m, func(c journal.MeasuredCase) bool { return c.Reference > 0 })
}

func anyCase(m *journal.Measured, is func(journal.MeasuredCase) bool) bool {
	return slices.ContainsFunc(m.Cases, is)
}

func referenceOf(c journal.MeasuredCase) float64 { return c.Reference }

// speedup is how many times as fast as another side the candidate is, the geometric mean
// over the cases that have both; 0 where none has.
func speedup(m *journal.Measured, other func(journal.MeasuredCase) float64) float64 {
	if m == nil {
		return 0
	}
	sum, n := 0.0, 0
	for _, c := range m.Cases {
		if o := other(c); o > 0 && c.Candidate > 0 {
			sum, n = sum+math.Log(o/c.Candidate), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / float64(n))
}

// between is the mean gain from one measurement to another over the cases that both have.
func between(first, last *journal.Measured) (float64, bool) {
	if first == nil || last == nil {
		return 0, false
	}
	before := map[string]float64{}
	for _, c := range first.Cases {
		before[c.Case] = c.Candidate
	}
	sum, n := 0.0, 0
	for _, c := range last.Cases {
		if b := before[c.Case]; b > 0 && c.Candidate > 0 {
			sum, n = sum+math.Log(b/c.Candidate), n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}
