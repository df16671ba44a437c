package sweep_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/report/sweep"
)

// holey is a run in which flash cannot do one config, and sdpa fails in most
// rounds of another.
func holey() []times {
	return []times{
		{"S128", "candidate", wobble(100, 0.002, 0, 8)},
		{"S128", "sdpa", wobble(120, 0.002, 1, 8)},
		{"S128", "flash", wobble(80, 0.002, 2, 8)},
		{"S256", "candidate", wobble(400, 0.002, 0, 8)},
		{"S256", "sdpa", wobble(480, 0.002, 1, 8)},
		{"S256", "flash", wobble(320, 0.002, 2, 8)},
		{"S512", "candidate", wobble(1600, 0.002, 0, 8)},
		{"S512", "sdpa", wobble(800, 0.002, 1, 8)},
		{"S512", "flash", make([]float64, 8)},
		{"S1024", "candidate", wobble(6400, 0.002, 0, 8)},
		{"S1024", "sdpa", []float64{6400, 0, 0, 6400, 0, 0, 0, 0}},
		{"S1024", "flash", wobble(6400, 0.002, 2, 8)},
		{"S2048", "candidate", wobble(25600, 0.002, 0, 8)},
	}
}

func TestOverallIsOfTheCommonSet(t *testing.T) {
	o := analyse(t, record(holey()...)).Overall
	if diff := cmp.Diff([]string{"attention/S128", "attention/S256"}, o.Configs); diff != "" {
		t.Error(diff)
	}
	want := []sweep.Omission{
		{Name: "attention/S512", Reason: "flash failed: out of memory"},
		{Name: "attention/S1024", Reason: "all have it in only 2 of 8 rounds"},
		{Name: "attention/S2048", Reason: "sdpa not requested; flash not requested"},
	}
	if diff := cmp.Diff(want, o.LeftOut); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"flash 1", "candidate 2", "sdpa 3"}, ranks(o.Standings)); diff != "" {
		t.Error(diff)
	}
	if got := o.Standings[1].Time; math.Abs(got-200) > 1e-9 || o.Rounds != 8 {
		t.Errorf("the candidate's mean is %v over %d rounds, want 200 over 8", got, o.Rounds)
	}
}

// Against one reference only the configs of the two have to be there.
func TestSpeedupIsOfTheConfigsOfBoth(t *testing.T) {
	r := analyse(t, record(holey()...))
	if len(r.Speedups) != 2 || r.Speedups[0].Against != "sdpa" || r.Speedups[1].Against != "flash" {
		t.Fatalf("%+v", r.Speedups)
	}
	for i, want := range []float64{math.Cbrt(1.2 * 1.2 * 0.5), math.Cbrt(0.8 * 0.8 * 1)} {
		s := r.Speedups[i]
		if s.Configs != 3 || len(s.LeftOut) != 2 || math.Abs(s.Value-want) > 1e-9 {
			t.Errorf("against %s: %v over %d configs without %v, want %v over 3", s.Against, s.Value, s.Configs, s.LeftOut, want)
		}
		if s.Interval == nil || s.Interval.Low >= want || s.Interval.High <= want {
			t.Errorf("against %s: interval %+v", s.Against, s.Interval)
		}
	}
}

// A library that is not installed must not leave everybody without a common set.
func TestAbsentImplementation(t *testing.T) {
	r := analyse(t, record(
		times{"S128", "candidate", wobble(100, 0.002, 0, 8)}, times{"S128", "sdpa", wobble(120, 0.002, 1, 8)},
		times{"S128", "flash", make([]float64, 8)},
	))
	if diff := cmp.Diff([]sweep.Omission{{Name: "flash", Reason: "failed: out of memory"}}, r.Absent); diff != "" {
		t.Error(diff)
	}
	if len(r.Overall.Configs) != 1 || len(r.Overall.LeftOut) != 0 {
		t.Errorf("%+v", r.Overall)
	}
}

// The configs of a round share what the machine did in it. Counted one by one they
// would seem to be many, and the interval would be too narrow.
func TestSpeedupIntervalHoldsTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const trials, rounds, configs = 60, 10, 5
	held := 0
	for range trials {
		all := []times{}
		luck := make([]float64, rounds) // of the candidate in a round, on every config
		for r := range luck {
			luck[r] = math.Exp(0.02 * rng.NormFloat64())
		}
		for c := range configs {
			base, candidate := make([]float64, rounds), make([]float64, rounds)
			for r := range rounds {
				base[r] = 1000 * math.Exp(0.005*rng.NormFloat64())
				candidate[r] = 1000 / 1.05 * luck[r] * math.Exp(0.005*rng.NormFloat64())
			}
			name := string(rune('a' + c))
			all = append(all, times{name, "candidate", candidate}, times{name, "sdpa", base})
		}
		if i := analyse(t, record(all...)).Speedups[0].Interval; i.Low <= 1.05 && 1.05 <= i.High {
			held++
		}
	}
	if least := 50; held < least { // four standard deviations below 57
		t.Errorf("the interval held the truth in %d of %d, want at least %d", held, trials, least)
	}
	t.Logf("%d of %d", held, trials)
}

// Rounds that a growing run did not need for some configs leave those in the set.
func TestConfigsDecidedEarlyStayInTheSet(t *testing.T) {
	o := analyse(t, record(slices.Concat(
		[]times{{"S128", "candidate", wobble(100, 0.002, 0, 4)}, {"S128", "sdpa", wobble(120, 0.002, 1, 4)}},
		[]times{{"S256", "candidate", wobble(400, 0.002, 0, 16)}, {"S256", "sdpa", wobble(400, 0.002, 1, 16)}},
	)...)).Overall
	if len(o.Configs) != 2 || o.Rounds != 4 {
		t.Errorf("%v over %d rounds, want both over 4", o.Configs, o.Rounds)
	}
}
