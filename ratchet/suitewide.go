package ratchet

import (
	"maps"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// SuiteJudgment is the verdict on the geometric mean over the cases that both sides have. A slowdown of
// two percent everywhere is below every case's limit, but must not pass unnoticed.
type SuiteJudgment struct {
	Verdict  Verdict `json:"verdict"`
	Sentence string  `json:"sentence"`
	Cases    int     `json:"cases"`
	Rounds   float64 `json:"rounds"` // effective number of rounds of all cases together
	Change   float64 `json:"change"` // positive is worse
	Interval *Range  `json:"interval,omitempty"`
	Slower   float64 `json:"p_slower"`
}

// judgeSuite returns nil if there are fewer than two cases: the verdict of a single case says it all.
func judgeSuite(p Policy, evidence []Evidence) *SuiteJudgment {
	d, cases := suiteDifference(p, evidence)
	if cases < 2 || !d.known() {
		return nil
	}
	j := &SuiteJudgment{
		Verdict: Inconclusive, Cases: cases, Rounds: d.df + 1, Change: math.Expm1(d.mean), Slower: suiteP(p, d),
	}
	if i, ok := d.interval(0.95); ok {
		j.Interval = &Range{math.Expm1(i.Low), math.Expm1(i.High)}
	}
	limit := math.Log1p(p.Suite)
	switch {
	case j.Slower <= p.Alpha && d.mean >= limit:
		j.Verdict = Regression
	case d.below(0) <= p.Alpha && d.mean <= -math.Log1p(p.MinSpeedup):
		j.Verdict = Improvement
	case d.below(math.Log1p(p.Slower)) <= p.Beta && d.mean < limit:
		j.Verdict = Maintained
	}
	j.Sentence = j.sentence()
	return j
}

// suiteSuspicious reports whether the cases together look slower than allowed, without being certain yet.
func suiteSuspicious(p Policy, evidence []Evidence) bool {
	d, cases := suiteDifference(p, evidence)
	return cases >= 2 && d.known() && d.mean >= math.Log1p(p.Suite) && suiteP(p, d) > p.Alpha
}

func suiteP(p Policy, d difference) float64 {
	return stats.SpendingP([]float64{p.claim(d, math.Log1p(p.Suite), d.above(0))}, p.claimShares()[p.lookAt(d.n):])
}

// minError is the minimum error of a mean. It applies to rounds that are exactly equal, as with a coarse
// timer.
const minError = 1e-6

// suiteDifference returns the mean of the differences of all cases. Cases decided early have fewer rounds,
// and all cases of a round share what the machine did in it. So each round is treated as a cluster: the
// error comes from its contribution to the mean, and the degrees of freedom from how evenly the rounds are
// weighted. If all cases have the same rounds, this is the paired t test on the mean differences of the
// rounds.
func suiteDifference(p Policy, evidence []Evidence) (difference, int) {
	type point struct {
		round int
		d     float64
	}
	var cases [][]point
	rounds := 0
	for _, e := range evidence {
		// Derived metrics would count the same time twice.
		if !e.Gate || !e.Paired || e.Identical || e.CandidateError != "" || e.BaseError != "" || derived(e.Case) {
			continue
		}
		base, candidate := e.pairs()
		var list []point
		for i, ratio := range p.logRatios(base, candidate) {
			list = append(list, point{base[i].Index, e.sign() * ratio})
		}
		if len(list) >= 2 {
			cases = append(cases, list)
			rounds = max(rounds, len(list))
		}
	}
	if len(cases) == 0 {
		return difference{}, 0
	}
	weight, residual := map[int]float64{}, map[int]float64{}
	var mean float64
	for _, list := range cases {
		var own float64
		for _, pt := range list {
			own += pt.d / float64(len(list))
		}
		mean += own / float64(len(cases))
		w := 1 / float64(len(cases)*len(list))
		for _, pt := range list {
			weight[pt.round] += w
			residual[pt.round] += w * (pt.d - own)
		}
	}
	var squares, variance float64
	for _, r := range slices.Sorted(maps.Keys(weight)) { // sorted, so that sums are reproducible
		squares += weight[r] * weight[r]
		variance += residual[r] * residual[r]
	}
	effective := 1 / squares // number of rounds if all were weighted equally
	se := max(math.Sqrt(variance*effective/(effective-1)), minError)
	if rounds < p.FewRounds {
		se = max(se, p.FewSpread/math.Sqrt(effective))
	}
	return difference{n: rounds, mean: mean, se: se, df: effective - 1, spread: se * math.Sqrt(effective), varianceFactor: p.dependence().at(rounds)}, len(cases)
}

func derived(k measure.CaseKey) bool { return k.Metric != "" && k.Metric != measure.MetricTime }
