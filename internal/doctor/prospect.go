package doctor

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// GateForecast is how gates behave for a case on this machine, simulated with gates made of its rounds.
type GateForecast struct {
	Case     string  `json:"case"`
	Slowdown float64 `json:"slowdown"` // smallest slowdown found in 95 of 100 gates
	False    float64 `json:"false"`    // share of gates that call the same code slower
	Open     float64 `json:"open"`     // share of gates without an answer for the same code
	Rounds   float64 `json:"rounds"`   // average rounds of a gate of the same code
}

const (
	prospectRounds = 16   // with fewer, nothing is reported
	sameGates      = 1000 // simulated gates of the same code
	slowGates      = 200  // simulated gates per slowdown
	found          = 0.95
	maxSlowdown    = 1.0 // max slowdown
	maxBlock       = 32  // max neighboring rounds that stay together
)

// prospects simulates gates for the quietest and the noisiest case, from all that is kept of them.
func prospects(p ratchet.Policy, cases []CaseNoise, kept map[string][]float64) []GateForecast {
	m := newMachine(kept)
	if m.size < prospectRounds || len(cases) == 0 {
		return nil
	}
	spread := func(c CaseNoise) float64 { return stats.RobustSD(kept[c.Case]) }
	slices.SortStableFunc(cases, func(a, b CaseNoise) int { return cmp.Compare(spread(a), spread(b)) })
	var list []GateForecast
	for _, i := range slices.Compact([]int{0, len(cases) - 1}) {
		c := cases[i]
		g := gates{p, m, c, spread(c)}
		list = append(list, g.prospect())
	}
	return list
}

// machine holds the rounds of the same code: for each case the logarithms of ratios, divided by their spread.
type machine struct {
	cases [][]float64
	size  int // total number of rounds
}

func newMachine(kept map[string][]float64) machine {
	var m machine
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		ratios, spread := kept[name], stats.RobustSD(kept[name])
		if len(ratios) == 0 {
			continue
		}
		scaled := make([]float64, len(ratios)) // zeros for a case without spread
		for i, v := range ratios {
			if spread > 0 {
				scaled[i] = v / spread
			}
		}
		m.cases, m.size = append(m.cases, scaled), m.size+len(scaled)
	}
	return m
}

// rounds draws n rounds for a gate. Neighbors stay together, so that they keep their dependence.
// Both sides are the same code, so which of them is the base is random.
func (m machine) rounds(rng *rand.Rand, n int) []float64 {
	sign := float64(2*rng.IntN(2) - 1)
	var out []float64
	for len(out) < n {
		at, i := rng.IntN(m.size), 0
		for at >= len(m.cases[i]) {
			at -= len(m.cases[i])
			i++
		}
		c := m.cases[i]
		length := min(len(c), maxBlock, n-len(out))
		at = min(at, len(c)-length)
		for _, v := range c[at : at+length] {
			out = append(out, sign*v)
		}
	}
	return out
}

// gates simulates the gates of one case.
type gates struct {
	policy ratchet.Policy
	machine
	of     CaseNoise
	spread float64
}

func (g gates) prospect() GateForecast {
	out := GateForecast{Case: g.of.Case}
	for i := range sameGates {
		verdict, rounds := g.judge(i, 0)
		if verdict == ratchet.Regression {
			out.False += 1.0 / sameGates
		}
		if verdict == ratchet.Inconclusive {
			out.Open += 1.0 / sameGates
		}
		out.Rounds += float64(rounds) / sameGates
	}
	low, high := 0.0, 0.05
	for high < maxSlowdown && !g.finds(high) {
		low, high = high, min(2*high, maxSlowdown)
	}
	for high-low > 0.001 && high < maxSlowdown {
		if middle := (low + high) / 2; g.finds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	out.Slowdown = high
	return out
}

// finds reports whether enough gates find a slowdown.
func (g gates) finds(slowdown float64) bool {
	count := 0
	for i := range slowGates {
		if verdict, _ := g.judge(sameGates+i, math.Log1p(slowdown)); verdict == ratchet.Regression {
			count++
		}
	}
	return float64(count) >= found*slowGates
}

// judge runs a gate as pawl run does. The same number gives the same rounds.
func (g gates) judge(number int, shift float64) (ratchet.Verdict, int) {
	const center = 1e6 // ns
	last := g.policy.Looks[len(g.policy.Looks)-1]
	e := ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: g.of.Case}, Unit: "ns", Gate: true, Paired: true, HasBase: true, HasCandidate: true,
	}
	for i, v := range g.rounds(rand.New(rand.NewPCG(uint64(number), 0)), last) {
		value := center * math.Exp(min(g.spread*v+shift, 50))
		e.Base = append(e.Base, ratchet.Round{Index: i, Sorted: stats.Sorted{center}, Median: center, Quantum: center * g.of.step})
		e.Candidate = append(e.Candidate, ratchet.Round{Index: i, Sorted: stats.Sorted{value}, Median: value, Quantum: center * g.of.step})
	}
	for _, n := range g.policy.Looks {
		part := e
		part.Base, part.Candidate = e.Base[:n], e.Candidate[:n]
		if evidence := []ratchet.Evidence{part}; n == last || len(ratchet.Undecided(g.policy, evidence)) == 0 {
			return ratchet.Judge(g.policy, evidence).Verdict, n
		}
	}
	panic("doctor: a policy without looks")
}
