package ratchet

import (
	"math"

	"github.com/goatnote-inc/pawl/stats"
)

// excuse lets a run pass with a few cases that have no answer. Of a thousand cases some are always left
// over, and a gate that fails by that would fail every time. All of them must be excusable, and few enough.
func (r *Result) excuse(cases []*studied) {
	gated := 0
	var names []string
	for _, c := range cases {
		if !c.Gate {
			continue
		}
		gated++
		if c.verdict != Inconclusive {
			continue
		}
		if !c.excusable() {
			return
		}
		names = append(names, c.Case.Name())
	}
	if len(names) <= int(math.Round(r.Policy.Undecided*float64(gated))) {
		r.Undecided = names
	}
}

// excusable reports whether a case without an answer may stay so. One that looks slower may not, and neither
// may one that is noisier than its base: a change could hide in its own noise.
func (s *studied) excusable() bool {
	return s.Paired && (s.why == tooNoisy || s.why == manyCases) && s.mean < s.limits.slower && !s.noisier()
}

// muchNoisier is by how much the candidate's rounds may spread more than the base's.
const muchNoisier = 2

// noisier reports whether the candidate's side is noisier than the base's, in its rounds or in those that are wild.
func (s *studied) noisier() bool {
	spread := func(rounds []Round) float64 {
		logs := make([]float64, len(rounds))
		for i, r := range rounds {
			logs[i] = math.Log(r.Median)
		}
		return stats.RobustSD(logs)
	}
	base, candidate := s.pairs()
	return spread(candidate) > muchNoisier*max(spread(base), leastSpread) || s.wild > 0 && headsOrMore(s.slow, s.wild) < 0.1
}
