package tune

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRaceLooks(t *testing.T) {
	for samples, want := range map[int][]int{0: {1}, 1: {1}, 2: {2}, 5: {2, 5}, 7: {2, 7}, 20: {2, 7, 14, 20}, 40: {2, 7, 14, 28, 40}} {
		if diff := cmp.Diff(want, NewRace(samples).Looks); diff != "" {
			t.Errorf("%d samples: %s", samples, diff)
		}
	}
}

func TestRaceMore(t *testing.T) {
	flat := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	r := NewRace(28)
	for _, tt := range []struct {
		name          string
		samples, best []float64
		more          int
		lost          bool
	}{
		{"the first of all", nil, nil, 2, false},
		{"it gets all", flat(2, 100), nil, 5, false},
		{"until there are enough", flat(28, 100), nil, 0, false},
		{"two thirds of the speed, of two samples nobody knows", flat(2, 150), flat(28, 100), 5, false},
		{"after seven it is clear", flat(7, 150), flat(28, 100), 0, true},
		{"hopeless at once", flat(2, 250), flat(28, 100), 0, true},
		{"one slow sample says nothing", []float64{1000, 100}, flat(28, 100), 5, false},
		{"worse by less than the slack", flat(7, 102), flat(28, 100), 7, false},
		{"worse by more", flat(7, 104), flat(28, 100), 0, true},
		{"better", flat(14, 90), flat(28, 100), 14, false},
		{"one of seven is as good as the best", append(flat(6, 150), 100), flat(28, 100), 7, false},
	} {
		if more, lost := r.More(tt.samples, tt.best); more != tt.more || lost != tt.lost {
			t.Errorf("%s: %d more, lost %v; want %d, %v", tt.name, more, lost, tt.more, tt.lost)
		}
	}
}

// The chance that the bound is above the median is what it is said to be, by counting.
func TestBoundRank(t *testing.T) {
	for n := range 60 {
		rank := boundRank(n)
		below := func(k int) float64 { // P(fewer than k of n coins show heads)
			sum := 0.0
			for i := range k {
				sum += math.Exp(lchoose(n, i) - float64(n)*math.Ln2)
			}
			return sum
		}
		if below(rank) > boundError+1e-12 {
			t.Errorf("%d samples: rank %d is above the median with a chance of %.4f", n, rank, below(rank))
		}
		if rank+1 <= n/2 && below(rank+1) <= boundError-1e-12 {
			t.Errorf("%d samples: rank %d would do too", n, rank+1)
		}
	}
}

func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// noise draws factors around 1 of which 1 is the median.
var noise = map[string]func(*rand.Rand, float64) float64{
	"normal":    func(g *rand.Rand, s float64) float64 { return math.Max(0.01, 1+s*g.NormFloat64()) },
	"lognormal": func(g *rand.Rand, s float64) float64 { return math.Exp(s * g.NormFloat64()) },
	"skewed": func(g *rand.Rand, s float64) float64 { // nothing is ever faster than the hardware
		return 1 + s*(g.ExpFloat64()-math.Ln2)
	},
	"two speeds": func(g *rand.Rand, s float64) float64 {
		if g.IntN(4) == 0 {
			return 1 + 5*s*g.Float64()
		}
		return 1 + s/10*g.NormFloat64()
	},
}

func draw(g *rand.Rand, kind string, median, spread float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = median * noise[kind](g, spread)
	}
	return list
}

func run(g *rand.Rand, r Race, kind string, median, spread float64, best []float64) (used int, lost bool) {
	var samples []float64
	for {
		more, out := r.More(samples, best)
		if more == 0 {
			return len(samples), out
		}
		samples = append(samples, draw(g, kind, median, spread, more)...)
	}
}

// A point that is as good as the best or better is dropped in at most 4 of 100 races, whatever
// the noise looks like; in practice far less, because both bounds have to fail at once.
func TestRaceKeepsTheBest(t *testing.T) {
	const races = 400
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(slices.Sorted(maps.Keys(noise))).Draw(t, "noise")
		spread := rapid.Float64Range(0.001, 0.15).Draw(t, "spread")
		better := rapid.Float64Range(0, 0.2).Draw(t, "better by")
		g := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r := NewRace(28)
		dropped := 0
		for range races {
			if _, lost := run(g, r, kind, 100*(1-better), spread, draw(g, kind, 100, spread, 28)); lost {
				dropped++
			}
		}
		if dropped > races*4/100 {
			t.Errorf("%d of %d points that are %.1f %% better were dropped (%s noise, spread %.3f)", dropped, races, 100*better, kind, spread)
		}
	})
}

// What the race is for: most points are far from the best, and cost a few samples each.
func TestRaceSaves(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	r := NewRace(28)
	best := draw(g, "skewed", 100, 0.05, 28)
	for _, tt := range []struct {
		slower float64
		most   float64 // samples, on average
	}{{0.1, 24}, {0.3, 9}, {0.6, 8}, {2, 2.5}} {
		total := 0
		for range 1000 {
			used, _ := run(g, r, "skewed", 100*(1+tt.slower), 0.05, best)
			total += used
		}
		if mean := float64(total) / 1000; mean > tt.most {
			t.Errorf("a point slower by %.0f %% takes %.1f samples of 28, want at most %.1f", 100*tt.slower, mean, tt.most)
		}
	}
}
