package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

var looks = []int{4, 8, 16, 32}

func TestShares(t *testing.T) {
	digits := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 5e-5 })
	for _, tt := range []struct {
		name      string
		got, want []float64
	}{
		{"with the rounds", stats.PowerSpending(1).Shares(looks), []float64{0.125, 0.125, 0.25, 0.5}},
		{"late", stats.PowerSpending(3).Shares(looks), []float64{0.00195, 0.01367, 0.10938, 0.875}},
		{"next to nothing early", stats.OBrienFlemingSpending(0.05).Shares(looks), []float64{0, 0.0018, 0.1097, 0.8885}},
		{"evenly by look", stats.PocockSpending().Shares(looks), []float64{0.1946, 0.1628, 0.2627, 0.3799}},
		{"one look", stats.PowerSpending(2).Shares([]int{8}), []float64{1}},
		{"chosen", stats.Weights(1, 4, 6, 9), []float64{0.05, 0.2, 0.3, 0.45}},
		{"chosen, one without", stats.Weights(0, 1), []float64{0, 1}},
		// A function that is no spending spends no more than there is.
		{"too much", stats.Spending(func(float64) float64 { return 7 }).Shares(looks), []float64{1, 0, 0, 0}},
		{"not a number", stats.OBrienFlemingSpending(-1).Shares(looks), []float64{0, 0, 0, 0}},
		{"looks that do not grow", stats.PocockSpending().Shares([]int{8, 4}), nil},
		{"a look at nothing", stats.PocockSpending().Shares([]int{0, 4}), nil},
		{"no looks", stats.PocockSpending().Shares(nil), nil},
		{"negative weight", stats.Weights(1, -1, 3), nil},
		{"no weight", stats.Weights(0, 0), nil},
		{"infinite weight", stats.Weights(1, math.Inf(1)), nil},
		{"weight of NaN", stats.Weights(1, math.NaN()), nil},
	} {
		if diff := cmp.Diff(tt.want, tt.got, digits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestSharesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SliceOfNDistinct(rapid.IntRange(1, 500), 1, 8, rapid.ID[int]).Draw(t, "looks")
		slices.Sort(at)
		shares := stats.PowerSpending(rapid.Float64Range(0.1, 5).Draw(t, "rho")).Shares(at)
		var sum float64
		for _, s := range shares {
			if s < 0 {
				t.Fatalf("shares %v", shares)
			}
			sum += s
		}
		if len(shares) != len(at) || math.Abs(sum-1) > 1e-12 {
			t.Fatalf("shares %v sum to %v", shares, sum)
		}
	})
}

func TestSpendingP(t *testing.T) {
	shares := []float64{0, 0.25, 0.75}
	for _, tt := range []struct {
		name string
		ps   []float64
		want float64
	}{
		{"no look yet", nil, 1},
		{"a look without a share", []float64{0}, 1},
		{"the first that counts", []float64{1, 0.01}, 0.04},
		{"the best so far", []float64{1, 0.01, 0.9}, 0.04},
		{"better later", []float64{1, 0.01, 0.003}, 0.004},
		{"at most 1", []float64{1, 0.5, 0.9}, 1},
		{"no evidence", []float64{1, math.NaN(), math.NaN()}, 1},
		{"more looks than planned", []float64{1, 1, 0.3, 0}, 0.4},
	} {
		if got := stats.SpendingP(tt.ps, shares); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Who looks four times at a growing set of rounds and stops at the first alarm makes
// no more false ones than alpha.
func TestSpendingHoldsOverAllLooks(t *testing.T) {
	const tries, alpha = 3000, 0.05
	rng := rand.New(rand.NewPCG(10, 1))
	shares := stats.Weights(0.05, 0.20, 0.30, 0.45)
	held, naive := 0, 0
	for range tries {
		base, candidate := normals(rng, 32, 60, 1), normals(rng, 32, 60, 1)
		var ps []float64
		for _, n := range looks {
			ps = append(ps, paired(t, base[:n], candidate[:n], 0).Above(0))
		}
		if stats.SpendingP(ps, shares) <= alpha {
			held++
		}
		if slices.Min(ps) <= alpha {
			naive++
		}
	}
	if share := float64(held) / tries; share > alpha || share < alpha/2 {
		t.Errorf("%.1f %% false alarms, want a little less than %v %%", 100*share, 100*alpha)
	}
	if share := float64(naive) / tries; share < 2*alpha {
		t.Errorf("without spending %.1f %% false alarms: the problem that this is about is not there", 100*share)
	}
}

func TestBoundaries(t *testing.T) {
	near(t, "one look", stats.Boundaries(0.025, []int{8}, []float64{1})[0], 1.959963984540054, 1e-9)
	near(t, "chance at one look", stats.Crossing([]int{8}, []float64{1.959963984540054}), 0.025, 1e-12)
	got := stats.Boundaries(0.001, []int{4, 8}, []float64{0, 1})
	if !math.IsInf(got[0], 1) {
		t.Errorf("a look without a share has a boundary at %v", got[0])
	}
	near(t, "all for the second look", got[1], -stats.NormalQuantile(0.001), 1e-8)
	for name, bad := range map[string][]float64{
		"looks":  stats.Boundaries(0.05, []int{8, 4}, []float64{0.5, 0.5}),
		"shares": stats.Boundaries(0.05, []int{4, 8}, []float64{1}),
	} {
		if bad != nil {
			t.Errorf("%s that do not fit: %v", name, bad)
		}
	}
	if got := stats.Crossing([]int{4, 8}, []float64{1}); !math.IsNaN(got) {
		t.Errorf("a boundary too few: %v", got)
	}
	if got := stats.Crossing(looks, []float64{math.Inf(-1), 1, 1, 1}); math.Abs(got-1) > 1e-9 {
		t.Errorf("what is always crossed is crossed with a chance of %v", got)
	}
}

// Boundaries spend what they should, and are nowhere stricter than those that make no
// use of what looks have in common.
func TestBoundariesSpendAlpha(t *testing.T) {
	for _, alpha := range []float64{1e-6, 0.001, 0.3} {
		for _, at := range [][]int{{4, 8, 16, 32}, {10, 11}, {3, 30, 31}} {
			shares := stats.PowerSpending(0.5).Shares(at)
			bounds := stats.Boundaries(alpha, at, shares)
			relative(t, "chance to cross", stats.Crossing(at, bounds), alpha, 1e-6)
			for i, share := range shares {
				if alone := -stats.NormalQuantile(alpha * share); bounds[i] > alone+1e-9 {
					t.Errorf("look %d: %v is stricter than %v, which needs no integration", i, bounds[i], alone)
				}
			}
		}
	}
}

// What the plain division of alpha costs, as the documentation says it.
func TestWhatDividingAlphaCosts(t *testing.T) {
	shares := stats.Weights(0.05, 0.20, 0.30, 0.45)
	for _, tt := range []struct{ alpha, want float64 }{{0.001, 0.000906}, {0.05, 0.0388}} {
		bounds := make([]float64, len(looks))
		for i, s := range shares {
			bounds[i] = -stats.NormalQuantile(tt.alpha * s)
		}
		relative(t, "false alarms", stats.Crossing(looks, bounds), tt.want, 1e-3)
	}
}
