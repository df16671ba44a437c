package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// orders visits every way to choose which m of the first m+n whole numbers are x.
func orders(m, n int, visit func(x, y []float64)) {
	var x, y []float64
	var place func(int)
	place = func(v int) {
		if v == m+n {
			visit(x, y)
			return
		}
		if len(x) < m {
			x = append(x, float64(v))
			place(v + 1)
			x = x[:len(x)-1]
		}
		if len(y) < n {
			y = append(y, float64(v))
			place(v + 1)
			y = y[:len(y)-1]
		}
	}
	place(0)
}

// The exact P is the share of all orders that are at least as extreme.
func TestMannWhitneyIsTheShareOfAllOrders(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 6}, {3, 4}, {5, 5}, {6, 3}} {
		m, n := size[0], size[1]
		count := map[float64]float64{} // by U
		var all float64
		orders(m, n, func(x, y []float64) {
			u, _ := pairs(x, y)
			count[u]++
			all++
		})
		orders(m, n, func(x, y []float64) {
			u, _ := pairs(x, y)
			var atMost, atLeast float64
			for v, c := range count {
				if v <= u {
					atMost += c / all
				}
				if v >= u {
					atLeast += c / all
				}
			}
			for alternative, want := range map[stats.Alternative]float64{
				stats.Less: atMost, stats.Greater: atLeast, stats.TwoSided: min(1, 2*min(atMost, atLeast)),
			} {
				got := stats.MannWhitney(x, y, alternative)
				if !got.Exact || got.Statistic != u || math.Abs(got.P-want) > 1e-12 {
					t.Fatalf("%v against %v, alternative %d: %+v, want U %v and P %v", x, y, alternative, got, u, want)
				}
			}
		})
	}
}

func TestMannWhitneyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := together(t, 1, 30)
		greater, equal := pairs(x, y)
		two, less, more := stats.MannWhitney(x, y, stats.TwoSided), stats.MannWhitney(x, y, stats.Less), stats.MannWhitney(x, y, stats.Greater)
		if two.Statistic != greater+equal/2 {
			t.Fatalf("U %v, counted %v", two.Statistic, greater+equal/2)
		}
		for _, p := range []float64{two.P, less.P, more.P} {
			if !(p > 0 && p <= 1) {
				t.Fatalf("P %v", p)
			}
		}
		if want := min(1, 2*min(less.P, more.P)); math.Abs(two.P-want) > 1e-12 {
			t.Fatalf("two-sided %v, want %v", two.P, want)
		}
		if got := stats.MannWhitney(y, x, stats.Greater).P; got != less.P {
			t.Fatalf("turned around %v, was %v", got, less.P)
		}
		if got := stats.MannWhitney(times(x, 2, 64), times(y, 2, 64), stats.Less); got != (stats.Test{Statistic: less.Statistic, P: less.P, Exact: less.Exact}) {
			t.Fatalf("scaled and shifted %v, was %v", got, less)
		}
	})
}

func TestMannWhitneyOfLittle(t *testing.T) {
	one := []float64{1}
	for name, got := range map[string]stats.Test{
		"nothing":      stats.MannWhitney(nil, one, stats.TwoSided),
		"not a number": stats.MannWhitney([]float64{math.NaN()}, one, stats.Less),
		"all equal":    stats.MannWhitney([]float64{1, 1, 1}, []float64{1, 1}, stats.TwoSided),
		"one each":     stats.MannWhitney(one, []float64{2}, stats.TwoSided),
	} {
		if got.P != 1 {
			t.Errorf("%s: P %v, want 1", name, got.P)
		}
	}
	// Past the size of an exact answer there is still one.
	rng := rand.New(rand.NewPCG(6, 6))
	few, many := normals(rng, 3, 60, 1), normals(rng, 400_000, 60, 1)
	if got := stats.MannWhitney(few, many, stats.TwoSided); got.Exact || !(got.P > 0 && got.P <= 1) {
		t.Errorf("3 against 400,000: %+v", got)
	}
}
