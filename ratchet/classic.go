package ratchet

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/stats"
)

// ClassicWarning is said wherever the classic policy is used.
const ClassicWarning = "policy classic: on recordings of identical code it calls 18 % a regression (4 of 22 pairs); see docs/lab/judge.md"

// judgeClassic applies the table that pawl's first user wrote down, to the letter:
// all samples of a side together, percentile bootstrap intervals of the medians, Cliff's
// delta. It takes samples for independent, which they are not.
func judgeClassic(p Policy, evidence []Evidence) Result {
	r := Result{Schema: Schema, Policy: p, Counts: map[Verdict]int{}, Warnings: []string{ClassicWarning}}
	for _, s := range study(p, evidence) {
		s.holm = min(s.slower, s.faster)
		if s.verdict == "" && len(s.Base) > 0 && len(s.Candidate) > 0 {
			c := newClassic(s.Evidence)
			s.verdict, s.mean, s.delta = c.verdict(p), c.worse, c.delta
			s.move = c.move(p)
			j := s.judgement(p)
			j.Sentence = c.sentence()
			r.Cases = append(r.Cases, j)
			continue
		}
		if s.verdict == "" {
			s.verdict, s.why = Inconclusive, fewRounds
		}
		r.Cases = append(r.Cases, s.judgement(p))
	}
	r.conclude()
	return r
}

// classic is a case as the table sees it.
type classic struct {
	change          float64 // above 0 is better, as a share of the base
	worse           float64 // the same as a logarithm, above 0 is worse
	base, candidate stats.Interval
	delta           float64
}

func newClassic(e Evidence) classic {
	base, candidate := all(e.Base), all(e.Candidate)
	b, c := base.Median(), candidate.Median()
	return classic{
		change: e.sign() * (b - c) / b,
		worse:  e.sign() * math.Log(c/b),
		// The limit of the bootstrap with many resamples: the same for every seed.
		base: base.MedianInterval(0.95, 0), candidate: candidate.MedianInterval(0.95, 0),
		delta: candidate.Cliff(base),
	}
}

func (c classic) verdict(p Policy) Verdict {
	overlap := c.base.Overlaps(c.candidate)
	switch {
	case c.change < -p.Slower && !overlap:
		return Regression
	case c.change > p.Faster && !overlap && math.Abs(c.delta) >= p.Delta:
		return Improvement
	case overlap || math.Abs(c.delta) < p.Delta:
		return Inconclusive
	default:
		return Maintained
	}
}

func (c classic) move(p Policy) Move {
	if c.change > p.Moves && !c.base.Overlaps(c.candidate) {
		return Moves
	}
	return Holds
}

func (c classic) sentence() string {
	overlap := "the intervals of the medians overlap"
	if !c.base.Overlaps(c.candidate) {
		overlap = "the intervals of the medians do not overlap"
	}
	word := "faster"
	if c.change < 0 {
		word = "slower"
	}
	return fmt.Sprintf("Classic: %s %s, %s, Cliff's delta %+.2f (%s).", percent(math.Abs(c.change)), word, overlap, c.delta, stats.EffectOf(c.delta))
}
