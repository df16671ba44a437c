package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// shareWith is how many of many sets have so many modes.
func shareWith(modes, tries int, quantum float64, draw func() []float64) float64 {
	count := 0
	for range tries {
		if len(stats.Modes(draw(), quantum)) == modes {
			count++
		}
	}
	return float64(count) / float64(tries)
}

// The steps of a timer are not modes, however large they are.
func TestOneModeSurvivesATimer(t *testing.T) {
	const tries = 500
	rng := rand.New(rand.NewPCG(11, 1))
	for _, step := range []float64{0, 0.1, 0.25, 0.5, 1, 2, 4} { // in standard deviations
		share := shareWith(1, tries, step, func() []float64 {
			return rounded(normals(rng, 100, 60+rng.Float64(), 1), step)
		})
		if share < 0.99 {
			t.Errorf("a step of %v standard deviations: %.1f %% have one mode", step, 100*share)
		}
	}
}

func TestTwoModesAreSeen(t *testing.T) {
	const tries = 300
	rng := rand.New(rand.NewPCG(11, 2))
	for _, tt := range []struct {
		name                 string
		apart, second, least float64
	}{
		{"equal, six standard deviations apart", 6, 0.5, 0.97},
		{"equal, ten apart", 10, 0.5, 0.99},
		{"a tenth of the samples, ten apart", 10, 0.1, 0.9},
	} {
		for _, step := range []float64{0, 0.5, 1} {
			share := shareWith(2, tries, step, func() []float64 {
				x := normals(rng, 100, 60, 1)
				for i := range x {
					if rng.Float64() < tt.second {
						x[i] += tt.apart
					}
				}
				return rounded(x, step)
			})
			if share < tt.least {
				t.Errorf("%s, a step of %v: %.1f %% have two modes", tt.name, step, 100*share)
			}
		}
	}
}

func TestWhereModesAre(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	x := append(normals(rng, 60, 60, 1), normals(rng, 40, 75, 1)...)
	got := stats.Modes(x, 0)
	if len(got) != 2 {
		t.Fatalf("modes %v", got)
	}
	for i, want := range []stats.Mode{{At: 60, Share: 0.6}, {At: 75, Share: 0.4}} {
		if math.Abs(got[i].At-want.At) > 0.7 || math.Abs(got[i].Share-want.Share) > 1e-12 {
			t.Errorf("mode %d: %+v, want about %+v", i, got[i], want)
		}
	}
}

func TestModesOfLittle(t *testing.T) {
	for name, tt := range map[string]struct {
		x       []float64
		quantum float64
		want    int
	}{
		"nothing":        {nil, 0, 0},
		"not a number":   {[]float64{1, math.NaN()}, 0, 0},
		"one":            {[]float64{7}, 0, 1},
		"one, a step":    {[]float64{7}, 1, 1},
		"constant":       {[]float64{7, 7, 7, 7}, 0, 1},
		"constant, step": {[]float64{7, 7, 7, 7}, 0.5, 1},
		"two":            {[]float64{7, 9}, 0, 1},
		"infinite":       {[]float64{7, math.Inf(1)}, 0, 1},
		"huge":           {[]float64{-math.MaxFloat64, 0, math.MaxFloat64}, 0, 1},
	} {
		if got := stats.Modes(tt.x, tt.quantum); len(got) != tt.want {
			t.Errorf("%s: modes %v, want %d", name, got, tt.want)
		}
	}
	// A wild sample neither takes long nor hides the rest.
	x := append(normals(rand.New(rand.NewPCG(11, 4)), 100, 60, 1), 1e12)
	if got := stats.Modes(x, 1); len(got) != 1 || math.Abs(got[0].At-60) > 2 {
		t.Errorf("with a wild sample: %v", got)
	}
}

func TestModesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := timings(t, "x", 1, 150)
		quantum := rapid.SampledFrom([]float64{0, 0.25, 8}).Draw(t, "quantum")
		got := stats.Modes(x, quantum)
		if len(got) == 0 {
			t.Fatal("no mode")
		}
		var sum float64
		for i, m := range got {
			if !(m.Share > 0) || i > 0 && m.At <= got[i-1].At {
				t.Fatalf("modes %v", got)
			}
			sum += m.Share
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("shares of %v sum to %v", got, sum)
		}
		scaled := stats.Modes(times(x, 4, 0), 4*quantum)
		if len(scaled) != len(got) {
			t.Fatalf("in another unit %v, was %v", scaled, got)
		}
		for i := range got {
			if math.Abs(scaled[i].At-4*got[i].At) > 1e-9*scaled[i].At || scaled[i].Share != got[i].Share {
				t.Fatalf("in another unit %v, was %v", scaled, got)
			}
		}
	})
}
