package stats

import "math"

// Power returns the chance that a one-sided paired t test with false alarm rate alpha detects a true
// shift, given n differences of standard deviation sd. It returns NaN for fewer than two pairs.
func Power(shift, sd float64, n int, alpha float64) float64 {
	if n < 2 || !(alpha > 0 && alpha < 1) || !(sd > 0) {
		return math.NaN()
	}
	df := float64(n - 1)
	return 1 - noncentralTCDF(-TQuantile(alpha, df), df, shift/sd*math.Sqrt(float64(n)))
}

// MinDetectable returns the smallest shift of the mean that a one-sided test detects on n paired
// differences of standard deviation sd. The false alarm rate is alpha, the miss rate beta. It returns NaN
// for fewer than two pairs.
func MinDetectable(sd float64, n int, alpha, beta float64) float64 {
	if n < 2 || !(alpha > 0 && alpha < 1 && beta > 0 && beta < 1) {
		return math.NaN()
	}
	df := float64(n - 1)
	critical := -TQuantile(alpha, df)
	// The sum of two quantiles, as in many tables, is too optimistic with few pairs: with eight pairs
	// and an alpha of 0.001 it misses one shift in nine, not one in twenty.
	lo, hi := 0.0, math.Abs(critical)+10
	for noncentralTCDF(critical, df, hi) > beta {
		lo, hi = hi, hi*2
	}
	for hi-lo > 1e-10*hi {
		mid := lo + (hi-lo)/2
		if noncentralTCDF(critical, df, mid) > beta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi * sd / math.Sqrt(float64(n))
}
