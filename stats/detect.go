package stats

import "math"

// LeastDetectable is the smallest shift of the mean that a one-sided test on n
// paired differences of standard deviation sd finds: with false alarms at rate alpha,
// and misses at rate beta. NaN for fewer than two pairs.
func LeastDetectable(sd float64, n int, alpha, beta float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	df := float64(n - 1)
	return (TQuantile(1-alpha, df) + TQuantile(1-beta, df)) * sd / math.Sqrt(float64(n))
}
