package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

func paired(t rapid.TB, base, candidate []float64, quantum float64) stats.Paired {
	t.Helper()
	p, err := stats.NewPaired(base, candidate, quantum)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPairedRefuses(t *testing.T) {
	one := []float64{1}
	for _, tt := range []struct {
		name            string
		base, candidate []float64
		quantum         float64
		want            string
	}{
		{"rounds that lack a side", one, []float64{1, 2}, 0, "1 of the base, 2 of the candidate"},
		{"zero", []float64{1, 0}, []float64{1, 1}, 0, "pair 1 are 0 and 1"},
		{"negative", one, []float64{-1}, 0, "must be positive"},
		{"infinite", one, []float64{math.Inf(1)}, 0, "must be positive"},
		{"not a number", []float64{math.NaN()}, one, 0, "must be positive"},
		{"a step that is none", one, one, math.NaN(), "step is NaN"},
	} {
		if _, err := stats.NewPaired(tt.base, tt.candidate, tt.quantum); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want it to say %q", tt.name, err, tt.want)
		}
	}
}

func TestPairedOfLittle(t *testing.T) {
	for n, base := range [][]float64{nil, {50}} {
		p := paired(t, base, base, 1)
		if p.N != n || p.Above(0) != 1 || p.Below(0) != 1 || p.T(0) != 0 {
			t.Errorf("%d rounds: %+v, above %v, below %v", n, p, p.Above(0), p.Below(0))
		}
		if i := p.Interval(0.95); !math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1) || !math.IsInf(p.Lower(0.9), -1) || !math.IsInf(p.Upper(0.9), 1) {
			t.Errorf("%d rounds: interval %v, want everything", n, i)
		}
	}
	// A ratio is known from one round, how well is not.
	if r := paired(t, []float64{50}, []float64{100}, 0).Ratio(0.95); math.Abs(r.Value-2) > 1e-12 || r.Low != 0 || !math.IsInf(r.High, 1) {
		t.Errorf("ratio of one round: %v", r)
	}
}

// Rounds that all agree are what a coarse timer shows, and no proof.
func TestPairedOfEqualDifferences(t *testing.T) {
	for _, n := range []int{2, 4, 32} {
		base, candidate := slices.Repeat([]float64{50}, n), slices.Repeat([]float64{51}, n)
		coarse := paired(t, base, candidate, 1)
		if coarse.Seen != 0 {
			t.Errorf("%d rounds: a spread of %v is seen where there is none", n, coarse.Seen)
		}
		// A step of 2 % on each side: rounding alone makes 0.8 % of standard error, with four
		// rounds and with 32.
		near(t, "standard error", coarse.SE(), math.Sqrt((1.0/50/50+1.0/51/51)/12), 1e-12)
		if p := coarse.Above(0); !(p > 0.01) {
			t.Errorf("%d rounds that differ by one step: P %v", n, p)
		}
		// Without a known step the claim is strong and still a number.
		fine := paired(t, base, candidate, 0)
		if p := fine.Above(0); !(p > 0 && p < 1e-6) {
			t.Errorf("%d rounds without a step: P %v", n, p)
		}
		same := paired(t, base, base, 0)
		near(t, "no difference", same.Above(0), 0.5, 1e-12)
	}
}

func TestPairedProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := timings(t, "base", 2, 32), timings(t, "candidate", 32, 32)
		y = y[:len(x)]
		quantum := rapid.SampledFrom([]float64{0, 0.01, 1, 64}).Draw(t, "quantum")
		shift := rapid.Float64Range(-0.2, 0.2).Draw(t, "shift")
		level := rapid.Float64Range(0.5, 0.9999).Draw(t, "level")
		p := paired(t, x, y, quantum)
		if p.SD < p.Seen || !(p.SD > 0) {
			t.Fatalf("%+v: less is used than seen", p)
		}
		if above, below := p.Above(shift), p.Below(shift); !(above > 0 && below > 0) || math.Abs(above+below-1) > 1e-9 {
			t.Fatalf("above %v, below %v", above, below)
		}
		if p.Above(shift) > p.Above(shift+0.01) {
			t.Fatalf("to exceed more is more likely: %v, %v", p.Above(shift), p.Above(shift+0.01))
		}
		digits := 1e-9 + 1e-15/p.SE() // of P: the mean's own, in standard errors
		if got, want := p.Above(p.Lower(level)), 1-level; math.Abs(got-want) > digits {
			t.Fatalf("at the lower bound of level %v, P is %v", level, got)
		}
		i, wider := p.Interval(level), p.Interval(level+(1-level)/2)
		if !i.Contains(p.Mean) || wider.Low > i.Low || wider.High < i.High {
			t.Fatalf("%v at %v, %v at a higher level, around %v", i, level, wider, p.Mean)
		}
		swapped := paired(t, y, x, quantum)
		if math.Abs(swapped.Mean+p.Mean) > 1e-12 || math.Abs(swapped.Below(-shift)-p.Above(shift)) > digits {
			t.Fatalf("swapped %+v, was %+v", swapped, p)
		}
		scaled := paired(t, times(x, 3, 0), times(y, 3, 0), 3*quantum)
		if math.Abs(scaled.Mean-p.Mean) > 1e-9 || math.Abs(scaled.SD-p.SD) > 1e-9*p.SD+1e-12 {
			t.Fatalf("in another unit %+v, was %+v", scaled, p)
		}
		if finer := paired(t, x, y, quantum/2); finer.SD > p.SD {
			t.Fatalf("a finer timer leaves %v, a coarser %v", finer.SD, p.SD)
		}
	})
}

// A candidate that is slower by exactly the limit is called slower than the limit no more
// often than allowed, whatever the timer rounds away: noise far below a step, where all
// rounds are wrong together; a quiet side against a loud one; a machine that drifts, and
// both sides with it.
func TestPairedHoldsItsFalseAlarmRate(t *testing.T) {
	const tries, alpha = 2000, 0.01
	limit := math.Log(1.03)
	rng := rand.New(rand.NewPCG(8, 8))
	for _, noise := range []struct{ base, candidate, drift float64 }{ // in steps
		{0.01, 0.01, 0},
		{0.1, 0.1, 0},
		{0.3, 0.3, 0},
		{5, 5, 0},
		{0.01, 1, 0},
		{2, 0.1, 0},
		{0.01, 0.01, 0.3},
		{0.1, 0.1, 2},
		{0.01, 0.3, 2},
	} {
		for _, n := range []int{4, 8, 32} {
			alarms := 0
			base, candidate := make([]float64, n), make([]float64, n)
			for range tries {
				level := 40 + 30*rng.Float64() // where on the steps it lies is chance
				for i := range base {
					now := level + noise.drift*rng.NormFloat64()
					base[i] = now + noise.base*rng.NormFloat64()
					candidate[i] = 1.03*now + noise.candidate*rng.NormFloat64()
				}
				if paired(t, rounded(base, 1), rounded(candidate, 1), 1).Above(limit) <= alpha {
					alarms++
				}
			}
			// Four standard errors of a share.
			if share := float64(alarms) / tries; share > alpha+4*math.Sqrt(alpha*(1-alpha)/tries) {
				t.Errorf("noise of %+v steps, %d rounds: %.2f %% false alarms, want %v %%", noise, n, 100*share, 100*alpha)
			}
		}
	}
}
