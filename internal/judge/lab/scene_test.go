package lab

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/stats"
)

func TestShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	// The quartile of each: for the Gaussian 0.674, for t3 0.765 over the root of 3.
	for shape, quartile := range map[Shape]float64{Gaussian: 0.6745, T3: 0.4416, Bimodal: 0.95} {
		list := make([]float64, 100_000)
		for i := range list {
			list[i] = shape.draw(rng)
		}
		if mean := stats.Mean(list); math.Abs(mean) > 0.015 {
			t.Errorf("%s: mean %v, want 0", shape, mean)
		}
		if sd := stats.StdDev(list); math.Abs(sd-1) > 0.06 { // the deviation of t3 settles slowly
			t.Errorf("%s: standard deviation %v, want 1", shape, sd)
		}
		if q := stats.Quantile(list, 0.75); math.Abs(q-quartile) > 0.015 {
			t.Errorf("%s: third quartile %v, want %v", shape, q, quartile)
		}
	}
}

// What one method asks for must not change what the next one sees.
func TestComparisonDoesNotDependOnWhoAsks(t *testing.T) {
	scene := NewScene(T3, 0.015, 0.04)
	a, b := scene.Compare(1, 7), scene.Compare(1, 7)
	a.Stored(true)
	a.Round(Candidate, 5)
	for _, side := range []Side{Candidate, Base} {
		for i := range 8 {
			if x, y := a.Median(side, i).Median, b.Median(side, i).Median; x != y {
				t.Errorf("side %d round %d: %v and %v", side, i, x, y)
			}
			if x, y := a.Round(side, i).Median, a.Median(side, i).Median; x != y {
				t.Errorf("side %d round %d: with samples %v, without %v", side, i, x, y)
			}
		}
	}
	if cmp.Equal(medians(a, Base, 8), medians(scene.Compare(1, 8), Base, 8)) || cmp.Equal(medians(a, Base, 8), medians(scene.Compare(2, 7), Base, 8)) {
		t.Error("another trial or seed gives the same rounds")
	}
}

func TestWhatASceneDoes(t *testing.T) {
	ratios := func(s Scene) []float64 {
		var list []float64
		for trial := range uint64(400) {
			c := s.Compare(3, trial)
			for i := range 16 {
				list = append(list, math.Log(c.Median(Candidate, i).Median/c.Median(Base, i).Median))
			}
		}
		return list
	}
	s := NewScene(Gaussian, 0.015, 0.04)
	list := ratios(s)
	if mean := stats.Mean(list); math.Abs(mean-math.Log(1.04)) > 0.001 {
		t.Errorf("an effect of 4 %% shows as %v", math.Expm1(mean))
	}
	if sd := stats.StdDev(list); math.Abs(sd-0.015*math.Sqrt2) > 0.001 {
		t.Errorf("two sides of 1.5 %% differ by %v, want 2.1 %%: what the machine does is shared", sd)
	}
	s.Effect, s.Drift = 0, 0.5
	if mean := stats.Mean(ratios(s)); math.Abs(mean) > 0.001 {
		t.Errorf("drift shows as a difference of %v", mean)
	}
	s.Drift, s.Linger = 0, 0.6
	c := s.Compare(3, 1)
	var lag float64
	for trial := range uint64(400) {
		c = s.Compare(3, trial)
		lag += stats.Autocorrelation(logs(medians(c, Base, 32), medians(c, Candidate, 32)), 1) / 400
	}
	if lag < 0.4 || lag > 0.65 { // 32 values show less than there is
		t.Errorf("autocorrelation of rounds %v, want about 0.5 of 0.6", lag)
	}
	if step := math.Mod(c.Median(Base, 0).Median, s.Step); step != 0 {
		t.Errorf("off the timer's step by %v", step)
	}
}

func logs(base, now []float64) []float64 {
	list := make([]float64, len(base))
	for i := range list {
		list[i] = math.Log(now[i] / base[i])
	}
	return list
}

// The generator's samples are as the fit of the recordings says.
func TestEcho(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var lag, spread float64
	const rounds = 300
	for range rounds {
		list := recordedNoise.samples(rng, 2000, 100)
		if m := stats.Median(list); math.Abs(m-100) > 1e-3 {
			t.Fatalf("median %v, want the center", m)
		}
		for i := range list {
			list[i] = math.Log(list[i])
		}
		lag += stats.Autocorrelation(list, 1) / rounds
		spread += stats.StdDev(list) / rounds
	}
	if math.Abs(lag-recordedNoise.Lag1) > 0.02 || math.Abs(spread-recordedNoise.Spread) > 0.002 {
		t.Errorf("lag-1 %v, spread %v: want %+v", lag, spread, recordedNoise)
	}
}
