package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// How many pairs a shift of half a standard deviation takes, as the usual tables of
// exact power have it.
func TestLeastDetectableAgainstTables(t *testing.T) {
	for _, tt := range []struct {
		alpha, beta float64
		n           int
	}{{0.05, 0.05, 45}, {0.025, 0.05, 54}, {0.025, 0.2, 34}, {0.05, 0.2, 27}} {
		enough, short := stats.MinDetectable(1, tt.n, tt.alpha, tt.beta), stats.MinDetectable(1, tt.n-1, tt.alpha, tt.beta)
		if enough > 0.5 || short <= 0.5 {
			t.Errorf("alpha %v, beta %v: %d pairs find %v, %d find %v", tt.alpha, tt.beta, tt.n, enough, tt.n-1, short)
		}
	}
}

// What is promised holds: of shifts of that size, so many are found.
func TestLeastDetectableIsFound(t *testing.T) {
	const tries = 4000
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{2, 4, 8, 32} {
		const sd = 0.02
		shift := stats.MinDetectable(sd, n, 0.01, 0.05)
		critical := stats.TQuantile(1-0.01, float64(n-1))
		found, alarms := 0, 0
		for range tries {
			d := make([]float64, n)
			for i := range d {
				d[i] = sd * rng.NormFloat64()
			}
			se := stats.StdDev(d) / math.Sqrt(float64(n))
			if stats.Mean(d)/se > critical {
				alarms++
			}
			if (stats.Mean(d)+shift)/se > critical {
				found++
			}
		}
		// Four standard errors of a share either way.
		if share := float64(found) / tries; math.Abs(share-0.95) > 0.014 {
			t.Errorf("%d pairs: %.1f %% of shifts are found", n, share*100)
		}
		if share := float64(alarms) / tries; math.Abs(share-0.01) > 0.0065 {
			t.Errorf("%d pairs: %.2f %% false alarms", n, share*100)
		}
	}
}

func TestLeastDetectableProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(t, "n")
		alpha := rapid.Float64Range(0.0005, 0.2).Draw(t, "alpha")
		beta := rapid.Float64Range(0.01, 0.5).Draw(t, "beta")
		least := stats.MinDetectable(1, n, alpha, beta)
		if math.IsNaN(least) || least <= 0 {
			t.Fatalf("least %v", least)
		}
		if more := stats.MinDetectable(1, n+1, alpha, beta); !(more < least) {
			t.Fatalf("one pair more makes it %v from %v", more, least)
		}
		if strict := stats.MinDetectable(1, n, alpha/2, beta/2); !(strict > least) {
			t.Fatalf("a stricter test finds %v, a looser %v", strict, least)
		}
		if wide := stats.MinDetectable(3, n, alpha, beta); math.Abs(wide-3*least) > 1e-9*wide {
			t.Fatalf("it does not grow with the spread: %v, %v", least, wide)
		}
	})
}
