package ratchet_test

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// made describes a case that a test makes up.
type made struct {
	name    string
	rounds  int
	samples int     // a round; 40 if 0
	effect  float64 // 0.04: the candidate takes 4 % longer
	spread  float64 // between rounds, of each side
	better  measure.Better
	clocks  func(effect float64) float64 // of the candidate; the base's is 1000
}

func (m made) evidence(rng *rand.Rand) ratchet.Evidence {
	e := ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: m.name, Implementation: measure.Candidate},
		Unit: "ns", Better: m.better, Gate: true, Paired: true, HasBase: true, HasCandidate: true,
	}
	for i := range m.rounds {
		machine := 0.01 * rng.NormFloat64() // shared by both sides
		e.Base = append(e.Base, m.round(rng, i, machine, 0, 1000))
		clock := 1000.0
		if m.clocks != nil {
			clock = m.clocks(m.effect)
		}
		e.Candidate = append(e.Candidate, m.round(rng, i, machine, math.Log1p(m.effect), clock))
	}
	return e
}

func (m made) round(rng *rand.Rand, index int, machine, effect, clock float64) ratchet.Round {
	center := 1e5 * math.Exp(machine+effect+m.spread*rng.NormFloat64())
	r := measure.CaseRound{Round: index, Quantum: 1}
	for range cmp.Or(m.samples, 40) {
		r.Samples = append(r.Samples, math.Round(center*math.Exp(0.01*rng.NormFloat64())))
		if m.clocks != nil {
			r.Clocks = append(r.Clocks, clock)
		}
	}
	return ratchet.NewRound(r, "one")
}
