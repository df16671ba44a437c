package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/goatnote-inc/pawl/stats"
)

// guess is what a ranker holds of a candidate: a normal distribution, taken apart by what
// it has in common with the others.
type guess struct {
	mean   float64
	common float64 // variance that all candidates share, such as that of their kernel
	own    float64 // variance that no other has
	tail   float64 // of both, the part that comes of how outcomes scatter
	path   path    // the rest: what was learned together
}

// variance is all of it.
func (g guess) variance() float64 { return g.common + g.own + g.path.dot(g.path) }

// wider multiplies the variance.
func (g guess) wider(by float64) guess {
	g.common, g.own, g.tail = by*g.common, by*g.own, by*g.tail
	root := math.Sqrt(by)
	for i := range g.path.shared {
		g.path.shared[i] *= root
	}
	for _, b := range g.path.blocks {
		for i := range b.x {
			b.x[i] *= root
		}
	}
	return g
}

// interval holds the gain in four of five cases.
func (g guess) interval() (low, high float64) {
	wide := math.Sqrt(g.variance()) * stats.NormalQuantile(0.9)
	return g.mean - wide, g.mean + wide
}

// ranked makes the answer of a ranker. With explore above 0 a candidate of which little is
// known is put higher, by that many of its standard deviations.
func ranked(candidates []Candidate, guesses []guess, seen map[string]int, explore float64) []Ranked {
	list := make([]Ranked, len(candidates))
	score := make([]float64, len(candidates))
	for i, g := range guesses {
		low, high := g.interval()
		list[i] = Ranked{Candidate: candidates[i], Gain: g.mean, Low: low, High: high, Seen: seen[candidates[i].Fix]}
		score[i] = g.mean + explore*math.Sqrt(max(g.variance()-g.common-g.tail, 0))
	}
	at := order(list, score)
	sortedGuesses := make([]guess, len(at))
	sorted := make([]Ranked, len(at))
	for i, j := range at {
		sorted[i], sortedGuesses[i] = list[j], guesses[j]
	}
	for i, p := range best(sortedGuesses) {
		sorted[i].Best = p
	}
	return sorted
}

// draws are how often best plays; each counts twice, once mirrored.
const draws = 512

// normals are what best draws: the same each time.
var normals = sync.OnceValue(func() []float64 {
	random := rand.New(rand.NewPCG(9, 28)) // nothing to be guessed here
	z := make([]float64, draws*contenders)
	for i := range z {
		z[i] = random.NormFloat64()
	}
	return z
})

// contenders bounds the work of best: what is ranked below has no chance worth a number.
const contenders = 128

// best is the probability of each to be the best of all, by drawing from what is known of
// them together. The draws are the same each time.
func best(guesses []guess) []float64 {
	p := make([]float64, len(guesses))
	m := min(len(guesses), contenders)
	if m == 0 {
		return p
	}
	factor := make([]float64, m*m)
	for i := range m {
		for j := range i + 1 {
			factor[i*m+j] = guesses[i].path.dot(guesses[j].path)
		}
		factor[i*m+i] += guesses[i].own + 1e-12
	}
	cholesky(factor, m)
	x := make([]float64, m)
	for z := range slices.Chunk(normals(), contenders) {
		for i := range m {
			x[i] = dot(factor[i*m:i*m+i+1], z)
		}
		high, low := 0, 0
		for i := 1; i < m; i++ {
			if guesses[i].mean+x[i] > guesses[high].mean+x[high] {
				high = i
			}
			if guesses[i].mean-x[i] > guesses[low].mean-x[low] {
				low = i
			}
		}
		p[high] += 0.5 / draws
		p[low] += 0.5 / draws
	}
	return p
}

// tame takes out of a candidate what no rule can mean.
func tame(c Candidate) Candidate {
	c.Prior, _ = finite(c.Prior)
	claims := slices.DeleteFunc(slices.Clone(c.Claims), func(c Claim) bool { return math.IsNaN(c.Gain) })
	slices.SortFunc(claims, compareClaims)
	claims = slices.CompactFunc(claims, func(a, b Claim) bool { return a.Lesson == b.Lesson }) // who says two things is held to the lower
	for i := range claims {
		claims[i].Gain, _ = finite(claims[i].Gain)
	}
	c.Claims = claims
	return c
}

// most is the largest gain that is believed: no single change makes a kernel 20 times as
// fast, a broken measurement does.
const most = 3.0

// finite bounds a gain, and says whether it is one at all.
func finite(gain float64) (float64, bool) {
	if math.IsNaN(gain) {
		return 0, false
	}
	return max(-most, min(most, gain)), true
}

func square(x float64) float64 { return x * x }

// rounded makes what differs by the order of additions only the same.
func rounded(x float64) float64 { return math.Round(x*1e9) / 1e9 }
