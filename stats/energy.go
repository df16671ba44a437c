package stats

import "math"

// QValues measures, for every place in a series, how different the values before it
// are from those at it and after: the energy distance of E-divisive (Matteson and James,
// 2014), weighted by the lengths of both sides. It is large where the level changes. The
// first place, with nothing before it, has 0. The time grows with the square of the length.
func QValues(series []float64) []float64 {
	n := len(series)
	q := make([]float64, n)
	within := distancesBefore(series)
	var after float64 // distances among the values from tau on
	for tau := n - 1; tau > 0; tau-- {
		for _, v := range series[tau+1:] {
			after += math.Abs(v - series[tau])
		}
		q[tau] = energy(tau, n-tau, within[tau], after, within[n])
	}
	return q
}

// bestSplit is the place that divides a series best from what follows it, up to the
// end for which that is most, and its q. In doubt it is the first such place. A
// series of fewer than two values has none: 0.
func bestSplit(series []float64) (at int, q float64) {
	n := len(series)
	within := distancesBefore(series)
	toValue := make([]float64, n) // by place: distances from its value to those from tau to before it
	for tau := n - 1; tau > 0; tau-- {
		best := math.Inf(-1)
		var after float64
		for end := tau + 1; end <= n; end++ {
			toValue[end-1] += math.Abs(series[end-1] - series[tau])
			after += toValue[end-1]
			best = max(best, energy(tau, end-tau, within[tau], after, within[end]))
		}
		if best >= q {
			at, q = tau, best
		}
	}
	return at, q
}

// distancesBefore is, for every end, the sum of the distances between all pairs of
// values before it.
func distancesBefore(series []float64) []float64 {
	sums := make([]float64, len(series)+1)
	for end := 1; end <= len(series); end++ {
		sums[end] = sums[end-1]
		for _, v := range series[:end-1] {
			sums[end] += math.Abs(v - series[end-1])
		}
	}
	return sums
}

// energy compares n values with the m that follow: twice the mean distance between
// the sides less the mean distance inside each, times n m / (n + m). It is given the sums
// of distances inside the first side, inside the second, and inside both together.
func energy(n, m int, first, second, both float64) float64 {
	a, b := float64(n), float64(m)
	q := 2 / (a + b) * (both - first - second)
	if n > 1 {
		q -= 2 * b / ((a + b) * (a - 1)) * first
	}
	if m > 1 {
		q -= 2 * a / ((a + b) * (b - 1)) * second
	}
	return q
}
