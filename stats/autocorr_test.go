package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// A series in which each value keeps a share phi of the one before has (1-phi)/(1+phi)
// of its length in independent values.
func TestEffectiveSizeOfKnownSeries(t *testing.T) {
	const n, tries = 2000, 20
	rng := rand.New(rand.NewPCG(4, 4))
	for _, phi := range []float64{0, 0.5, 0.8, 0.95} {
		var sum float64
		for range tries {
			x := normals(rng, n, 0, 1)
			for i := 1; i < n; i++ {
				x[i] += phi * x[i-1]
			}
			sum += stats.EffectiveSize(x) / n
		}
		want := (1 - phi) / (1 + phi)
		if got := sum / tries; math.Abs(got-want) > 0.15*want {
			t.Errorf("phi %v: %.3f of the length, want about %.3f", phi, got, want)
		}
	}
}

// Clocks that jump between two speeds now and then.
func TestEffectiveSizeOfTwoSpeeds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	x := normals(rng, 1000, 60, 0.5)
	for i := range x {
		if i/100%2 == 1 {
			x[i] += 5
		}
	}
	if got := stats.EffectiveSize(x); got > 50 {
		t.Errorf("ten stretches of a hundred values count as %.0f independent ones", got)
	}
}

func TestAutocorrelationOfLittle(t *testing.T) {
	alternating := []float64{1, 2, 1, 2, 1, 2, 1, 2}
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"nothing", stats.Autocorrelation(nil, 1), 0},
		{"nothing at lag 0", stats.Autocorrelation(nil, 0), 0},
		{"one value", stats.Autocorrelation([]float64{3}, 0), 0},
		{"constant", stats.Autocorrelation([]float64{0.1, 0.1, 0.1}, 1), 0},
		{"itself", stats.Autocorrelation(alternating, 0), 1},
		{"alternating", stats.Autocorrelation(alternating, 1), -7.0 / 8},
		{"the lag backwards", stats.Autocorrelation(alternating, -1), -7.0 / 8},
		{"too long a lag", stats.Autocorrelation(alternating, 8), 0},
		{"size of nothing", stats.EffectiveSize(nil), 0},
		{"size of one", stats.EffectiveSize([]float64{3}), 1},
		{"size of a constant", stats.EffectiveSize([]float64{0.1, 0.1, 0.1}), 3},
		{"size of what alternates", stats.EffectiveSize(alternating), 8},
	} {
		if math.Abs(tt.got-tt.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestAutocorrelationProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := timings(t, "x", 1, 60)
		lag := rapid.IntRange(0, 70).Draw(t, "lag")
		r, size := stats.Autocorrelation(x, lag), stats.EffectiveSize(x)
		if r < -1 || r > 1+1e-12 {
			t.Fatalf("autocorrelation %v", r)
		}
		if size < 1 || size > float64(len(x)) {
			t.Fatalf("%d values count as %v", len(x), size)
		}
		scaled := times(x, 8, 4096)
		if got := stats.Autocorrelation(scaled, lag); math.Abs(got-r) > 1e-9 {
			t.Fatalf("scaled and shifted %v, was %v", got, r)
		}
		slices.Reverse(scaled)
		if got := stats.Autocorrelation(scaled, lag); math.Abs(got-r) > 1e-9 {
			t.Fatalf("backwards %v, was %v", got, r)
		}
	})
}
