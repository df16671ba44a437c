package sweep

import (
	"math"
	"sort"

	"github.com/goatnote-inc/pawl/stats"
)

const (
	beta      = 0.05   // a detectable difference is missed 1 time in 20
	maxRounds = 10_000 // more than any user would wait for
)

// powers caches detectable shifts. The configs of a sweep need the same value with
// different spreads, and computing it takes an integral.
type powers map[question]float64

type question struct {
	rounds int
	alpha  float64
}

// smallestShift returns the smallest detectable shift, in standard deviations of a round.
func (w powers) smallestShift(q question) float64 {
	shift, known := w[q]
	if !known {
		shift = stats.MinDetectable(1, q.rounds, q.alpha, beta)
		w[q] = shift
	}
	return shift
}

// of returns what the evidence for the pairs of a config could detect; nil if it can decide
// nothing.
func (w powers) of(pairs []stats.Paired) *Power {
	var worst *stats.Paired
	for i, p := range pairs {
		if enoughRounds(p) && (worst == nil || p.SD > worst.SD) {
			worst = &pairs[i]
		}
	}
	if worst == nil {
		return nil
	}
	// The first step of Holm's test over the pairs is the strictest.
	alpha := (1 - Claims) / 2 / float64(len(pairs))
	return &Power{
		Rounds: worst.N, Spread: math.Expm1(worst.SD),
		Detectable: math.Expm1(w.smallestShift(question{worst.N, alpha}) * spreadAt(*worst, worst.N)),
		For1:       roundsFor(0.01, *worst, alpha), For3: roundsFor(0.03, *worst, alpha),
	}
}

// roundsFor returns the min number of rounds that detects a difference; 0 if that number is
// too large.
func roundsFor(difference float64, p stats.Paired, alpha float64) int {
	shift := math.Log1p(difference)
	enough := func(n int) bool {
		return n >= judge.MinRounds && stats.Power(shift, spreadAt(p, n), n, alpha) >= 1-beta
	}
	// The number of rounds if the spread were known exactly. The true number is slightly
	// larger.
	least := math.Pow((stats.NormalQuantile(alpha)+stats.NormalQuantile(beta))*spreadAt(p, judge.FewRounds)/shift, 2)
	if least >= maxRounds {
		return 0
	}
	low := int(least / 2)
	high := 2*low + 32
	if high > maxRounds || !enough(high) {
		high = maxRounds
	}
	n := low + sort.Search(high-low, func(i int) bool { return enough(low + i) })
	return n % maxRounds
}

// spreadAt returns the standard deviation that a comparison with this many rounds would
// use. The part caused by the timer step does not shrink with more rounds.
func spreadAt(p stats.Paired, rounds int) float64 {
	if p.N < judge.FewRounds {
		return p.SD // their spread may be luck, so do not rely on it
	}
	hidden := (p.SD*p.SD - p.Seen*p.Seen) / float64(p.N)
	sd := math.Sqrt(p.Seen*p.Seen + float64(rounds)*max(hidden, 0))
	if rounds < judge.FewRounds {
		sd = max(sd, judge.FewSpread)
	}
	return sd
}
