package ratchet_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/goatnote-inc/pawl/ratchet"
)

// large is a run as large suites make them: 100 cases of 16 rounds of 100 samples.
func large() []ratchet.Evidence {
	rng := rand.New(rand.NewPCG(7, 8))
	list := make([]ratchet.Evidence, 100)
	for i := range list {
		list[i] = made{name: "k" + strconv.Itoa(i), rounds: 16, samples: 100, effect: 0.02 * rng.NormFloat64(), spread: 0.01}.evidence(rng)
	}
	return list
}

// A verdict must not be what a person waits for: under 0.2 s on one core for such a
// run. pawl-lab judge says how long it took.
func BenchmarkJudge(b *testing.B) {
	p, list := ratchet.Default(), large()
	b.Run("large", func(b *testing.B) {
		for b.Loop() {
			ratchet.Judge(p, list)
		}
	})
	b.Run("look", func(b *testing.B) {
		for b.Loop() {
			ratchet.Undecided(p, list)
		}
	})
}
