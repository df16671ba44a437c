package stats

import "math"

// MannWhitney tests whether the values of x tend to be larger or smaller than those of y, like scipy's
// mannwhitneyu. The statistic is U of x: the number of pairs in which x is larger, with ties counted
// half. If the smaller set has at most eight values and there are no ties, P is exact; otherwise it is
// the normal approximation with corrections for ties and continuity.
//
// It assumes independent values. Samples of one process are not independent, so it calls nearly
// everything significant. For that reason pawl never decides by it.
func MannWhitney(x, y []float64, alternative Alternative) Test {
	return Sort(x).MannWhitney(Sort(y), alternative)
}

// The exact distribution is used for few values only: with more pairs it would be slow, and the result
// would not change.
const (
	exactSmaller = 8
	exactPairs   = 1_000_000
)

// MannWhitney is like the function MannWhitney, for values that are already sorted.
func (s Sorted) MannWhitney(other Sorted, alternative Alternative) Test {
	if !s.usable() || !other.usable() {
		return Test{Statistic: math.NaN(), P: 1}
	}
	d := newDominance(s, other)
	u := d.greater + d.equal/2
	high, tails := u, 1.0
	switch alternative {
	case Less:
		high = d.pairs - u
	case TwoSided:
		high, tails = max(u, d.pairs-u), 2
	case Greater:
	}
	few := min(len(s), len(other))
	if few <= exactSmaller && d.ties == 0 && d.pairs <= exactPairs {
		p := exactUAtMost(few, max(len(s), len(other)), int(d.pairs-high))
		return Test{u, min(tails*p, 1), true}
	}
	n := float64(len(s) + len(other))
	sd := math.Sqrt(d.pairs / 12 * (n + 1 - d.ties/(n*(n-1))))
	if !(sd > 0) { // all values equal
		return Test{Statistic: u, P: 1}
	}
	z := (high - d.pairs/2 - 0.5) / sd
	return Test{Statistic: u, P: min(tails*NormalCDF(-z), 1)}
}

// exactUAtMost returns the probability of a U of at most u for m and n values without ties, if all
// orders are equally likely. The number of orders for each U is a coefficient of a Gaussian binomial,
// which is built one factor at a time: (1-q^(n+1))/(1-q), (1-q^(n+2))/(1-q^2), up to m.
func exactUAtMost(m, n, u int) float64 {
	orders := make([]float64, u+1)
	orders[0] = 1
	all := 1.0
	for i := 1; i <= m; i++ {
		for k := u; k >= n+i; k-- {
			orders[k] -= orders[k-n-i]
		}
		for k := i; k <= u; k++ {
			orders[k] += orders[k-i]
		}
		all *= float64(n+i) / float64(i)
	}
	var sum float64
	for _, o := range orders {
		sum += o
	}
	return sum / all
}
