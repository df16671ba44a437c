package stats_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// resamples visits the median of every resample that a set has.
func resamples(x []float64, visit func(median float64)) {
	drawn := make([]float64, len(x))
	var fill func(int)
	fill = func(i int) {
		if i == len(x) {
			visit(stats.Median(drawn))
			return
		}
		for _, v := range x {
			drawn[i] = v
			fill(i + 1)
		}
	}
	fill(0)
}

// The law is that of all resamples: for sets so small that all can be drawn, its
// quantiles are theirs.
func TestMedianIntervalIsTheLawOfAllResamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := timings(t, "x", 1, 5)
		level := rapid.Float64Range(0.01, 0.999).Draw(t, "level")
		var medians []float64
		resamples(x, func(m float64) { medians = append(medians, m) })
		slices.Sort(medians)
		at := func(p float64) float64 { // the smallest that a share p does not exceed
			return medians[max(int(math.Ceil(p*float64(len(medians))-1e-9))-1, 0)]
		}
		want := stats.Interval{Low: at((1 - level) / 2), High: at(1 - (1-level)/2)}
		if got := stats.MedianInterval(x, level, 0); math.Abs(got.Low-want.Low) > 1e-12*want.Low || math.Abs(got.High-want.High) > 1e-12*want.High {
			t.Fatalf("interval of %v at %v: %v, want %v", x, level, got, want)
		}
	})
}

func TestMedianIntervalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := timings(t, "x", 1, 130)
		quantum := rapid.Float64Range(0, 10).Draw(t, "quantum")
		// No level at which the law jumps: there a quantile is the value before the jump, which
		// is another one after turning around.
		level := 0.5 + float64(rapid.IntRange(0, 480).Draw(t, "level"))/1000 + 1e-4/math.Pi
		i := stats.MedianInterval(x, level, quantum)
		if !i.Contains(stats.Median(x)) {
			t.Fatalf("%v does not hold the median %v", i, stats.Median(x))
		}
		if i.Width() < quantum-1e-12*i.High {
			t.Fatalf("%v is narrower than the timer's step %v", i, quantum)
		}
		if wider := stats.MedianInterval(x, level+0.009, quantum); wider.Low > i.Low || wider.High < i.High {
			t.Fatalf("a higher level gives %v, a lower %v", wider, i)
		}
		if got := stats.MedianInterval(times(x, 4, 1024), level, 4*quantum); math.Abs(got.Low-(4*i.Low+1024)) > 1e-9*got.High ||
			math.Abs(got.High-(4*i.High+1024)) > 1e-9*got.High {
			t.Fatalf("scaled and shifted %v, want that of %v", got, i)
		}
		flipped := stats.MedianInterval(times(x, -1, 0), level, quantum)
		if math.Abs(flipped.Low+i.High) > 1e-12*i.High || math.Abs(flipped.High+i.Low) > 1e-12*i.High {
			t.Fatalf("turned around %v, want that of %v", flipped, i)
		}
	})
}

func TestMedianIntervalOfLittle(t *testing.T) {
	for _, tt := range []struct {
		name           string
		x              []float64
		level, quantum float64
		want           stats.Interval
	}{
		{"one sample", []float64{7}, 0.95, 0, stats.Interval{Low: 7, High: 7}},
		{"one sample of a coarse timer", []float64{7}, 0.95, 1, stats.Interval{Low: 6.5, High: 7.5}},
		{"all equal", []float64{7, 7, 7, 7}, 0.95, 0.5, stats.Interval{Low: 6.75, High: 7.25}},
		{"two values", []float64{6, 8}, 0.95, 0, stats.Interval{Low: 6, High: 8}},
		{"two values, a level that the middle reaches", []float64{6, 8}, 0.4, 0, stats.Interval{Low: 7, High: 7}},
	} {
		if got := stats.MedianInterval(tt.x, tt.level, tt.quantum); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	for name, i := range map[string]stats.Interval{
		"nothing":      stats.MedianInterval(nil, 0.95, 1),
		"not a number": stats.MedianInterval([]float64{1, math.NaN(), 2}, 0.95, 1),
		"level of 1":   stats.MedianInterval([]float64{1, 2}, 1, 1),
		"level of NaN": stats.MedianInterval([]float64{1, 2}, math.NaN(), 1),
	} {
		if !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
			t.Errorf("%s: %v, want NaN", name, i)
		}
	}
}

// Large sets take no other way, and infinite values at least an end.
func TestMedianIntervalOfMuch(t *testing.T) {
	for _, n := range []int{9_999, 60_000, 300_001} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		i := stats.MedianInterval(x, 0.95, 0)
		// The middle, 1.96 standard errors of half the root of n to either side.
		half := 1.959964 * math.Sqrt(float64(n)) / 2
		near(t, "low", i.Low, float64(n-1)/2-half, 1e-3)
		near(t, "high", i.High, float64(n-1)/2+half, 1e-3)
	}
	stats.MedianInterval([]float64{math.Inf(-1), 1, 2, math.Inf(1)}, 0.95, 1)
	stats.MedianInterval([]float64{-math.MaxFloat64, math.MaxFloat64}, 0.3, 1)
}
