package stats

import "math"

// Ratio is the candidate's time divided by the base's, with its interval: 1.03 is three percent slower.
type Ratio struct {
	Value float64
	Interval
}

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

// Ratio returns the mean ratio of paired rounds, with its interval.
func (p Paired) Ratio(level float64) Ratio {
	i := p.Interval(level)
	return Ratio{math.Exp(p.Mean), Interval{math.Exp(i.Low), math.Exp(i.High)}}
}
