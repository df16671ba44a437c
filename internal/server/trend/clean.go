package trend

import "math"

// minLevelPoints is the number of points that make a level. A shorter group that differs from its neighbors on
// both sides is an outlier. A change that has not lasted that long is reported later.
const minLevelPoints = 4

// reach is the number of points on each side with which a point is compared.
const reach = minLevelPoints - 1

// cleaned returns value i of a history of logarithms, or the median around it if it is an outlier. The
// last points have too few after them and are compared with the last 2*reach+1 values, so their result
// may change as more arrive.
func cleaned(y []float64, i int) (v float64, outlier bool) {
	to := min(i+reach+1, len(y))
	from := max(0, min(i-reach, to-2*reach-1))
	m := medianOf(y[from:to])
	off := math.Abs(y[i] - m)
	if off <= leastLog { // too small to be reported
		return y[i], false
	}
	if off > 6*max(roughness(y[max(0, i-15):to]), least/10) {
		return m, true
	}
	return y[i], false
}

// roughness measures how much neighbors differ, as the standard deviation of one value. It uses
// differences, so that a change of level counts as one large difference and not as spread. If most
// neighbors are equal, the values come from a coarse timer, whose smallest step it returns.
func roughness(y []float64) float64 {
	if len(y) < 2 {
		return 0
	}
	var few [32]float64
	steps, smallest := few[:0], maxTick
	for i := range y[1:] {
		d := math.Abs(y[i+1] - y[i])
		steps = append(steps, d)
		if d > 0 {
			smallest = min(smallest, d)
		}
	}
	if m := medianOf(steps); m > 0 {
		return 1.4826 / math.Sqrt2 * m
	}
	return smallest
}

// maxTick is the coarsest step of a timer, as a fraction.
const maxTick = 0.03

// medianOf returns the median of a few values.
func medianOf(values []float64) float64 {
	var few [32]float64
	sorted := append(few[:0], values...)
	for i, v := range sorted { // by insertion: so few values need no more
		for ; i > 0 && sorted[i-1] > v; i-- {
			sorted[i] = sorted[i-1]
		}
		sorted[i] = v
	}
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
