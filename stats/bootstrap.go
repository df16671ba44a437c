package stats

import (
	"math"
	"math/rand/v2"
)

// Bootstrap is the percentile bootstrap: how far a statistic moves when the data
// are drawn again from themselves. What is left zero takes its default. The same
// fields and the same data give the same interval.
type Bootstrap struct {
	Resamples int     // 10,000
	Level     float64 // 0.95
	Seed      uint64  // 42
}

func (b Bootstrap) withDefaults() Bootstrap {
	if b.Resamples <= 0 {
		b.Resamples = 10_000
	}
	if b.Level == 0 {
		b.Level = 0.95
	}
	if b.Seed == 0 {
		b.Seed = 42
	}
	return b
}

func (b Bootstrap) rng() *rand.Rand { return rand.New(rand.NewPCG(b.Seed, 0)) }

// interval draws the statistic many times and takes what lies between the tails.
func (b Bootstrap) interval(draw func(*rand.Rand) float64) Interval {
	if !(b.Level > 0 && b.Level < 1) {
		return Interval{math.NaN(), math.NaN()}
	}
	rng := b.rng()
	drawn := make([]float64, b.Resamples)
	for i := range drawn {
		drawn[i] = draw(rng)
	}
	tail := (1 - b.Level) / 2
	ends := Quantiles(drawn, tail, 1-tail)
	return Interval{ends[0], ends[1]}
}

// Median is the interval of the median of independent samples. MedianInterval is
// its limit, and faster; this one is for those who want to see it drawn.
func (b Bootstrap) Median(x []float64) Interval {
	s := Sort(x)
	if !s.usable() {
		return Interval{math.NaN(), math.NaN()}
	}
	counts := make([]int, len(s))
	return b.withDefaults().interval(func(rng *rand.Rand) float64 { return resampledMedian(s, counts, rng) })
}

// resampledMedian is the median of as many draws from s as s has values. It
// counts how often each rank is drawn, which spares the sort.
func resampledMedian(s Sorted, counts []int, rng *rand.Rand) float64 {
	n := len(s)
	clear(counts)
	for range n {
		counts[rng.IntN(n)]++
	}
	lower, seen := -1, 0
	for i, c := range counts {
		seen += c
		if lower < 0 && 2*seen >= n {
			lower = i
		}
		if 2*seen > n {
			if n%2 == 1 {
				return s[i]
			}
			return s[lower]/2 + s[i]/2
		}
	}
	return math.NaN()
}

// Rounds is the interval of any statistic of a side. Rounds are drawn first, and
// then samples inside each drawn round: luck that a whole round shares counts once,
// not once a sample. The statistic must neither keep nor change what it is given.
func (b Bootstrap) Rounds(rounds [][]float64, statistic func(rounds [][]float64) float64) Interval {
	if !allUsable(rounds) {
		return Interval{math.NaN(), math.NaN()}
	}
	drawn, space := make([][]float64, len(rounds)), make([][]float64, len(rounds))
	for i := range space {
		space[i] = make([]float64, longest(rounds))
	}
	return b.withDefaults().interval(func(rng *rand.Rand) float64 {
		for i := range drawn {
			drawn[i] = redraw(space[i], rounds[rng.IntN(len(rounds))], rng)
		}
		return statistic(drawn)
	})
}

// allUsable tells whether there are rounds, each with samples.
func allUsable(rounds [][]float64) bool {
	for _, r := range rounds {
		if len(r) == 0 {
			return false
		}
	}
	return len(rounds) > 0
}

// redraw fills space with as many draws from x as x has values.
func redraw(space, x []float64, rng *rand.Rand) []float64 {
	space = space[:len(x)]
	for i := range space {
		space[i] = x[rng.IntN(len(x))]
	}
	return space
}
