package stats

import "math"

// Median returns the middle value, or the mean of the two middle values. It returns NaN for no values.
func Median(x []float64) float64 { return Sort(x).Median() }

// Quantile interpolates linearly between the closest ranks, like NumPy and R's type 7. It returns NaN
// for no values.
func Quantile(x []float64, p float64) float64 { return Sort(x).Quantile(p) }

// Quantiles returns the Quantile for each p, sorting x only once.
func Quantiles(x []float64, ps ...float64) []float64 {
	sorted := Sort(x)
	out := make([]float64, len(ps))
	for i, p := range ps {
		out[i] = sorted.Quantile(p)
	}
	return out
}

// Median is like the function Median, for values that are already sorted.
func (s Sorted) Median() float64 { return s.Quantile(0.5) }

// Quantile is like the function Quantile, for values that are already sorted.
func (s Sorted) Quantile(p float64) float64 {
	if !s.usable() || math.IsNaN(p) {
		return math.NaN()
	}
	h := float64(len(s)-1) * min(max(p, 0), 1)
	i := int(h)
	if h == float64(i) { // the neighbor may be infinite
		return s[i]
	}
	return s[i] + (h-float64(i))*(s[i+1]-s[i])
}
