package stats_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// midranks are the ranks of the sizes; equal sizes share their mean rank.
func midranks(d []float64) []float64 {
	ranks := make([]float64, len(d))
	for i, v := range d {
		for _, w := range d {
			switch cmp.Compare(math.Abs(w), math.Abs(v)) {
			case -1:
				ranks[i]++
			case 0:
				ranks[i] += 0.5
			}
		}
		ranks[i] += 0.5
	}
	return ranks
}

// shareOfSigns is how many of all ways to give signs have a sum of positive ranks of at
// least so much.
func shareOfSigns(ranks []float64, atLeast float64) float64 {
	var count float64
	all := 1 << len(ranks)
	for signs := range all {
		var sum float64
		for i, r := range ranks {
			if signs>>i&1 == 1 {
				sum += r
			}
		}
		if sum >= atLeast {
			count++
		}
	}
	return count / float64(all)
}

func TestWilcoxonIsTheShareOfAllSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(-6, 6).Filter(func(v int) bool { return v != 0 }), 1, 9).Draw(t, "d")
		d := make([]float64, len(counts))
		for i, c := range counts {
			d[i] = float64(c) / 4
		}
		ranks := midranks(d)
		var seen, all float64
		for i, r := range ranks {
			all += r
			if d[i] > 0 {
				seen += r
			}
		}
		greater, less := shareOfSigns(ranks, seen), shareOfSigns(ranks, all-seen)
		for alternative, want := range map[stats.Alternative]float64{
			stats.Greater: greater, stats.Less: less, stats.TwoSided: min(1, 2*min(greater, less)),
		} {
			if got := stats.WilcoxonExact(d, alternative); math.Abs(got.P-want) > 1e-12 || !got.Exact {
				t.Fatalf("%v, alternative %d: %+v, want %v", d, alternative, got, want)
			}
		}
		slices.Sort(ranks)
		tied := len(slices.Compact(ranks)) < len(d)
		if got := stats.Wilcoxon(d, stats.Greater); got.Exact == tied || !tied && math.Abs(got.P-greater) > 1e-12 {
			t.Fatalf("%v: %+v; it is exact unless there are ties", d, got)
		}
	})
}

func TestWilcoxonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := timings(t, "x", 60, 60), timings(t, "y", 60, 60)
		n := rapid.IntRange(1, 60).Draw(t, "n")
		d := make([]float64, n)
		for i := range d {
			d[i] = x[i] - y[i]
		}
		for name, test := range map[string]func([]float64, stats.Alternative) stats.Test{"as scipy": stats.Wilcoxon, "exact": stats.WilcoxonExact} {
			less, more, two := test(d, stats.Less), test(d, stats.Greater), test(d, stats.TwoSided)
			for _, p := range []float64{less.P, more.P, two.P} {
				if !(p > 0 && p <= 1) {
					t.Fatalf("%s: P %v", name, p)
				}
			}
			if got := test(times(d, -4, 0), stats.Greater).P; math.Abs(got-less.P) > 1e-12 {
				t.Fatalf("%s: turned around %v, was %v", name, got, less.P)
			}
			if want := min(1, 2*min(less.P, more.P)); math.Abs(two.P-want) > 1e-12 {
				t.Fatalf("%s: two-sided %v, want %v", name, two.P, want)
			}
			slices.Reverse(d)
			if got := test(d, stats.Less); math.Abs(got.P-less.P) > 1e-12 {
				t.Fatalf("%s: in another order %v, was %v", name, got.P, less.P)
			}
		}
	})
}

// With few rounds and a coarse timer the approximation claims what signs cannot show.
func TestWilcoxonOfEqualDifferences(t *testing.T) {
	d := []float64{1, 1, 1, 1}
	near(t, "exact", stats.WilcoxonExact(d, stats.Greater).P, 1.0/16, 1e-15)
	near(t, "approximate", stats.Wilcoxon(d, stats.Greater).P, 0.0228, 1e-4)
}

func TestWilcoxonOfLittle(t *testing.T) {
	for name, d := range map[string][]float64{"nothing": nil, "zeros": {0, 0}, "not a number": {math.NaN()}} {
		for _, test := range []func([]float64, stats.Alternative) stats.Test{stats.Wilcoxon, stats.WilcoxonExact} {
			if got := test(d, stats.TwoSided); got.P != 1 || got.Statistic != 0 {
				t.Errorf("%s: %+v, want P 1", name, got)
			}
		}
	}
	// Both go over into the approximation, and agree there.
	many := make([]float64, 300)
	for i := range many {
		many[i] = float64(i - 120)
	}
	if a, b := stats.Wilcoxon(many, stats.Greater), stats.WilcoxonExact(many, stats.Greater); a != b || a.Exact {
		t.Errorf("300 differences: %+v and %+v", a, b)
	}
}
