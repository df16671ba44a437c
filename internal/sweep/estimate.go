package sweep

import (
	"math"

	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// What a few rounds may claim is the judge's rule, so that a sweep and a gate do
// not contradict each other on the same numbers.
var judge = ratchet.Default()

// compare is the evidence of rounds that two implementations share: the logarithm
// of the time of the second over that of the first, so that above 0 the first is faster.
// Step is the timer's, as a share of the times.
func compare(of, against []float64, step float64) stats.Paired {
	// The step is a share here and a time there: scaled to the shortest time it is never
	// taken for less than it is.
	var quantum float64
	for i := range of {
		quantum = max(quantum, step*min(of[i], against[i]))
	}
	p, err := stats.NewPaired(of, against, quantum)
	if err != nil { // not with medians that gather let through
		return stats.Paired{SD: math.Inf(1)}
	}
	return careful(p)
}

// alone is the evidence for the time of one implementation: the logarithm of its
// medians.
func alone(times []float64, step float64) stats.Paired {
	logs := make([]float64, len(times))
	for i, t := range times {
		logs[i] = math.Log(t)
	}
	n := len(logs)
	p := stats.Paired{N: n, Mean: stats.Mean(logs), SD: math.Inf(1)}
	if n >= 2 {
		p.Seen = stats.StdDev(logs)
		// A step of the timer shifts all rounds by the same amount: more of them do not help.
		p.SD = max(p.Seen, step/math.Sqrt(12)*math.Sqrt(float64(n)))
	}
	return careful(p)
}

// careful takes few rounds to spread by at least what they usually do: four equal
// numbers can be luck.
func careful(p stats.Paired) stats.Paired {
	if p.N < judge.FewRounds {
		p.SD = max(p.SD, judge.FewSpread)
	}
	return p
}

// decisive tells whether there are enough rounds to decide anything.
func decisive(p stats.Paired) bool { return p.N >= judge.MinRounds }

// ratio is the mean ratio with its interval, which needs as many rounds as a claim.
func ratio(p stats.Paired) Ratio {
	r := Ratio{Value: math.Exp(p.Mean)}
	if decisive(p) {
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

// twoSided is the P of no difference.
func twoSided(p stats.Paired) float64 {
	if !decisive(p) {
		return 1
	}
	return min(2*min(p.Above(0), p.Below(0)), 1)
}
