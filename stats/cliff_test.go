package stats_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

func TestEffectOf(t *testing.T) {
	for _, tt := range []struct {
		delta float64
		want  stats.Effect
	}{
		{0, stats.Negligible},
		{0.1469, stats.Negligible},
		{0.147, stats.Small},
		{-0.3299, stats.Small},
		{0.33, stats.Medium},
		{-0.4739, stats.Medium},
		{0.474, stats.Large},
		{-1, stats.Large},
		{math.NaN(), ""},
	} {
		if got := stats.EffectOf(tt.delta); got != tt.want {
			t.Errorf("a delta of %v is %q, want %q", tt.delta, got, tt.want)
		}
	}
}

// pairs compares every value of x with every value of y.
func pairs(x, y []float64) (greater, equal float64) {
	for _, a := range x {
		for _, b := range y {
			switch {
			case a > b:
				greater++
			case a == b:
				equal++
			}
		}
	}
	return greater, equal
}

// together are two sets that share a timer, so that values of one tie with values of the
// other.
func together(t *rapid.T, least, most int) (x, y []float64) {
	all := timings(t, "x and y", 2*least, 2*most)
	cut := rapid.IntRange(least, len(all)-least).Draw(t, "cut")
	return all[:cut], all[cut:]
}

func TestCliffProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := together(t, 1, 50)
		delta := stats.Cliff(x, y)
		greater, equal := pairs(x, y)
		all := float64(len(x) * len(y))
		if want := (greater - (all - greater - equal)) / all; math.Abs(delta-want) > 1e-12 {
			t.Fatalf("delta %v, counted %v", delta, want)
		}
		if got := stats.Cliff(y, x); got != -delta {
			t.Fatalf("turned around %v, was %v", got, delta)
		}
		if got := stats.Cliff(times(x, 2, 64), times(y, 2, 64)); got != delta {
			t.Fatalf("scaled and shifted %v, was %v", got, delta)
		}
		if got := stats.Cliff(x, x); got != 0 {
			t.Fatalf("against itself %v", got)
		}
		u := stats.MannWhitney(x, y, stats.TwoSided).Statistic
		if got := 2*u/all - 1; math.Abs(got-delta) > 1e-12 {
			t.Fatalf("by way of U %v, was %v", got, delta)
		}
	})
}

func TestCliffOfLittle(t *testing.T) {
	if got := stats.Cliff([]float64{2}, []float64{1}); got != 1 {
		t.Errorf("one larger than one: %v", got)
	}
	for name, got := range map[string]float64{
		"nothing":      stats.Cliff(nil, []float64{1}),
		"not a number": stats.Cliff([]float64{1}, []float64{math.NaN(), 1}),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s: %v, want NaN", name, got)
		}
	}
}
