package stats

import "math"

// NormalCDF returns the probability that a standard normal variable is at most z. For the upper tail
// use NormalCDF(-z): one minus a number close to one loses precision.
func NormalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// NormalQuantile returns the value that a standard normal variable stays below with probability p.
func NormalQuantile(p float64) float64 {
	switch {
	case math.IsNaN(p) || p < 0 || p > 1:
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p > 0.5:
		return -NormalQuantile(1 - p)
	}
	// math.Erfinv takes one minus p, which loses small p. From its result, or from the leading term of
	// the tail, Newton's method on the logarithm converges everywhere.
	z := -math.Sqrt(-2 * math.Log(p))
	if p > 1e-8 {
		z = math.Sqrt2 * math.Erfinv(2*p-1)
	}
	for range 20 {
		below := NormalCDF(z)
		if below == 0 { // underflow: z is as close as float64 can get
			break
		}
		step := math.Log(p/below) * below / normalDensity(z)
		z += step
		if math.Abs(step) <= 1e-15*math.Abs(z) {
			break
		}
	}
	return z
}

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
