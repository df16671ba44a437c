package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

func TestMedianRatioProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := timings(t, "base", 1, 60), timings(t, "candidate", 1, 60)
		quantum := rapid.SampledFrom([]float64{0, 0.01, 2, 1e6}).Draw(t, "quantum")
		level := rapid.Float64Range(0.5, 0.98).Draw(t, "level")
		r := stats.MedianRatio(x, y, level, quantum)
		if want := stats.Median(y) / stats.Median(x); math.Abs(r.Value-want) > 1e-12*want {
			t.Fatalf("%v, want %v", r.Value, want)
		}
		if !(r.Low > 0) || !(r.Low <= r.Value*(1+1e-12) && r.Value <= r.High*(1+1e-12)) || math.IsInf(r.High, 0) {
			t.Fatalf("%v does not hold its ratio", r)
		}
		if quantum > 0 && !(r.Low < r.Value && r.Value < r.High) {
			t.Fatalf("%v has collapsed", r)
		}
		wider := stats.MedianRatio(x, y, level+0.019, quantum)
		if wider.Low > r.Low*(1+1e-12) || wider.High < r.High*(1-1e-12) {
			t.Fatalf("a higher level gives %v, a lower %v", wider, r)
		}
		inverse := stats.MedianRatio(y, x, level, quantum)
		if math.Abs(inverse.Low*r.High-1) > 1e-9 || math.Abs(inverse.High*r.Low-1) > 1e-9 {
			t.Fatalf("swapped %v, was %v", inverse, r)
		}
		scaled := stats.MedianRatio(times(x, 4, 0), times(y, 4, 0), level, 4*quantum)
		if math.Abs(scaled.Low-r.Low) > 1e-9*r.Low || math.Abs(scaled.High-r.High) > 1e-9*r.High {
			t.Fatalf("in another unit %v, was %v", scaled, r)
		}
	})
}

// A kernel with two speeds has a median whose limits lie far from it. They are not cut.
func TestMedianRatioOfTwoSpeeds(t *testing.T) {
	x := []float64{1, 1, 1, 10, 10, 10, 10}
	steady := []float64{10, 10, 10, 10, 10, 10, 10}
	limits := stats.MedianInterval(x, 0.95, 0)
	if limits.Low != 1 {
		t.Fatalf("limits %v are not what this is about", limits)
	}
	r := stats.MedianRatio(steady, x, 0.95, 0)
	near(t, "low", r.Low, 0.1, 1e-12)
	near(t, "high", r.High, 1, 1e-12)
}

// Of intervals at 95 %, about 95 in 100 hold the true ratio.
func TestMedianRatioCovers(t *testing.T) {
	const tries = 1500
	rng := rand.New(rand.NewPCG(9, 1))
	for _, q := range []float64{0, 0.5} {
		held := 0
		for range tries {
			base, candidate := rounded(normals(rng, 60, 60, 1), q), rounded(normals(rng, 90, 61.8, 1), q)
			if stats.MedianRatio(base, candidate, 0.95, q).Contains(1.03) {
				held++
			}
		}
		share := float64(held) / tries
		if share < 0.93 || q == 0 && share > 0.975 {
			t.Errorf("step %v: %.1f %% hold the true ratio", q, 100*share)
		}
	}
}

// The drawn intervals come to the computed ones.
func TestRatiosByDrawing(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	x, y := normals(rng, 100, 60, 1), normals(rng, 100, 62, 1)
	computed, drawn := stats.MedianRatio(x, y, 0.95, 0), stats.Bootstrap{}.MedianRatio(x, y)
	agree(t, "medians", drawn, computed)
	var base, candidate [][]float64
	var medians [2][]float64
	for range 32 {
		level := 60 + 2*rng.NormFloat64() // that a round shares, and a ratio does not see
		b, c := normals(rng, 50, level+0.3*rng.NormFloat64(), 0.2), normals(rng, 50, 1.02*level+0.3*rng.NormFloat64(), 0.2)
		base, candidate = append(base, b), append(candidate, c)
		medians[0], medians[1] = append(medians[0], stats.Median(b)), append(medians[1], stats.Median(c))
	}
	agree(t, "rounds", stats.Bootstrap{Resamples: 4000}.PairedRatio(base, candidate), paired(t, medians[0], medians[1], 0).Ratio(0.95))
}

func agree(t *testing.T, name string, drawn, computed stats.Ratio) {
	t.Helper()
	tolerance := 0.2 * computed.Width()
	if math.Abs(drawn.Value-computed.Value) > 1e-12 || math.Abs(drawn.Low-computed.Low) > tolerance || math.Abs(drawn.High-computed.High) > tolerance {
		t.Errorf("%s: drawn %v, computed %v", name, drawn, computed)
	}
}

func TestRatioOfNothing(t *testing.T) {
	few := stats.Bootstrap{Resamples: 10}
	one, none := []float64{1}, []float64(nil)
	for name, r := range map[string]stats.Ratio{
		"no base":                  stats.MedianRatio(none, one, 0.95, 0),
		"no candidate":             stats.MedianRatio(one, none, 0.95, 0),
		"zero":                     stats.MedianRatio([]float64{0}, one, 0.95, 0),
		"negative":                 stats.MedianRatio(one, []float64{-1}, 0.95, 0),
		"level":                    stats.MedianRatio(one, one, 1, 0),
		"drawn, no base":           few.MedianRatio(none, one),
		"drawn, zero":              few.MedianRatio([]float64{0, 1}, one),
		"drawn, not a number":      few.MedianRatio(one, []float64{math.NaN()}),
		"rounds, none":             few.PairedRatio(nil, nil),
		"rounds, one side":         few.PairedRatio([][]float64{one}, nil),
		"rounds, an empty one":     few.PairedRatio([][]float64{one, none}, [][]float64{one, one}),
		"rounds, not all positive": few.PairedRatio([][]float64{{0, 1}}, [][]float64{one}),
	} {
		if !math.IsNaN(r.Value) || !math.IsNaN(r.Low) || !math.IsNaN(r.High) {
			t.Errorf("%s: %v, want NaN", name, r)
		}
	}
}
