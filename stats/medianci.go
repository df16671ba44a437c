package stats

import (
	"math"
	"sort"
)

// MedianInterval is what the percentile bootstrap of the median comes to with
// infinitely many resamples, without drawing any: exact, and the same every time. It is
// widened by half a step of the timer (quantum, 0 if unknown) at each end, so it is never
// narrower than the step. NaN of nothing, or for a level outside (0, 1).
//
// It assumes independent samples. Those of one process are not; see EffectiveSize.
func MedianInterval(x []float64, level, quantum float64) Interval {
	return Sort(x).MedianInterval(level, quantum)
}

// MedianInterval is that of the package, without its sort.
func (s Sorted) MedianInterval(level, quantum float64) Interval {
	if !s.usable() || !(level > 0 && level < 1) {
		return Interval{math.NaN(), math.NaN()}
	}
	tail := (1 - level) / 2
	return Interval{s.medianQuantile(tail), s.medianQuantile(1 - tail)}.widened(quantum)
}

// medianQuantile is the value that the median of a resample stays at or below with
// probability p. Ranks count from 1, and ties need no care: equal values simply
// stand at several ranks.
func (s Sorted) medianQuantile(p float64) float64 {
	n := len(s)
	upper := lawRank(n, n/2+1, p)
	if n%2 == 1 {
		return s[upper-1]
	}
	// The median is the mean of the two middle values: it lies between them, and its
	// quantile between theirs.
	lower := lawRank(n, n/2, p)
	lo, hi := s[lower-1], s[upper-1]
	pair := newMiddlePair(s, lower)
	if lo == hi || pair.atMost(lo) >= p {
		return lo
	}
	for { // until no number lies between: hi is then a mean of two values, to the last bit
		mid := lo + (hi-lo)/2
		if !(lo < mid && mid < hi) {
			return hi
		}
		if pair.atMost(mid) >= p {
			hi = mid
		} else {
			lo = mid
		}
	}
}

// middlePair is the law of the two middle values of a resample of an even number
// of values.
//
// The lower one has a rank of at most i and the upper one of more than j >= i exactly
// if half of the resample falls on the ranks up to i and half on those beyond j:
// binomial(n, n/2) (i/n)^(n/2) (1-j/n)^(n/2). That is a product of a number for i and
// one for j, which a search asks for again and again: both are remembered.
type middlePair struct {
	x     Sorted
	half  float64
	low   []float64 // by i: that the lower one has this very rank
	high  []float64 // by j
	scale float64   // moved from one factor to the other, so that neither overflows
	k     int       // the last rank asked for,
	below float64   // and the probability that the lower one has at most that
}

func newMiddlePair(x Sorted, near int) *middlePair {
	n := len(x)
	m := &middlePair{x: x, half: float64(n) / 2, low: make([]float64, n+1), high: make([]float64, n+1), k: -1}
	m.scale = m.half * math.Log(float64(near)/float64(n))
	return m
}

// atMost is the probability that the mean of the pair is v or less: that the
// lower one is, without the cases where the upper one lifts the mean above v.
func (m *middlePair) atMost(v float64) float64 {
	n := len(m.x)
	k := sort.Search(n, func(i int) bool { return m.x[i] > v })
	if k != m.k {
		m.k, m.below = k, lawOfRank(n, n/2, k)
	}
	sum := m.below
	for i, j := k, k; i > 0; i-- {
		for j < n && m.x[i-1]/2+m.x[j]/2 <= v {
			j++
		}
		lifted := m.lowerAt(i) * m.upperAbove(j)
		sum -= lifted
		if lifted < 1e-17 { // and those to come are smaller
			break
		}
	}
	return sum
}

func (m *middlePair) lowerAt(i int) float64 {
	if m.low[i] == 0 {
		rank := float64(i)
		upTo := math.Exp(m.half*math.Log(rank/(2*m.half)) - m.scale)
		m.low[i] = -upTo * math.Expm1(m.half*math.Log1p(-1/rank))
	}
	return m.low[i]
}

func (m *middlePair) upperAbove(j int) float64 {
	if m.high[j] == 0 {
		all, _ := math.Lgamma(2*m.half + 1)
		half, _ := math.Lgamma(m.half + 1)
		m.high[j] = math.Exp(all - 2*half + m.half*math.Log1p(-float64(j)/(2*m.half)) + m.scale)
	}
	return m.high[j]
}

// lawOfRank is the probability that the r-th smallest of a resample of n values
// has a rank of at most k: that at least r of n draws fall on the first k.
func lawOfRank(n, r, k int) float64 {
	return betaInc(float64(r), float64(n-r+1), float64(k)/float64(n))
}

// lawRank is the smallest rank that the r-th smallest of a resample stays at or
// below with probability p.
func lawRank(n, r int, p float64) int {
	return min(1+sort.Search(n, func(i int) bool { return lawOfRank(n, r, i+1) >= p }), n)
}
