package stats

import (
	"math"
	"slices"
)

// Median is the middle of the values, or the mean of the two middle ones; NaN
// of nothing.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// Quantile interpolates linearly between the closest ranks, as NumPy and R's
// type 7 do; NaN of nothing.
func Quantile(x []float64, p float64) float64 {
	return Quantiles(x, p)[0]
}

// Quantiles is Quantile for several p with one sort.
func Quantiles(x []float64, ps ...float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	out := make([]float64, len(ps))
	for i, p := range ps {
		out[i] = sortedQuantile(sorted, p)
	}
	return out
}

func sortedQuantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || math.IsNaN(p) {
		return math.NaN()
	}
	h := float64(len(sorted)-1) * min(max(p, 0), 1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}
