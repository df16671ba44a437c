package sweep_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/measure"
)

func TestRanks(t *testing.T) {
	phases := map[string]int{"candidate": 0, "sdpa": 1, "flash": 2}
	steady := func(name string, level float64) times {
		return times{"S128", name, wobble(level, 0.002, phases[name], 8)}
	}
	tests := []struct {
		name string
		all  []times
		want []string
	}{
		{"all told apart", []times{steady("candidate", 200), steady("sdpa", 100), steady("flash", 150)}, []string{"sdpa 1", "flash 2", "candidate 3"}},
		{"the two fastest are tied", []times{steady("candidate", 100), steady("sdpa", 100), steady("flash", 150)}, []string{"candidate 1-2", "sdpa 1-2", "flash 3"}},
		{"the two slowest are tied", []times{steady("candidate", 100), steady("sdpa", 150), steady("flash", 150.01)}, []string{"candidate 1", "sdpa 2-3", "flash 2-3"}},
		{"all are tied", []times{steady("candidate", 100), steady("sdpa", 100.01), steady("flash", 100.02)}, []string{"candidate 1-3", "sdpa 1-3", "flash 1-3"}},
		{
			// Neighbours differ by less than can be told, the ends by more.
			"ties do not carry over",
			[]times{{"S128", "a", wobble(100, 0.01, 0, 8)}, {"S128", "b", wobble(101.2, 0.01, 1, 8)}, {"S128", "c", wobble(102.5, 0.01, 2, 8)}},
			[]string{"a 1-2", "b 1-3", "c 2-3"},
		},
		{"two rounds decide nothing", []times{{"S128", "candidate", []float64{100, 100.1}}, {"S128", "sdpa", []float64{300, 300.2}}}, []string{"candidate 1-2", "sdpa 1-2"}},
		{"a machine that drifts does not matter", []times{
			{"S128", "candidate", []float64{100, 150, 225, 337, 506, 759, 1139, 1708}},
			{"S128", "sdpa", []float64{104.1, 156, 234, 350.5, 526.3, 789.4, 1184.5, 1776.3}},
		}, []string{"candidate 1", "sdpa 2"}},
		{"one that failed has no rank", []times{steady("candidate", 100), steady("sdpa", 150), {"S128", "flash", []float64{0, 0}}, {"S64", "flash", wobble(1, 0.01, 0, 8)}}, []string{"candidate 1", "sdpa 2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := analyse(t, record(test.all...))
			if diff := cmp.Diff(test.want, ranks(r.Configs[0].Standings)); diff != "" {
				t.Errorf("%s\n%+v", diff, r.Configs[0].Pairs)
			}
		})
	}
}

func TestTieNamesBothSides(t *testing.T) {
	r := analyse(t, record(
		times{"S128", "a", wobble(100, 0.01, 0, 8)}, times{"S128", "b", wobble(101.2, 0.01, 1, 8)}, times{"S128", "c", wobble(102.5, 0.01, 2, 8)},
	))
	var tied [][]string
	for _, s := range r.Configs[0].Standings {
		tied = append(tied, s.Tied)
	}
	if diff := cmp.Diff([][]string{{"b"}, {"a", "c"}, {"b"}}, tied); diff != "" {
		t.Error(diff)
	}
}

func TestDroppedRoundsDoNotCount(t *testing.T) {
	run := record(
		times{"S128", "candidate", append(wobble(100, 0.001, 0, 8), 1e6)}, times{"S128", "sdpa", append(wobble(110, 0.001, 0, 8), 1)},
	)
	run.Rounds[8].Dropped = "the device slowed itself down"
	r := analyse(t, run)
	if r.Rounds != 8 || r.Configs[0].Standings[0].Rounds != 8 {
		t.Errorf("%d rounds, %d of the fastest, want 8", r.Rounds, r.Configs[0].Standings[0].Rounds)
	}
	if got := r.Configs[0].Pairs[0].Value; got < 1.0999 || got > 1.1001 {
		t.Errorf("speed-up %v, want 1.1", got)
	}
}

func TestOnlyTimesOfOneClockAreCompared(t *testing.T) {
	run := record(
		times{"S128", "candidate", wobble(100, 0.001, 0, 8)}, times{"S128", "sdpa", wobble(110, 0.001, 0, 8)}, times{"S128", "flash", wobble(90, 0.001, 0, 8)},
	)
	run.Cases[2].Timer = measure.TimerWall
	derived := run.Cases[0]
	derived.Metric, derived.Unit = "bandwidth", "GB/s"
	run.Cases = append(run.Cases, derived)
	r := analyse(t, run)
	if diff := cmp.Diff([]string{"candidate", "sdpa"}, r.Implementations); diff != "" {
		t.Error(diff)
	}
	want := []sweep.Omission{{Name: "flash", Reason: "its timer is wall, but the timer of candidate is device"}}
	if diff := cmp.Diff(want, r.Absent); diff != "" {
		t.Error(diff)
	}
	if len(r.Configs) != 1 {
		t.Errorf("%d configs: a derived metric is no config of its own", len(r.Configs))
	}
}

