package ratchet

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/stats"
)

// ClassicWarning is added to every result of the classic policy.
const ClassicWarning = "policy classic: on recordings of identical code it reports 18 % as regressions (4 of 22 pairs); see docs/lab/judge.md"

// judgeClassic applies the decision table of pawl's first user literally: pooled samples per side,
// percentile bootstrap intervals of the medians, and Cliff's delta. It wrongly treats samples as
// independent.
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

// classic holds the inputs of the decision table for one case.
type classic struct {
	change          float64 // as a share of the base; positive is better
	worse           float64 // the same as a logarithm; positive is worse
	base, candidate stats.Interval
	delta           float64
}

func newClassic(e Evidence) classic {
	base, candidate := all(e.Base), all(e.Candidate)
	b, c := base.Median(), candidate.Median()
	return classic{
		change: e.sign() * (b - c) / b,
		worse:  e.sign() * math.Log(c/b),
		// The limit of the bootstrap for many resamples, which does not depend on a seed.
		base: base.MedianInterval(0.95, 0), candidate: candidate.MedianInterval(0.95, 0),
		delta: candidate.Cliff(base),
	}
}

func (c classic) verdict(p Policy) Verdict {
	overlap := c.base.Overlaps(c.candidate)
	switch {
	case c.change < -p.Slower && !overlap:
		return Regression
	case c.change > p.MinSpeedup && !overlap && math.Abs(c.delta) >= p.Delta:
		return Improvement
	case overlap || math.Abs(c.delta) < p.Delta:
		return Inconclusive
	default:
		return Maintained
	}
}

func (c classic) move(p Policy) Move {
	if c.change > p.MoveGain && !c.base.Overlaps(c.candidate) {
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
	return fmt.Sprintf("Classic: %s %s, %s, Cliff's delta %s (%s).", percent(math.Abs(c.change)), word, overlap, words.Signed(c.delta, 2), stats.EffectOf(c.delta))
}
