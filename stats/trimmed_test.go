package stats_test

import (
	"math"
	"testing"

	"github.com/goatnote-inc/pawl/stats"
)

func TestTrimmed(t *testing.T) {
	for _, test := range []struct {
		name     string
		values   []float64
		share    float64
		kept     int
		mean, se float64
	}{
		{"nothing", nil, 0.25, 0, math.NaN(), math.Inf(1)},
		{"one value", []float64{3}, 0.25, 1, 3, math.Inf(1)},
		{"too few to cut", []float64{1, 2, 3}, 0.25, 3, 2, math.Sqrt(1.0 / 3)},
		{"the middle half", []float64{9, 1, 3, 2, 4, -900, 2, 3}, 0.25, 4, 2.5, math.Sqrt(2.0 / 12)},
		{"equal values", []float64{5, 5, 5, 5}, 0.25, 2, 5, 0},
		{"all cut", []float64{1, 2}, 0.5, 0, math.NaN(), math.Inf(1)},
		{"a value that is none", []float64{1, math.NaN(), 2}, 0, 0, math.NaN(), math.Inf(1)},
	} {
		got := stats.NewTrimmed(test.values, test.share)
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-12 }
		if got.N != len(test.values) || got.Kept != test.kept || !same(got.Mean, test.mean) || !same(got.SE, test.se) {
			t.Errorf("%s: got %+v, want %d kept, mean %v, standard error %v", test.name, got, test.kept, test.mean, test.se)
		}
	}
}

// A wild value changes the mean by much, and the trimmed one hardly.
func TestTrimmedWithstandsWildValues(t *testing.T) {
	calm := []float64{0.01, -0.02, 0.03, 0, 0.02, -0.01, -0.03, 0.01}
	wild := append([]float64{5}, calm[1:]...)
	was, is := stats.NewTrimmed(calm, 0.25), stats.NewTrimmed(wild, 0.25)
	if math.Abs(is.Mean-was.Mean) > 0.01 || is.SE > 2*was.SE {
		t.Errorf("one wild value moves %+v to %+v", was, is)
	}
}
