package stats

import "math"

// MannWhitney tests whether values of x tend to be larger or smaller than values
// of y, as scipy's mannwhitneyu does. The statistic is U of x: the pairs in which
// x is larger, ties counted half. If the smaller set has at most eight values and nothing is
// tied, P is exact; otherwise it is the normal approximation with corrections for ties
// and continuity.
//
// It assumes independent values. Samples of one process are not, which is why it
// calls nearly everything significant, and why pawl never decides by it.
func MannWhitney(x, y []float64, alternative Alternative) Test {
	return Sort(x).MannWhitney(Sort(y), alternative)
}

// The exact distribution is for few values: more pairs than this would take long
// and change nothing.
const (
	exactSmaller = 8
	exactPairs   = 1_000_000
)

// MannWhitney is that of the package, without its sorts.
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

// exactUAtMost is the probability of a U of at most u for m and n values without
// ties, if all orders are equally likely. How many orders give each U are the
// coefficients of a Gaussian binomial, which grows by one factor after the other:
// (1-q^(n+1))/(1-q), (1-q^(n+2))/(1-q^2), up to m.
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
