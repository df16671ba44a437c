package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// What is drawn comes to what is computed, as the number of resamples grows.
func TestBootstrapComesToTheExactLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{5, 20, 99, 100} {
		x := rounded(normals(rng, n, 60, 1), 1.0/64)
		exact := stats.MedianInterval(x, 0.9, 0)
		drawn := stats.Bootstrap{Resamples: 40_000, Level: 0.9, Seed: 7}.Median(x)
		// Its ends are off by the chance of the drawing: a share of 0.05 is seen as 0.05 give
		// or take 0.005, between the ends for levels of 0.89 and 0.91.
		inner, outer := stats.MedianInterval(x, 0.89, 0), stats.MedianInterval(x, 0.91, 0)
		if drawn.Low < outer.Low || drawn.Low > inner.Low || drawn.High > outer.High || drawn.High < inner.High {
			t.Errorf("%d values: drawn %v, exact %v (between %v and %v)", n, drawn, exact, inner, outer)
		}
	}
}

func TestBootstrapIsReproducible(t *testing.T) {
	x := normals(rand.New(rand.NewPCG(1, 2)), 50, 60, 1)
	first := stats.Bootstrap{}.Median(x)
	if again := (stats.Bootstrap{Resamples: 10_000, Level: 0.95, Seed: 42}).Median(x); again != first {
		t.Errorf("the defaults are 10,000 resamples, 0.95 and seed 42: %v, and %v", first, again)
	}
	if other := (stats.Bootstrap{Resamples: 100, Seed: 43}).Median(x); other == (stats.Bootstrap{Resamples: 100, Seed: 44}.Median(x)) {
		t.Error("another seed draws the same")
	}
}

// Rounds that differ from each other make the interval as wide as that, however
// many samples each has; drawing samples alone does not see it.
func TestRoundsAreWhatCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var rounds [][]float64
	var pooled []float64
	for range 16 {
		r := normals(rng, 100, 60+rng.NormFloat64(), 0.1)
		rounds, pooled = append(rounds, r), append(pooled, r...)
	}
	mean := func(rounds [][]float64) float64 {
		var sum float64
		for _, r := range rounds {
			sum += stats.Median(r)
		}
		return sum / float64(len(rounds))
	}
	got := stats.Bootstrap{Resamples: 2000}.Rounds(rounds, mean)
	flat := stats.MedianInterval(pooled, 0.95, 0)
	// Sixteen rounds of standard deviation 1: a mean to within about 0.5 either way.
	if got.Width() < 0.5 || got.Width() > 1.5 {
		t.Errorf("by rounds %v", got)
	}
	if flat.Width() > got.Width()/2 {
		t.Errorf("by samples %v, by rounds %v: the difference that this is about is not there", flat, got)
	}
}

func TestBootstrapRoundsResamplesWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rounds := [][]float64{timings(t, "a", 1, 5), timings(t, "b", 1, 9), timings(t, "c", 1, 3)}
		stats.Bootstrap{Resamples: 20}.Rounds(rounds, func(drawn [][]float64) float64 {
			if len(drawn) != len(rounds) {
				t.Fatalf("%d rounds drawn from %d", len(drawn), len(rounds))
			}
			for _, d := range drawn {
				from := slices.IndexFunc(rounds, func(r []float64) bool {
					return len(r) == len(d) && !slices.ContainsFunc(d, func(v float64) bool { return !slices.Contains(r, v) })
				})
				if from < 0 {
					t.Fatalf("%v comes from no round of %v", d, rounds)
				}
			}
			return 0
		})
	})
}

func TestBootstrapOfNothing(t *testing.T) {
	none := func([][]float64) float64 { return 0 }
	for name, i := range map[string]stats.Interval{
		"median":       stats.Bootstrap{}.Median(nil),
		"rounds":       stats.Bootstrap{}.Rounds(nil, none),
		"empty round":  stats.Bootstrap{}.Rounds([][]float64{{1}, {}}, none),
		"level":        stats.Bootstrap{Level: 1.5}.Median([]float64{1, 2}),
		"unequal":      stats.Bootstrap{}.PairedRatio([][]float64{{1}}, nil).Interval,
		"empty side":   stats.Bootstrap{}.MedianRatio([]float64{1}, nil).Interval,
		"exact ratio":  stats.MedianRatio(nil, []float64{1}, 0.95, 0).Interval,
		"negative one": stats.MedianRatio([]float64{-1}, []float64{1}, 0.95, 0).Interval,
	} {
		if !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
			t.Errorf("%s: %v, want NaN", name, i)
		}
	}
}
