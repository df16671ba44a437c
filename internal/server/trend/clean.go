package trend

import (
	"math"
	"slices"
)

// minLevelPoints is the number of points that make a level. A shorter group that differs from its neighbors on
// both sides is an outlier. A change that has not lasted that long is reported later.
const minLevelPoints = 4

// clean replaces each outlier by the median around it. A point's result depends on minLevelPoints-1 points after
// it, so the last ones are left unchanged. final is the number of points before them, whose results
// never change.
func clean(values []float64) (cleaned []float64, outliers, final int) {
	cleaned = slices.Clone(values)
	final = max(0, len(values)-minLevelPoints+1)
	for i := range final {
		from, to := max(0, i-minLevelPoints+1), i+minLevelPoints
		m := medianOf(values[from:to])
		off := math.Abs(values[i] - m)
		if off <= least*m { // too small to be reported
			continue
		}
		if off > 6*max(roughness(values[max(0, i-15):to]), least/10*m) {
			cleaned[i] = m
			outliers++
		}
	}
	return cleaned, outliers, final
}

// roughness measures how much neighbors differ, as the standard deviation of one value. It uses
// differences, so that a change of level counts as one large difference and not as spread.
func roughness(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	steps := make([]float64, len(values)-1)
	for i := range steps {
		steps[i] = math.Abs(values[i+1] - values[i])
	}
	return 1.4826 / math.Sqrt2 * medianOf(steps)
}

// medianOf returns the median of a few values.
func medianOf(values []float64) float64 {
	var few [32]float64
	sorted := append(few[:0], values...)
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
