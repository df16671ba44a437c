package trend

import (
	"math/rand/v2"
	"testing"
)

// made is a history with levels that a function gives, and noise of 0.6 %.
func made(seed uint64, n int, level func(i int) float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	points := make([]float64, n)
	for i := range points {
		points[i] = level(i) * (1 + 0.006*r.NormFloat64())
	}
	return points
}

// What creeps for a while between two levels is one drift. Steps in it would each accuse
// a commit that did nothing.
func TestACreepIsOneDrift(t *testing.T) {
	one := 0
	const tries = 60
	for seed := range uint64(tries) {
		points := made(seed, 360, func(i int) float64 { return 100 * (1 + 0.08*min(1, max(0, float64(i-170)/110))) })
		f, _ := Find(points, Settings{}, State{})
		if len(f.Events) != 1 || f.Events[0].Kind != Drift {
			t.Logf("seed %d: %+v", seed, f.Events)
			continue
		}
		one++
		if e := f.Events[0]; e.First < 120 || e.First > 215 || e.Last < 230 || e.Last > 325 || (e.After/e.Before-1) < 0.05 || (e.After/e.Before-1) > 0.1 {
			t.Errorf("seed %d: the drift from 170 to 280 by 8 %% is told as %+v", seed, e)
		}
	}
	if one < tries*9/10 {
		t.Errorf("%d of %d creeps are one drift", one, tries)
	}
}

// Steps that go the same way stay steps.
func TestStepsUpStayTwo(t *testing.T) {
	two := 0
	const tries = 60
	for seed := range uint64(tries) {
		points := made(seed, 300, func(i int) float64 { return 100 * (1 + 0.04*float64(min(2, i/100))) })
		f, _ := Find(points, Settings{}, State{})
		if len(f.Events) == 2 && f.Events[0].Kind == Step && f.Events[1].Kind == Step {
			two++
		} else {
			t.Logf("seed %d: %+v", seed, f.Events)
		}
	}
	if two < tries*9/10 {
		t.Errorf("%d of %d pairs of steps are two steps", two, tries)
	}
}
