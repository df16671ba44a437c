package sweep

import (
	"math"
	"sort"

	"github.com/goatnote-inc/pawl/stats"
)

const (
	beta       = 0.05   // a detectable difference is missed once in 20 times
	mostRounds = 10_000 // more than anybody would wait for
)

// powers computes what rounds can show. Configs of a sweep ask the same question
// with other spreads, and its answer takes an integral, so it is kept.
type powers map[question]float64

type question struct {
	rounds int
	alpha  float64
}

// least is the smallest shift that is found, in standard deviations of a round.
func (w powers) least(q question) float64 {
	shift, known := w[q]
	if !known {
		shift = stats.LeastDetectable(1, q.rounds, q.alpha, beta)
		w[q] = shift
	}
	return shift
}

// of says what the evidence for the pairs of a config could have shown: nil where
// it can decide nothing.
func (w powers) of(pairs []stats.Paired) *Power {
	var worst *stats.Paired
	for i, p := range pairs {
		if decisive(p) && (worst == nil || p.SD > worst.SD) {
			worst = &pairs[i]
		}
	}
	if worst == nil {
		return nil
	}
	// The first step of Holm's test over the pairs, the hardest one.
	alpha := (1 - Claims) / 2 / float64(len(pairs))
	return &Power{
		Rounds: worst.N, Spread: math.Expm1(worst.SD),
		Detectable: math.Expm1(w.least(question{worst.N, alpha}) * spreadAt(*worst, worst.N)),
		For1:       roundsFor(0.01, *worst, alpha), For3: roundsFor(0.03, *worst, alpha),
	}
}

// roundsFor is the least number of rounds that finds a difference; 0 if there is no
// such number in reach.
func roundsFor(difference float64, p stats.Paired, alpha float64) int {
	shift := math.Log1p(difference)
	enough := func(n int) bool {
		return n >= judge.MinRounds && stats.Power(shift, spreadAt(p, n), n, alpha) >= 1-beta
	}
	// With a spread that is known, it would be so many: the true number is a little more.
	least := math.Pow((stats.NormalQuantile(alpha)+stats.NormalQuantile(beta))*spreadAt(p, judge.FewRounds)/shift, 2)
	if least >= mostRounds {
		return 0
	}
	low := int(least / 2)
	high := 2*low + 32
	if high > mostRounds || !enough(high) {
		high = mostRounds
	}
	n := low + sort.Search(high-low, func(i int) bool { return enough(low + i) })
	return n % mostRounds
}

// spreadAt is the standard deviation that a comparison of so many rounds would use.
// What comes from the timer's step alone does not get less with more rounds.
func spreadAt(p stats.Paired, rounds int) float64 {
	if p.N < judge.FewRounds {
		return p.SD // what they show may be luck, and is no ground for a promise
	}
	hidden := (p.SD*p.SD - p.Seen*p.Seen) / float64(p.N)
	sd := math.Sqrt(p.Seen*p.Seen + float64(rounds)*max(hidden, 0))
	if rounds < judge.FewRounds {
		sd = max(sd, judge.FewSpread)
	}
	return sd
}
