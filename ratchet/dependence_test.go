package ratchet

import (
	"math"
	"math/rand/v2"
	"testing"
)

// walk makes rounds of same code that resemble the one before.
func walk(rng *rand.Rand, rounds int, resemblance, spread float64) []float64 {
	list := make([]float64, rounds)
	z := rng.NormFloat64()
	for i := range list {
		list[i] = spread * z
		z = resemblance*z + math.Sqrt(1-resemblance*resemblance)*rng.NormFloat64()
	}
	return list
}

// The variance of the mean of n rounds of an autoregressive process, over what their own spread promises.
func trueRatio(resemblance float64, n int) float64 {
	var within, mean float64
	for i := range n {
		for j := range n {
			c := math.Pow(resemblance, math.Abs(float64(i-j)))
			mean += c / float64(n*n)
			within += (1 - c) / float64(n*(n-1))
		}
	}
	return float64(n) * mean / within
}

func TestDependenceIsEstimated(t *testing.T) {
	for _, resemblance := range []float64{0.3, 0.6, 0.8} {
		rng := rand.New(rand.NewPCG(1, uint64(100*resemblance)))
		d := NewDependence([][]float64{walk(rng, 12_800, resemblance, 0.02), walk(rng, 12_800, resemblance, 0.001)})
		if len(d) != 6 {
			t.Fatalf("%v: %v, want ratios for 1 to 32 rounds", resemblance, d)
		}
		for _, n := range []int{2, 4, 8, 16, 32} {
			if got, want := d.at(n), trueRatio(resemblance, n); math.Abs(got/want-1) > 0.15 {
				t.Errorf("%v: ratio %.2f for %d rounds, want %.2f", resemblance, got, n, want)
			}
		}
		if d.at(64) < d.at(32) {
			t.Errorf("%v: %v falls beyond what was estimated", resemblance, d)
		}
	}
}

func TestDependenceOfIndependentRounds(t *testing.T) {
	found := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		if d := NewDependence([][]float64{walk(rng, 1600, 0, 0.02)}); len(d) != 1 || d[0] != 1 {
			found++
		}
	}
	if found > 6 {
		t.Errorf("%d of 200 testbeds with independent rounds are called dependent", found)
	}
}

func TestDependenceNeedsRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		name  string
		cases [][]float64
	}{
		{"nothing", nil},
		{"too few rounds", [][]float64{walk(rng, 100, 0.8, 0.02)}},
		{"many cases of a few rounds", make([][]float64, 500)},
		{"rounds that do not differ", [][]float64{make([]float64, 1600)}},
	} {
		if d := NewDependence(test.cases); d != nil {
			t.Errorf("%s: %v, want nothing known", test.name, d)
		}
	}
}

// What is not known is taken for dependent; what is known decides how many rounds a claim needs.
func TestClaimRounds(t *testing.T) {
	for _, test := range []struct {
		name  string
		d     Dependence
		looks []int
		want  int
	}{
		{"unknown", nil, nil, 16},
		{"independent", Dependence{1}, nil, 0},
		{"a little", Dependence{1, 1.2, 1.5, 1.7, 1.8, 1.9}, nil, 16},
		{"much", Dependence{1, 1.6, 3, 4.4, 4.7, 4.8}, nil, 48},
		{"much, in a plan of few rounds", Dependence{1, 1.6, 3, 4.4, 4.7, 4.8}, []int{4, 8}, 8},
	} {
		p := Default().WithLooks(test.looks)
		p.Dependence = test.d
		if got := p.claimRounds(); got != test.want {
			t.Errorf("%s: %d rounds, want %d", test.name, got, test.want)
		}
		var sum float64
		for k, share := range p.claimShares() {
			if p.Looks[k] >= test.want {
				sum += share
			}
		}
		if sum > 1+1e-9 || sum < 0.99 {
			t.Errorf("%s: looks that can claim spend %v of alpha", test.name, sum)
		}
	}
	first := ForEdition(1)
	if first.claimRounds() != 0 || first.dependence().at(32) != 1 {
		t.Error("the first edition knows of dependence")
	}
}

// A candidate that is slow at some starts only does not hide behind the rounds in which it is not; a machine that
// is slow at times, for both sides, does not look like one.
func TestHides(t *testing.T) {
	d := difference{plain: 0.06, outliers: 6, slow: 6}
	if !d.masksSlowdown(0.03) {
		t.Error("six wild rounds, all of the candidate, hide")
	}
	d.slow = 3
	if d.masksSlowdown(0.03) {
		t.Error("three of six wild rounds are the candidate's: that is the machine")
	}
	if d = (difference{plain: 0.02, outliers: 6, slow: 6}); d.masksSlowdown(0.03) {
		t.Error("with all rounds it is within the limit")
	}
	for _, test := range []struct {
		heads, throws int
		want          float64
	}{{0, 4, 1}, {4, 4, 1.0 / 16}, {3, 4, 5.0 / 16}, {2, 2, 0.25}} {
		if got := headsOrMore(test.heads, test.throws); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%d heads of %d: %v, want %v", test.heads, test.throws, got, test.want)
		}
	}
}