func TestNothingToCompare(t *testing.T) {
	for name, run := range map[string]*measure.Run{
		"empty":              {},
		"one implementation": record(times{"S128", "candidate", wobble(100, 0.01, 0, 8)}),
		"the other failed":   record(times{"S128", "candidate", wobble(100, 0.01, 0, 8)}, times{"S128", "sdpa", []float64{0, 0, 0}}),
	} {
		if r, err := sweep.Analyze(run); !errors.Is(err, sweep.ErrNothingToCompare) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// drawn is a run of a few implementations with random levels and spreads.
func drawn(t *rapid.T) []times {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	order := []string{"candidate", "sdpa", "flash", "xformers", "cutlass"}[:rapid.IntRange(2, 5).Draw(t, "implementations")]
	levels := map[string]float64{}
	for _, name := range order {
		levels[name] = 1000 * (1 + 0.02*rapid.Float64Range(0, 2).Draw(t, name))
	}
	rounds := rapid.IntRange(1, 12).Draw(t, "rounds")
	return slices.Concat(
		noisy(rng, levels, order, "S128", rounds, 0.05, 0.01),
		noisy(rng, levels, order, "S256", rounds, 0.05, 0.01),
	)
}

func allRanks(r *sweep.Result) map[string][2]int {
	all := map[string][2]int{}
	add := func(name string, standings []sweep.Standing) {
		for _, s := range standings {
			all[name+" "+s.Implementation] = [2]int{s.Rank, s.RankTo}
		}
	}
	for _, c := range r.Configs {
		add(c.Name, c.Standings)
	}
	add("overall", r.Overall.Standings)
	return all
}

// A faster machine, or another unit, does not change the ranks.
func TestRanksDoNotDependOnTheUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawn(t)
		before := allRanks(analyse(t, record(all...)))
		factor := rapid.Float64Range(1e-3, 1e6).Draw(t, "factor")
		for _, one := range all {
			for r := range one.rounds {
				one.rounds[r] *= factor
			}
		}
		if diff := cmp.Diff(before, allRanks(analyse(t, record(all...)))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Neither does the order in which they stand in the record, nor that of the rounds.
func TestRanksDoNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawn(t)
		before := allRanks(analyse(t, record(all...)))
		rounds := rapid.Permutation(slices.Collect(indexes(len(all[0].rounds)))).Draw(t, "rounds")
		shuffled := rapid.Permutation(all).Draw(t, "cases")
		for i, one := range shuffled {
			moved := make([]float64, len(rounds))
			for to, from := range rounds {
				moved[to] = one.rounds[from]
			}
			shuffled[i].rounds = moved
		}
		if diff := cmp.Diff(before, allRanks(analyse(t, record(shuffled...)))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func indexes(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// Ranks fit each other: a tie is mutual and its ranks overlap, one that is faster
// ends before the other starts.
func TestRanksFitTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, c := range analyse(t, record(drawn(t)...)).Configs {
			of := map[string]sweep.Standing{}
			for _, s := range c.Standings {
				of[s.Implementation] = s
				if s.Rank < 1 || s.Rank > s.RankTo || s.RankTo > len(c.Standings) || s.RankTo-s.Rank != len(s.Tied) {
					t.Fatalf("%+v", s)
				}
			}
			for _, p := range c.Pairs {
				a, b := of[p.Of], of[p.Against]
				if p.Value < 1 {
					a, b = b, a
				}
				if tied := slices.Contains(a.Tied, b.Implementation); tied == p.Told || tied != slices.Contains(b.Tied, a.Implementation) {
					t.Fatalf("%+v: %v and %v", p, a.Tied, b.Tied)
				}
			}
		}
	})
}

// Of implementations that do not differ at all, no more configs than promised have
// any claim.
func TestFalseClaims(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	order := []string{"candidate", "sdpa", "flash", "cutlass"}
	levels := map[string]float64{"candidate": 1000, "sdpa": 1000, "flash": 1000, "cutlass": 1000}
	const trials = 200
	wrong := 0
	for range trials {
		r := analyse(t, record(noisy(rng, levels, order, "S128", 8, 0.05, 0.015)...))
		if slices.ContainsFunc(r.Configs[0].Pairs, func(p sweep.Pair) bool { return p.Told }) {
			wrong++
		}
	}
	// Three standard deviations above 1 % of them.
	if limit := 2 + 3*2; wrong > limit {
		t.Errorf("%d of %d configs have a false claim, want at most %d", wrong, trials, limit)
	}
	t.Logf("%d of %d configs with a false claim", wrong, trials)
}
