package stats

import (
	"math"
	"sort"
)

// MedianInterval returns the limit of the percentile bootstrap of the median for infinitely many
// resamples. It is exact and deterministic. Each end is widened by half a step of the timer (quantum,
// 0 if unknown), so the interval is never narrower than one step. It returns NaN for no values, for
// values that contain NaN, and for a level outside (0, 1).
//
// It assumes independent samples. Samples of one process are not independent; see EffectiveSize.
func MedianInterval(x []float64, level, quantum float64) Interval {
	return Sort(x).MedianInterval(level, quantum)
}

// MedianInterval is like the function MedianInterval, for values that are already sorted.
func (s Sorted) MedianInterval(level, quantum float64) Interval {
	if !s.usable() || !(level > 0 && level < 1) {
		return Interval{math.NaN(), math.NaN()}
	}
	tail := (1 - level) / 2
	return Interval{s.medianQuantile(tail), s.medianQuantile(1 - tail)}.widened(quantum)
}

// medianQuantile returns the value that the median of a resample stays at or below with probability p.
// Ranks count from 1. Ties need no special treatment: equal values occupy several ranks.
func (s Sorted) medianQuantile(p float64) float64 {
	n := len(s)
	upper := rankQuantile(n, n/2+1, p)
	if n%2 == 1 {
		return s[upper-1]
	}
	// The median is the mean of the two middle values. It lies between them, and its quantile lies
	// between theirs.
	lower := rankQuantile(n, n/2, p)
	lo, hi := s[lower-1], s[upper-1]
	pair := newMiddlePair(s, lower)
	if lo == hi || pair.atMost(lo) >= p {
		return lo
	}
	for { // until no float64 lies between: hi is then exactly a mean of two values
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

// middlePair is the distribution of the two middle values of a resample with an even number of values.
//
// The lower one has a rank of at most i and the upper one a rank above j >= i exactly if half of the
// resample falls on the ranks up to i and half on those above j:
// binomial(n, n/2) (i/n)^(n/2) (1-j/n)^(n/2). This is a product of one factor for i and one for j.
// A search needs the same factors many times, so both are cached.
type middlePair struct {
	x     Sorted
	half  float64
	low   []float64 // by i: probability that the lower one has exactly this rank
	high  []float64 // by j: probability that the upper one has a higher rank
	scale float64   // log factor moved from low to high, so that neither overflows
	k     int       // last rank requested
	below float64   // probability that the lower one has rank k or less
}

func newMiddlePair(x Sorted, near int) *middlePair {
	n := len(x)
	m := &middlePair{x: x, half: float64(n) / 2, low: make([]float64, n+1), high: make([]float64, n+1), k: -1}
	m.scale = m.half * math.Log(float64(near)/float64(n))
	return m
}

// atMost returns the probability that the mean of the pair is v or less: the probability that the lower
// one is, minus the cases where the upper one raises the mean above v.
func (m *middlePair) atMost(v float64) float64 {
	n := len(m.x)
	k := sort.Search(n, func(i int) bool { return m.x[i] > v })
	if k != m.k {
		m.k, m.below = k, rankCDF(n, n/2, k)
	}
	sum := m.below
	for i, j := k, k; i > 0; i-- {
		for j < n && m.x[i-1]/2+m.x[j]/2 <= v {
			j++
		}
		lifted := m.lowerAt(i) * m.upperAbove(j)
		sum -= lifted
		if lifted < 1e-17 { // the remaining ones are smaller still
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

// rankCDF returns the probability that the r-th smallest of a resample of n values has a rank of at
// most k. This happens if at least r of n draws fall on the first k ranks.
func rankCDF(n, r, k int) float64 {
	return betaInc(float64(r), float64(n-r+1), float64(k)/float64(n))
}

// rankQuantile returns the smallest rank that the r-th smallest of a resample stays at or below with
// probability p.
func rankQuantile(n, r int, p float64) int {
	return min(1+sort.Search(n, func(i int) bool { return rankCDF(n, r, i+1) >= p }), n)
}
