package stats

import "math"

// Median is the middle of the values, or the mean of the two middle ones; NaN
// of nothing.
func Median(x []float64) float64 { return Sort(x).Median() }

// Quantile interpolates linearly between the closest ranks, as NumPy and R's
// type 7 do; NaN of nothing.
func Quantile(x []float64, p float64) float64 { return Sort(x).Quantile(p) }

// Quantiles is Quantile for several p with one sort.
func Quantiles(x []float64, ps ...float64) []float64 {
	sorted := Sort(x)
	out := make([]float64, len(ps))
	for i, p := range ps {
		out[i] = sorted.Quantile(p)
	}
	return out
}

// Median is that of the package, without its sort.
func (s Sorted) Median() float64 { return s.Quantile(0.5) }

// Quantile is that of the package, without its sort.
func (s Sorted) Quantile(p float64) float64 {
	if !s.usable() || math.IsNaN(p) {
		return math.NaN()
	}
	h := float64(len(s)-1) * min(max(p, 0), 1)
	i := int(h)
	if h == float64(i) { // the neighbour may be infinite
		return s[i]
	}
	return s[i] + (h-float64(i))*(s[i+1]-s[i])
}
