package sweep

import (
	"math"

	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// judge sets how many rounds a claim needs. It is the gate's policy, so that a sweep and a
// gate do not contradict each other on the same numbers.
var judge = ratchet.Default()

// compare computes the evidence from the rounds that two implementations share: the
// logarithm of the second time over the first. Above 0 the first is faster. Step is the
// timer resolution as a fraction of the times.
func compare(of, against []float64, step float64) stats.Paired {
	// The step is a fraction here and a time in stats. Scaling it to the shorter time and
	// taking the max never underestimates it.
	var quantum float64
	for i := range of {
		quantum = max(quantum, step*min(of[i], against[i]))
	}
	p, err := stats.NewPaired(of, against, quantum)
	if err != nil { // impossible with medians that gather accepted
		return stats.Paired{SD: math.Inf(1)}
	}
	return widenFewRounds(p)
}

// singleEvidence computes the evidence for the time of one implementation: the logarithm of its
// medians.
func singleEvidence(times []float64, step float64) stats.Paired {
	logs := make([]float64, len(times))
	for i, t := range times {
		logs[i] = math.Log(t)
	}
	n := len(logs)
	p := stats.Paired{N: n, Mean: stats.Mean(logs), SD: math.Inf(1)}
	if n >= 2 {
		p.Seen = stats.StdDev(logs)
		// A timer step shifts all rounds by the same amount, so more rounds do not help.
		p.SD = max(p.Seen, step/math.Sqrt(12)*math.Sqrt(float64(n)))
	}
	return widenFewRounds(p)
}

// widenFewRounds assumes at least the usual spread for few rounds: four equal numbers can be luck.
func widenFewRounds(p stats.Paired) stats.Paired {
	if p.N < judge.FewRounds {
		p.SD = max(p.SD, judge.FewSpread)
	}
	return p
}

// enoughRounds reports whether there are enough rounds to decide anything.
func enoughRounds(p stats.Paired) bool { return p.N >= judge.MinRounds }

// ratio returns the mean ratio. Its interval needs as many rounds as a claim.
func ratio(p stats.Paired) Ratio {
	r := Ratio{Value: math.Exp(p.Mean)}
	if enoughRounds(p) {
		r.Interval = interval(p)
	}
	return r
}

func interval(p stats.Paired) *Range {
	i := p.Ratio(Level).Interval
	if !(i.Low > 0) || math.IsInf(i.High, 0) {
		return nil
	}
	return &Range{i.Low, i.High}
}

// twoSided returns the two-sided P value of no difference.
func twoSided(p stats.Paired) float64 {
	if !enoughRounds(p) {
		return 1
	}
	return min(2*min(p.Above(0), p.Below(0)), 1)
}
