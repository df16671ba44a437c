package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap computes percentile bootstrap intervals: how far a statistic moves when the data are
// resampled. Zero fields take their defaults. The same fields and data give the same interval.
type Bootstrap struct {
	Resamples int     // default 10,000
	Level     float64 // confidence level; default 0.95
	Seed      uint64  // default 42
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

// interval draws the statistic Resamples times and returns the range between the tails.
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

// Median returns the bootstrap interval of the median of independent samples. MedianInterval is its
// limit for infinitely many resamples, and is faster; use Median to check it by resampling.
func (b Bootstrap) Median(x []float64) Interval {
	s := Sort(x)
	if !s.usable() {
		return Interval{math.NaN(), math.NaN()}
	}
	counts := make([]int, len(s))
	return b.withDefaults().interval(func(rng *rand.Rand) float64 { return resampledMedian(s, counts, rng) })
}

// resampledMedian returns the median of len(s) draws from s. It counts how often each rank is drawn,
// which avoids a sort.
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

// Rounds returns the bootstrap interval of any statistic of one side. It draws rounds first, then
// samples within each drawn round, so that a deviation shared by a whole round counts once and not
// once per sample. The statistic must neither retain nor modify its argument.
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

// allUsable reports whether there is at least one round and every round has samples.
func allUsable(rounds [][]float64) bool {
	for _, r := range rounds {
		if len(r) == 0 {
			return false
		}
	}
	return len(rounds) > 0
}

// redraw fills space with len(x) draws from x.
func redraw(space, x []float64, rng *rand.Rand) []float64 {
	space = space[:len(x)]
	for i := range space {
		space[i] = x[rng.IntN(len(x))]
	}
	return space
}

// MedianRatio returns the ratio of the medians with its bootstrap interval. Both sides are resampled
// independently. The result is NaN if a side is empty or has a sample that is not positive.
func (b Bootstrap) MedianRatio(base, candidate []float64) Ratio {
	s, c := Sort(base), Sort(candidate)
	if !s.positive() || !c.positive() {
		return noRatio
	}
	ofBase, ofCandidate := make([]int, len(s)), make([]int, len(c))
	return Ratio{c.Median() / s.Median(), b.withDefaults().interval(func(rng *rand.Rand) float64 {
		return resampledMedian(c, ofCandidate, rng) / resampledMedian(s, ofBase, rng)
	})}
}

// PairedRatio returns the mean ratio of paired rounds with its bootstrap interval. It draws whole
// rounds first, both sides of a round together, then samples within them. The result is NaN unless
// both sides have the same number of rounds and every round has only positive samples.
func (b Bootstrap) PairedRatio(base, candidate [][]float64) Ratio {
	bases, candidates := sortAll(base), sortAll(candidate)
	lacks := func(s Sorted) bool { return !s.positive() }
	if len(base) != len(candidate) || len(base) == 0 || slices.ContainsFunc(bases, lacks) || slices.ContainsFunc(candidates, lacks) {
		return noRatio
	}
	var sum float64
	for i, s := range bases {
		sum += math.Log(candidates[i].Median() / s.Median())
	}
	counts := make([]int, longest(base, candidate))
	n := float64(len(base))
	logs := b.withDefaults().interval(func(rng *rand.Rand) float64 {
		var sum float64
		for range base {
			i := rng.IntN(len(base))
			c := resampledMedian(candidates[i], counts[:len(candidates[i])], rng)
			sum += math.Log(c / resampledMedian(bases[i], counts[:len(bases[i])], rng))
		}
		return sum / n
	})
	return Ratio{math.Exp(sum / n), Interval{math.Exp(logs.Low), math.Exp(logs.High)}}
}

func sortAll(rounds [][]float64) []Sorted {
	all := make([]Sorted, len(rounds))
	for i, r := range rounds {
		all[i] = Sort(r)
	}
	return all
}

// longest returns the number of samples in the longest round.
func longest(sides ...[][]float64) int {
	n := 0
	for _, rounds := range sides {
		for _, r := range rounds {
			n = max(n, len(r))
		}
	}
	return n
}

// noRatio is the result for unusable samples.
var noRatio = Ratio{math.NaN(), Interval{math.NaN(), math.NaN()}}

// positive reports whether there are values and all are above zero.
func (s Sorted) positive() bool { return len(s) > 0 && s[0] > 0 }
