package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Ratio is the candidate's time divided by the base's, with its interval: 1.03 is three percent slower.
type Ratio struct {
	Value float64
	Interval
}

// noRatio is the result for unusable samples.
var noRatio = Ratio{math.NaN(), Interval{math.NaN(), math.NaN()}}

// MedianRatio returns the ratio of the medians of two sets of independent samples, with its interval.
// It combines the exact intervals of both medians on the logarithmic scale (Donner and Zou's recovery
// of variances from limits): the distances of each median to its limits add up like independent
// errors, separately for each tail. Quantum is the larger timer step of the two sides. The result is
// NaN if a side is empty or the lower limit of its median is not positive.
func MedianRatio(base, candidate []float64, level, quantum float64) Ratio {
	return Sort(base).MedianRatio(Sort(candidate), level, quantum)
}

// MedianRatio is like the function MedianRatio, for values that are already sorted; s is the base.
func (s Sorted) MedianRatio(candidate Sorted, level, quantum float64) Ratio {
	b, c := newLogMedian(s, level, quantum), newLogMedian(candidate, level, quantum)
	log := c.at - b.at
	return Ratio{math.Exp(log), Interval{
		math.Exp(log - math.Hypot(c.down, b.up)),
		math.Exp(log + math.Hypot(c.up, b.down)),
	}}
}

// logMedian holds the logarithm of a median and its distances to the limits.
type logMedian struct{ at, down, up float64 }

func newLogMedian(s Sorted, level, quantum float64) logMedian {
	i := s.MedianInterval(level, 0)
	if !(i.Low > 0) {
		return logMedian{math.NaN(), math.NaN(), math.NaN()}
	}
	at := math.Log(s.Median())
	// A reading is at least one step of the timer, so half a step is at most half of it. If the stated
	// step is too large, the limit must not reach zero, which has no logarithm.
	low := max(i.widened(quantum).Low, i.Low/2)
	return logMedian{at, at - math.Log(low), math.Log(i.widened(quantum).High) - at}
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

// Ratio returns the mean ratio of paired rounds, with its interval.
func (p Paired) Ratio(level float64) Ratio {
	i := p.Interval(level)
	return Ratio{math.Exp(p.Mean), Interval{math.Exp(i.Low), math.Exp(i.High)}}
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
