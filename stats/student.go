package stats

import "math"

// TQuantile returns the value that a Student t variable with df degrees of freedom stays below with
// probability p.
func TQuantile(p, df float64) float64 {
	switch {
	case math.IsNaN(p) || p < 0 || p > 1 || !(df > 0):
		return math.NaN()
	case p == 0.5:
		return 0
	case p > 0.5: // only the lower tail is precise for very unlikely values
		return -TQuantile(1-p, df)
	case p == 0:
		return math.Inf(-1)
	}
	// Bisection on the exact distribution is slower than a rational formula, but it is right for one
	// degree of freedom and for p close to 0.
	lo, hi := -1.0, 0.0
	for TCDF(lo, df) > p {
		lo, hi = lo*2, lo
		if math.IsInf(lo, -1) {
			return lo
		}
	}
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			return mid
		}
		if TCDF(mid, df) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
}

// TCDF returns the probability that a Student t variable with df degrees of freedom is at most t.
func TCDF(t, df float64) float64 {
	if math.IsNaN(t) || !(df > 0) {
		return math.NaN()
	}
	var tail float64
	if t*t < 1 { // df/(df+t^2) is too close to 1 to resolve small t
		tail = 0.5 - 0.5*betaInc(0.5, df/2, t*t/(df+t*t))
	} else {
		tail = 0.5 * betaInc(df/2, 0.5, df/(df+t*t))
	}
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// betaInc returns the regularized incomplete beta function, computed by its continued fraction
// (modified Lentz).
func betaInc(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // the fraction converges fast on the other side
		return 1 - betaInc(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(a*math.Log(x)+b*math.Log1p(-x)+lab-la-lb) / a

	const tiny = 1e-300
	f, c, d := 1.0, 1.0, 0.0
	for i := range 20000 { // about sqrt(max(a, b)) iterations are enough
		m := float64(i / 2)
		var step float64
		switch {
		case i == 0:
			step = 1
		case i%2 == 0:
			step = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			step = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 / nonZero(1+step*d, tiny)
		c = nonZero(1+step/c, tiny)
		f *= c * d
		if math.Abs(1-c*d) < 1e-15 {
			break
		}
	}
	return front * (f - 1)
}

func nonZero(v, tiny float64) float64 {
	if math.Abs(v) < tiny {
		return tiny
	}
	return v
}
