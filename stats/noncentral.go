package stats

import "math"

// noncentralTCDF returns the probability that the t statistic of a sample is at most t when the true
// mean is shift standard errors from zero. It averages the normal probability over the standard
// deviations that a sample may have.
func noncentralTCDF(t, df, shift float64) float64 {
	logGamma, _ := math.Lgamma(df / 2)
	constant := math.Ln2 + df/2*math.Log(df/2) - logGamma
	density := func(s float64) float64 { // of the ratio of the sample's to the true standard deviation
		if s == 0 && df > 1 {
			return 0
		}
		power := 0.0
		if df > 1 {
			power = (df - 1) * math.Log(s)
		}
		return math.Exp(constant + power - df*s*s/2)
	}
	within := func(s float64) float64 { return density(s) * NormalCDF(t*s-shift) }
	spread := 9 / math.Sqrt(df) // more than twelve of its own standard deviations
	from, to := max(1-spread, 0), 1+spread
	// With few degrees of freedom t is large, and the normal probability rises from 0 to 1 in a small
	// part of the range. That part is integrated with its own steps.
	rise, risen := to, to
	if t > 0 {
		rise, risen = min(max((shift-9)/t, from), to), min(max((shift+9)/t, from), to)
	}
	return simpson(within, from, rise) + simpson(within, rise, risen) + simpson(within, risen, to)
}

// simpson integrates a smooth function by Simpson's rule.
func simpson(f func(float64) float64, from, to float64) float64 {
	if from == to {
		return 0
	}
	const steps = 400 // must be even
	width := (to - from) / steps
	var sum float64
	for i := range steps + 1 {
		weight := 2.0 + 2*float64(i%2)
		if i == 0 || i == steps {
			weight = 1
		}
		sum += weight * f(from+float64(i)*width)
	}
	return sum * width / 3
}
