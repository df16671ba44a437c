package lab

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestWilson(t *testing.T) {
	// Against scipy's binomtest(count, trials).proportion_ci(method="wilson").
	for _, test := range []struct {
		count, trials int
		low, high     float64
	}{
		{0, 10, 0, 0.2775328},
		{5, 10, 0.2365931, 0.7634069},
		{10, 10, 0.7224672, 1},
		{3, 20_000, 0.00005101, 0.00044100},
	} {
		r := NewRate(test.count, test.trials)
		if math.Abs(r.Low-test.low) > 1e-6 || math.Abs(r.High-test.high) > 1e-6 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", test.count, test.trials, r.Low, r.High, test.low, test.high)
		}
	}
	if r := NewRate(0, 0); r.Low != 0 || r.High != 1 {
		t.Errorf("nothing tried: %+v, want to know nothing", r)
	}
}

func TestRateHoldsItsValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trials := rapid.IntRange(1, 1_000_000).Draw(t, "trials")
		r := NewRate(rapid.IntRange(0, trials).Draw(t, "count"), trials)
		if !(0 <= r.Low && r.Low <= r.Value && r.Value <= r.High && r.High <= 1) {
			t.Errorf("%+v", r)
		}
	})
}
