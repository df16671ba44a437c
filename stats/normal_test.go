package stats_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

func TestQuantilesAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Tails are where tests live: exponents are drawn, not probabilities.
		p := math.Pow(10, rapid.Float64Range(-300, math.Log10(0.5)).Draw(t, "log p"))
		df := rapid.Float64Range(2, 1000).Draw(t, "df")
		if got := stats.NormalCDF(stats.NormalQuantile(p)); math.Abs(got-p) > 1e-11*p {
			t.Fatalf("normal: the quantile of %v lies at %v", p, got)
		}
		if got := stats.TCDF(stats.TQuantile(p, df), df); math.Abs(got-p) > 1e-9*p {
			t.Fatalf("t with %v: the quantile of %v lies at %v", df, p, got)
		}
		// Both are symmetric; 1-p has its own digits.
		q := 1 - p
		if got := stats.NormalQuantile(q); got != -stats.NormalQuantile(1-q) {
			t.Fatalf("normal: quantile of %v is %v", q, got)
		}
		if got := stats.TQuantile(q, df); got != -stats.TQuantile(1-q, df) {
			t.Fatalf("t with %v: quantile of %v is %v", df, q, got)
		}
	})
}

func TestTBecomesNormal(t *testing.T) {
	for _, z := range []float64{-5, -1, -0.01, 0, 1e-6, 0.3, 2} {
		relative(t, "t with many degrees of freedom", stats.TCDF(z, 1e8), stats.NormalCDF(z), 1e-5)
	}
}

func TestDistributionsAtTheirEnds(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"normal quantile of 0", stats.NormalQuantile(0), -inf},
		{"normal quantile of 1", stats.NormalQuantile(1), inf},
		{"normal quantile of a half", stats.NormalQuantile(0.5), 0},
		{"normal cdf", stats.NormalCDF(inf), 1},
		{"t quantile of 0", stats.TQuantile(0, 3), -inf},
		{"t quantile of 1", stats.TQuantile(1, 3), inf},
		{"t quantile of a half", stats.TQuantile(0.5, 3), 0},
		{"t cdf, left", stats.TCDF(-inf, 3), 0},
		{"t cdf, right", stats.TCDF(inf, 3), 1},
		{"t cdf, middle", stats.TCDF(0, 3), 0.5},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	// The smallest number that there is.
	if z := stats.NormalQuantile(math.SmallestNonzeroFloat64); !(z < -38 && z > -39) {
		t.Errorf("normal quantile of the smallest number is %v", z)
	}
	for name, v := range map[string]float64{
		"normal, p below 0":     stats.NormalQuantile(-0.1),
		"normal, p above 1":     stats.NormalQuantile(1.1),
		"t, p of NaN":           stats.TQuantile(math.NaN(), 3),
		"t, no freedom":         stats.TQuantile(0.9, 0),
		"t cdf, freedom of NaN": stats.TCDF(1, math.NaN()),
		"t cdf, of NaN":         stats.TCDF(math.NaN(), 3),
		"power of one pair":     stats.Power(1, 1, 1, 0.05),
		"power, no spread":      stats.Power(1, 0, 4, 0.05),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: %v, want NaN", name, v)
		}
	}
}
