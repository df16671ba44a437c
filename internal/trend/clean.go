package trend

import (
	"math"
	"slices"
)

// settle is how many points make a level. Fewer that stand apart from their
// neighbours on both sides are outliers, and a change that has not lasted that long is
// told when it has.
const settle = 4

// clean is the series without outliers, each replaced by the median around it. What a
// point becomes depends on settle-1 points after it: the last ones are as they are, and
// final says how many before them will never change.
func clean(values []float64, least float64) (cleaned []float64, outliers, final int) {
	cleaned = slices.Clone(values)
	final = max(0, len(values)-settle+1)
	for i := range final {
		from, to := max(0, i-settle+1), i+settle
		m := medianOf(values[from:to])
		off := math.Abs(values[i] - m)
		if off <= least*m { // nobody would be told of that little
			continue
		}
		if off > 6*max(roughness(values[max(0, i-15):to]), least/10*m) {
			cleaned[i] = m
			outliers++
		}
	}
	return cleaned, outliers, final
}

// roughness is how much neighbours differ, as the standard deviation of one value. It
// looks at differences, so that a change of level is one large difference and not a
// spread.
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

// medianOf is the middle of a few values.
func medianOf(values []float64) float64 {
	var few [32]float64
	sorted := append(few[:0], values...)
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
