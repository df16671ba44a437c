package sweep_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/stats"
)

func onePower(t *testing.T, rounds int, spread float64) *sweep.Power {
	t.Helper()
	return analyse(t, record(
		times{"S128", "candidate", wobble(1e6, spread, 0, rounds)}, times{"S128", "sdpa", wobble(1e6, spread, 1, rounds)},
	)).Configs[0].Power
}

func TestPowerFollowsRoundsAndSpread(t *testing.T) {
	few, many, noisier := onePower(t, 8, 0.01), onePower(t, 32, 0.01), onePower(t, 32, 0.02)
	if !(few.Detectable > 1.9*many.Detectable && noisier.Detectable > 1.9*many.Detectable) {
		t.Errorf("detectable: 8 rounds %v, 32 rounds %v, twice the spread %v", few.Detectable, many.Detectable, noisier.Detectable)
	}
	if few.Rounds != 8 || many.Rounds != 32 {
		t.Errorf("rounds %d and %d", few.Rounds, many.Rounds)
	}
	if many.For3 == 0 || many.For3 >= many.For1 {
		t.Errorf("rounds for 3 %%: %d, for 1 %%: %d", many.For3, many.For1)
	}
}

// What is promised is what happens: the difference that is called detectable is found
// in about 19 of 20 sweeps of so many rounds.
func TestDetectableIsDetected(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	const rounds, trials = 12, 120
	p := onePower(t, rounds, 0.01) // wobbles of two phases: a paired spread of sqrt(2) percent
	levels := map[string]float64{"candidate": 1e6, "sdpa": 1e6 * (1 + p.Detectable)}
	found := 0
	for range trials {
		own := math.Log1p(p.Spread) / math.Sqrt2
		r := analyse(t, record(noisy(rng, levels, []string{"candidate", "sdpa"}, "S128", rounds, 0.05, own)...))
		if r.Configs[0].Pairs[0].Told {
			found++
		}
	}
	if found < 104 || found == trials {
		t.Errorf("found in %d of %d, want about 114", found, trials)
	}
	t.Logf("found %d of %d", found, trials)
}

func TestPowerOfFewRounds(t *testing.T) {
	if p := onePower(t, 2, 0.01); p != nil {
		t.Errorf("two rounds decide nothing, and have no power: %+v", p)
	}
	// Four rounds that hardly differ are luck until shown otherwise.
	if p := onePower(t, 4, 1e-6); p == nil || p.Detectable < 0.02 || p.For1 < 8 {
		t.Errorf("%+v", p)
	}
}

// Where the timer's step hides all there is to see, no number of rounds helps.
func TestPowerOfACoarseTimer(t *testing.T) {
	run := record(times{"S128", "candidate", wobble(100, 0, 0, 8)}, times{"S128", "sdpa", wobble(100, 0, 1, 8)})
	for i := range run.Cases {
		for r := range run.Cases[i].Rounds {
			run.Cases[i].Rounds[r].Quantum = 5
		}
	}
	p := analyse(t, run).Configs[0].Power
	if p.For1 != 0 || p.Detectable < 0.03 {
		t.Errorf("%+v", p)
	}
}

// The number of rounds that is named is enough, and one less is not.
func TestRoundsForADifference(t *testing.T) {
	const alpha, miss = 0.01 / 2, 0.05 // one pair, tested in both directions
	for _, spread := range []float64{0.0005, 0.002, 0.01, 0.03, 0.1} {
		p := onePower(t, 16, spread)
		sd := math.Log1p(p.Spread)
		for difference, rounds := range map[float64]int{0.01: p.For1, 0.03: p.For3} {
			power := func(n int) float64 {
				used := sd
				if n < 8 {
					used = max(sd, 0.01) // the judge's rule for few rounds
				}
				return stats.Power(math.Log1p(difference), used, n, alpha)
			}
			if power(rounds) < 1-miss || rounds > 3 && power(rounds-1) >= 1-miss {
				t.Errorf("spread %v, difference %v: %d rounds have power %v, one less %v", spread, difference, rounds, power(rounds), power(rounds-1))
			}
		}
	}
}
