package stats

import "math"

// QValues returns, for every position in a series, how much the values before it differ from those at
// and after it. The measure is the energy distance of E-divisive (Matteson and James, 2014), weighted
// by the lengths of both sides. It is large where the level changes. The first position, with nothing
// before it, gets 0. The running time grows with the square of the length.
func QValues(series []float64) []float64 {
	n := len(series)
	q := make([]float64, n)
	within := distancesBefore(series)
	var after float64 // sum of distances among the values from tau on
	for tau := n - 1; tau > 0; tau-- {
		for _, v := range series[tau+1:] {
			after += math.Abs(v - series[tau])
		}
		q[tau] = energy(tau, n-tau, within[tau], after, within[n])
	}
	return q
}

// bestSplit returns the position that best separates the values before it from those that follow, up
// to whichever end maximizes q, and that q. Of equal positions it returns the first. A series of fewer
// than two values has no split: it returns 0.
func bestSplit(series []float64) (at int, q float64) {
	n := len(series)
	within := distancesBefore(series)
	toValue := make([]float64, n) // by position: sum of distances from its value to those from tau up to it
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

// distancesBefore returns, for every end, the sum of the distances between all pairs of values before it.
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

// energy compares n values with the m that follow: twice the mean distance between the sides, minus
// the mean distance within each, times n m / (n + m). Its arguments are the sums of distances within
// the first side, within the second, and within both together.
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
