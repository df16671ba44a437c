package stats_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

// Reference values: scipy 1.10.1, numpy 1.24.2.
func TestReferenceValues(t *testing.T) {
	x := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}
	near(t, "median", stats.Median(x), 3.5, 0)
	near(t, "p95", stats.Quantile(x, 0.95), 7.65, 1e-15)
	near(t, "p99", stats.Quantile(x, 0.99), 8.73, 1e-15)
	near(t, "sd", stats.StdDev(x), 2.4698178070456938, 1e-15)
	near(t, "cv", stats.CV(x), 2.4698178070456938/3.9, 1e-15)
	near(t, "mad", stats.MAD(x), 1.5, 0)
	for _, tt := range []struct{ p, df, want float64 }{
		{0.975, 1, 12.706204736432095},
		{0.95, 3, 2.3533634348018264},
		{0.999, 3, 10.214531852405331},
		{0.999, 7, 4.785289628649168},
		{0.999, 31, 3.374899280415178},
		{0.9999, 15, 4.879998288424575},
		{0.6, 100, 0.25402218245699415},
		{0.025, 31, -2.039513446396408},
	} {
		near(t, "t quantile", stats.TQuantile(tt.p, tt.df), tt.want, 1e-10)
		near(t, "t cdf", stats.TCDF(tt.want, tt.df), tt.p, 1e-12)
	}
}

func TestNothingIsNaN(t *testing.T) {
	for name, v := range map[string]float64{
		"median": stats.Median(nil), "mean": stats.Mean(nil), "sd of one": stats.StdDev([]float64{1}),
		"mad": stats.MAD(nil), "least detectable": stats.MinDetectable(1, 1, 0.001, 0.05),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s of nothing is %v, want NaN", name, v)
		}
	}
}

func samples(t *rapid.T) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(1, 1e6), 1, 60).Draw(t, "x")
}

func TestQuantileProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := samples(t)
		before := slices.Clone(x)
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		a, b := stats.Quantile(x, min(p, q)), stats.Quantile(x, max(p, q))
		if a > b || a < slices.Min(x) || b > slices.Max(x) {
			t.Fatalf("quantiles %v, %v of %v", a, b, x)
		}
		if !slices.Equal(x, before) {
			t.Fatal("the caller's slice was changed")
		}
	})
}

func TestSteady(t *testing.T) {
	ramp := func(n int, from, to float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = from + (to-from)*float64(i)/float64(n-1)
		}
		return x
	}
	tests := []struct {
		name string
		x    []float64
		want bool
	}{
		{"too short", ramp(19, 100, 100), false},
		{"constant", ramp(20, 100, 100), true},
		{"still speeding up", ramp(20, 150, 100), false},
		{"settled after a slow start", append([]float64{500, 300, 200, 110}, ramp(20, 100, 100)...), true},
		{"one step of the timer", append(ramp(10, 61, 61), ramp(10, 62, 62)...), true},
		{"noise without trend", []float64{90, 110, 95, 105, 100, 92, 108, 97, 103, 100, 91, 109, 96, 104, 101, 93, 107, 98, 102, 99}, true},
	}
	for _, tt := range tests {
		if got := stats.Steady(tt.x, 10, 0.01, 1); got != tt.want {
			t.Errorf("%s: steady = %v, want %v", tt.name, got, tt.want)
		}
	}
}
