package ratchet

import (
	"math"

	"github.com/goatnote-inc/pawl/stats"
)

// allowUndecided lets a run pass with a few undecided cases. Of a thousand cases some always stay undecided, and a
// gate that failed because of them would always fail. There must be few of them, and each must be
// excusable.
func (r *Result) allowUndecided(cases []*caseAnalysis) {
	gated := 0
	var names []string
	for _, c := range cases {
		if !c.Gate || c.Identical { // what was not measured cannot make up for it
			continue
		}
		gated++
		if c.verdict != Inconclusive {
			continue
		}
		if !c.mayStayUndecided() {
			return
		}
		names = append(names, c.Case.Name())
	}
	if len(names) <= int(math.Round(r.Policy.Undecided*float64(gated))) {
		r.Undecided = names
	}
}

// mayStayUndecided reports whether a case may stay undecided. A case that looks slower may not, nor may one that
// is noisier than its base: a change could hide in its own noise.
func (s *caseAnalysis) mayStayUndecided() bool {
	return s.Paired && (s.why == tooNoisy || s.why == manyCases) && s.mean < s.limits.slower && !s.noisier()
}

// muchNoisier is the ratio to the base's spread above which the candidate counts as noisier.
const muchNoisier = 2

// noisier reports whether the candidate is noisier than the base, in its rounds or in its wild rounds.
func (s *caseAnalysis) noisier() bool {
	spread := func(rounds []Round) float64 {
		logs := make([]float64, len(rounds))
		for i, r := range rounds {
			logs[i] = math.Log(r.Median)
		}
		return stats.RobustSD(logs)
	}
	base, candidate := s.pairs()
	return spread(candidate) > muchNoisier*max(spread(base), minSpread) || s.outliers > 0 && headsOrMore(s.slow, s.outliers) < 0.1
}
