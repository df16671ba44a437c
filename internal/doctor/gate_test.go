package doctor_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// again makes a run of the candidate against itself, with rounds that differ by so
// much, and the candidate's side favoured by so much.
func again(rounds int, spread, favour float64) *measure.Run {
	rng := rand.New(rand.NewPCG(7, 8))
	side := func(shift float64) []measure.CaseRound {
		var list []measure.CaseRound
		for range rounds {
			at := 1e6 * math.Exp(shift+spread*rng.NormFloat64())
			r := measure.CaseRound{Quantum: 1}
			for range 20 {
				r.Samples = append(r.Samples, math.Round(at*(1+0.001*rng.NormFloat64())))
			}
			list = append(list, r)
		}
		return list
	}
	run := sides(side(0), side(favour))
	for i := range run.Cases {
		run.Cases[i].Gate = true
	}
	return run
}

func TestGate(t *testing.T) {
	p := ratchet.Default()
	for _, test := range []struct {
		name          string
		run           *measure.Run
		passes, fails bool
		undecided     int
		says          string
	}{
		{"a quiet machine", again(16, 0.002, 0), true, true, 0, "it can fail"},
		{"a noisy one", again(32, 0.4, 0), true, false, 1, "it cannot fail here"},
		{"one that favours a side", again(32, 0.002, 0.05), false, true, 0, "cannot be trusted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := doctor.NewGate(p, test.run)
			if g.SameCodePasses != test.passes || g.SlowdownFails != test.fails {
				t.Errorf("passes %t, fails %t: %+v", g.SameCodePasses, g.SlowdownFails, g.Cases)
			}
			if words := strings.Join(g.Words(), "\n"); !strings.Contains(words, test.says) {
				t.Errorf("the words do not say %q:\n%s", test.says, words)
			}
			if got := doctor.Undecided(p, test.run); len(got) != test.undecided {
				t.Errorf("undecided: %v", got)
			}
		})
	}
}
