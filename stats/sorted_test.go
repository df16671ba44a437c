package stats_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// Rounds that were sorted one by one and merged are the samples sorted together.
func TestMergeIsSortingTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []stats.Sorted
		var all []float64
		for range rapid.IntRange(0, 6).Draw(t, "rounds") {
			r := timings(t, "round", 0, 20)
			parts, all = append(parts, stats.Sort(r)), append(all, r...)
		}
		got := stats.Merge(parts...)
		if !slices.Equal(got, stats.Sort(all)) {
			t.Fatalf("%v merged from %v", got, parts)
		}
		if len(got) > 0 && len(parts) == 1 { // what is handed out is the caller's
			got[0] = -1
			if parts[0][0] == -1 {
				t.Fatal("the parts were handed out")
			}
		}
	})
}

// What is no number stays visible, so that nobody takes the rest for all.
func TestSortedKeepsWhatIsNoNumber(t *testing.T) {
	nan := math.NaN()
	merged := stats.Merge(stats.Sort([]float64{1, 2}), stats.Sort([]float64{3, nan}))
	for name, s := range map[string]stats.Sorted{"sorted": stats.Sort([]float64{1, nan, 2}), "merged": merged} {
		if !math.IsNaN(s.Median()) || !math.IsNaN(s.MedianInterval(0.95, 1).Low) {
			t.Errorf("%s: median %v", name, s.Median())
		}
	}
}

func TestQuantileBesideInfinity(t *testing.T) {
	x := []float64{1, 2, math.Inf(1)}
	if got := stats.Median(x); got != 2 {
		t.Errorf("median %v, want 2", got)
	}
	if got := stats.Quantile(x, 1); !math.IsInf(got, 1) {
		t.Errorf("largest %v", got)
	}
}

func TestInterval(t *testing.T) {
	a := stats.Interval{Low: 1, High: 3}
	for _, tt := range []struct {
		other stats.Interval
		want  bool
	}{
		{stats.Interval{Low: 3, High: 4}, true},
		{stats.Interval{Low: 0, High: 1}, true},
		{stats.Interval{Low: 2, High: 2}, true},
		{stats.Interval{Low: 0, High: 9}, true},
		{stats.Interval{Low: 3.1, High: 4}, false},
		{stats.Interval{Low: math.NaN(), High: math.NaN()}, false},
	} {
		if got := a.Overlaps(tt.other); got != tt.want || tt.other.Overlaps(a) != tt.want {
			t.Errorf("%v and %v overlap: %v", a, tt.other, got)
		}
	}
	if !a.Contains(1) || !a.Contains(3) || a.Contains(3.01) || a.Width() != 2 {
		t.Errorf("%v holds 1 %v, 3 %v, 3.01 %v, width %v", a, a.Contains(1), a.Contains(3), a.Contains(3.01), a.Width())
	}
}
