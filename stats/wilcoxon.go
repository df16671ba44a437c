package stats

import (
	"cmp"
	"math"
	"slices"
)

// Wilcoxon runs the signed-rank test of differences against zero, like scipy's wilcoxon. It drops zeros.
// P is exact for up to fifty differences without ties or zeros; otherwise it is the normal approximation
// without continuity correction. The statistic is the sum of the ranks of positive differences; for a
// two-sided test, the smaller of that and its opposite.
//
// It assumes that differences are independent and symmetric around their center. It drops NaN.
func Wilcoxon(d []float64, alternative Alternative) Test {
	r := newSignedRanks(d)
	exact := r.n == len(d) && r.ties == 0 && r.n <= 50
	return r.test(alternative, exact)
}

// WilcoxonExact is like Wilcoxon, with the exact distribution for the ties in the data. Ties are the
// normal case with a coarse timer. With few rounds the normal approximation overstates the evidence:
// for four equal differences it gives 0.023, but the true value is one in sixteen. With more than 200
// nonzero differences it uses the normal approximation.
func WilcoxonExact(d []float64, alternative Alternative) Test {
	r := newSignedRanks(d)
	return r.test(alternative, r.n <= 200)
}

// signedRanks holds the ranks of the sizes of nonzero differences. Ranks are stored doubled, so that the
// mean rank of two equal sizes is an integer.
type signedRanks struct {
	n        int
	doubled  []int
	positive int     // sum of the doubled ranks of positive differences
	ties     float64 // sum of t^3 - t over groups of t equal sizes
}

func newSignedRanks(d []float64) signedRanks {
	list := slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 || math.IsNaN(v) })
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	r := signedRanks{n: len(list)}
	for start := 0; start < len(list); {
		end := start
		for end < len(list) && math.Abs(list[end]) == math.Abs(list[start]) {
			end++
		}
		rank := start + end + 1 // twice the mean of start+1 .. end
		for _, v := range list[start:end] {
			r.doubled = append(r.doubled, rank)
			if v > 0 {
				r.positive += rank
			}
		}
		t := float64(end - start)
		r.ties += t*t*t - t
		start = end
	}
	return r
}

func (r signedRanks) test(alternative Alternative, exact bool) Test {
	all := r.n * (r.n + 1) // sum of the doubled ranks
	t := Test{Statistic: float64(r.positive) / 2, P: 1, Exact: exact}
	if alternative == TwoSided {
		t.Statistic = float64(min(r.positive, all-r.positive)) / 2
	}
	if r.n == 0 {
		return t
	}
	atMost, atLeast := r.normal()
	if exact {
		atMost, atLeast = r.exact()
	}
	switch alternative {
	case Less:
		t.P = atMost
	case Greater:
		t.P = atLeast
	case TwoSided:
		t.P = 2 * min(atMost, atLeast)
	}
	t.P = min(t.P, 1)
	return t
}

// normal returns the probability of a sum of positive ranks at most, and at least, as large as the
// observed one.
func (r signedRanks) normal() (atMost, atLeast float64) {
	n := float64(r.n)
	sd := math.Sqrt((n*(n+1)*(2*n+1) - r.ties/2) / 24)
	z := (float64(r.positive)/2 - n*(n+1)/4) / sd
	return NormalCDF(z), NormalCDF(-z)
}

// exact returns the same probabilities as normal, from all possible signs of the ranks.
func (r signedRanks) exact() (atMost, atLeast float64) {
	chance := make([]float64, 1, r.n*(r.n+1)+1) // indexed by sum
	chance[0] = 1
	for _, rank := range r.doubled {
		chance = chance[:len(chance)+rank]
		for k := len(chance) - 1; k >= 0; k-- {
			chance[k] /= 2
			if k >= rank {
				chance[k] += chance[k-rank] / 2
			}
		}
	}
	for sum, p := range chance {
		if sum <= r.positive {
			atMost += p
		}
		if sum >= r.positive {
			atLeast += p
		}
	}
	return atMost, atLeast
}
