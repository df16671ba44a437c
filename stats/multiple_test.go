package stats_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

func TestAdjustedP(t *testing.T) {
	ps := []float64{0.04, 0.001, math.NaN(), 0.03}
	for name, tt := range map[string]struct{ got, want []float64 }{
		"Holm":               {stats.Holm(ps), []float64{0.09, 0.004, 1, 0.09}},
		"Benjamini-Hochberg": {stats.BenjaminiHochberg(ps), []float64{0.16 / 3, 0.004, 1, 0.16 / 3}},
		"Holm of nothing":    {stats.Holm(nil), []float64{}},
		"BH of one":          {stats.BenjaminiHochberg([]float64{0.2}), []float64{0.2}},
		"Holm, out of range": {stats.Holm([]float64{-1, 7}), []float64{0, 1}},
	} {
		if !slices.EqualFunc(tt.got, tt.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
}

func TestAdjustedPProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 30).Draw(t, "ps")
		before := slices.Clone(ps)
		holm, bh := stats.Holm(ps), stats.BenjaminiHochberg(ps)
		if !slices.Equal(ps, before) {
			t.Fatal("the caller's slice was changed")
		}
		for i, p := range ps {
			if !(p <= bh[i]+1e-15 && bh[i] <= holm[i]+1e-15 && holm[i] <= 1) {
				t.Fatalf("p %v, Benjamini-Hochberg %v, Holm %v", p, bh[i], holm[i])
			}
			for j, q := range ps {
				if p < q && (holm[i] > holm[j] || bh[i] > bh[j]) {
					t.Fatalf("%v and %v change places: Holm %v, %v; Benjamini-Hochberg %v, %v", p, q, holm[i], holm[j], bh[i], bh[j])
				}
			}
		}
		if least := slices.Min(ps); slices.Min(holm) != min(1, least*float64(len(ps))) {
			t.Fatalf("the smallest %v becomes %v", least, slices.Min(holm))
		}
		// Each stays with its test.
		slices.Reverse(ps)
		slices.Reverse(holm)
		slices.Reverse(bh)
		if !slices.Equal(stats.Holm(ps), holm) || !slices.Equal(stats.BenjaminiHochberg(ps), bh) {
			t.Fatal("another order gives other values")
		}
	})
}
