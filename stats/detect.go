package stats

import "math"

// LeastDetectable is the smallest shift of the mean that a one-sided test on n
// paired differences of standard deviation sd finds: with false alarms at rate alpha,
// and misses at rate beta. NaN for fewer than two pairs.
func LeastDetectable(sd float64, n int, alpha, beta float64) float64 {
	if n < 2 || !(alpha > 0 && alpha < 1 && beta > 0 && beta < 1) {
		return math.NaN()
	}
	df := float64(n - 1)
	critical := TQuantile(1-alpha, df)
	// The sum of two quantiles, as in many tables, promises too much with few pairs:
	// with eight and an alpha of 0.001 it misses one shift in nine, not one in twenty.
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

// noncentralTCDF is the probability that the t statistic of a sample stays at or
// below t when the true mean is shift standard errors from zero: the normal
// probability, averaged over the standard deviations that a sample may have.
func noncentralTCDF(t, df, shift float64) float64 {
	logGamma, _ := math.Lgamma(df / 2)
	constant := math.Ln2 + df/2*math.Log(df/2) - logGamma
	density := func(s float64) float64 { // of the sample's over the true standard deviation
		if s == 0 && df > 1 {
			return 0
		}
		power := 0.0
		if df > 1 {
			power = (df - 1) * math.Log(s)
		}
		return math.Exp(constant + power - df*s*s/2)
	}
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	const steps = 400 // even, for Simpson's rule
	width := (1 + 9/math.Sqrt(df)) / steps
	var sum float64
	for i := range steps + 1 {
		weight := 2.0 + 2*float64(i%2)
		if i == 0 || i == steps {
			weight = 1
		}
		s := float64(i) * width
		sum += weight * density(s) * normal(t*s-shift)
	}
	return sum * width / 3
}
