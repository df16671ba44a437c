package ratchet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/ratchet"
)

// many makes same-code cases, of which the first are changed.
func many(n, changed int, change func(*ratchet.Evidence)) []ratchet.Evidence {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	list := make([]ratchet.Evidence, n)
	for i := range list {
		list[i] = made{name: fmt.Sprintf("k%d", i), rounds: 16, samples: 2, spread: 0.004}.evidence(rng)
		if i < changed {
			change(&list[i])
		}
	}
	return list
}

// shake makes the rounds of sides swing up and down, too much for any answer.
func shake(by float64, sides ...[]ratchet.Round) {
	for s, side := range sides {
		for i := range side {
			swing := []float64{1, -1, -1, 1}[(i+s)%4] // the sides do not swing together
			side[i].Median *= math.Exp(by * swing)
		}
	}
}

// A run may pass with a few cases that have no answer.
func TestUndecidedCases(t *testing.T) {
	both := func(e *ratchet.Evidence) { shake(0.1, e.Base, e.Candidate) }
	for _, test := range []struct {
		name    string
		list    []ratchet.Evidence
		share   float64
		want    ratchet.Verdict
		excused int
	}{
		{"1 of 100", many(100, 1, both), 0.02, ratchet.Maintained, 1},
		{"2 of 100", many(100, 2, both), 0.02, ratchet.Maintained, 2},
		{"3 of 100", many(100, 3, both), 0.02, ratchet.Inconclusive, 0},
		{"1 of 30 is rounded up", many(30, 1, both), 0.02, ratchet.Maintained, 1},
		{"1 of 20 is rounded down", many(20, 1, both), 0.02, ratchet.Inconclusive, 0},
		{"one that looks slower", many(100, 1, func(e *ratchet.Evidence) {
			both(e)
			shake(0.05, e.Candidate[:1])
			for i := range e.Candidate {
				e.Candidate[i].Median *= 1.05
			}
		}), 0.02, ratchet.Inconclusive, 0},
		{"one that is noisier than its base", many(100, 1, func(e *ratchet.Evidence) { shake(0.1, e.Candidate) }), 0.02, ratchet.Inconclusive, 0},
		{"one whose base failed", many(100, 1, func(e *ratchet.Evidence) { e.BaseError = "no" }), 0.02, ratchet.Inconclusive, 0},
		{"one that is not gated", many(100, 1, func(e *ratchet.Evidence) { both(e); e.Gate = false }), 0, ratchet.Maintained, 0},
		{"none allowed", many(100, 1, both), 0, ratchet.Inconclusive, 0},
	} {
		p := ratchet.Default()
		p.Undecided = test.share
		r := ratchet.Judge(p, test.list)
		if r.Verdict != test.want || len(r.Undecided) != test.excused {
			t.Errorf("%s: %s with %v excused; want %s with %d: %s", test.name, r.Verdict, r.Undecided, test.want, test.excused, r.Sentence)
		}
		for _, name := range r.Undecided {
			if !strings.Contains(r.Sentence, name) {
				t.Errorf("%s: %s is not named: %s", test.name, name, r.Sentence)
			}
		}
	}
}
