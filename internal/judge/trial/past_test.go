package trial_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/measure"
)

// recorded is a trial with everything it recorded, and what its looks saw.
type recorded struct {
	out   trial.Outcome
	err   error
	past  []trial.PastRound
	looks []string
}

// keep runs a plan, which starts with past rounds. If last is not negative, the process dies before that round ends.
// The device throttles, and cases get decided, as fate has it for the rounds that are measured.
func keep(t *testing.T, fate uint64, past []trial.PastRound, last int) recorded {
	t.Helper()
	got := recorded{past: slices.Clone(past)}
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	b := &bench{}
	index := len(past)
	chance := func(purpose uint64, n, of int) bool {
		return rand.New(rand.NewPCG(fate, purpose<<32+uint64(n))).IntN(of) == 0
	}
	b.reasons = func(side string, _ int) gpu.Reasons {
		if chance(1, index, 5) || side == "base" && chance(2, index, 9) {
			return gpu.HWThermal
		}
		return 0
	}
	b.fail = func(string, int) error {
		if index == last {
			kill()
			return context.Canceled
		}
		return nil
	}
	p := b.plan("candidate", "base", "other")
	p.Growth, p.Seed, p.Past = []int{3, 5, 9, 14}, fate, past
	p.Record = func(r measure.Round, res []measure.Result) error {
		if chance(3, r.Index, 12) {
			res[len(res)-1].Round.Error = trial.Lost + "signal: killed"
		}
		got.past = append(got.past, trial.PastRound{Round: r, Results: slices.Clone(res)})
		index++
		return nil
	}
	p.Decide = func(final bool) []string {
		var undecided []string
		for i, name := range []string{"a", "b", "c"} {
			if !chance(uint64(10+i), len(got.looks), 4) {
				undecided = append(undecided, name)
			}
		}
		got.looks = append(got.looks, fmt.Sprint(undecided, final))
		return undecided
	}
	got.out, got.err = trial.Run(ctx, p)
	return got
}

// A trial that is killed at any round and continued ends as one that was not: the same rounds, in the same order and
// with the same seeds, the same looks, and the same warnings.
func TestRun_ContinuedEndsAsUninterrupted(t *testing.T) {
	throttled := 0
	for fate := range uint64(testrun.Times(30, 300)) {
		whole := keep(t, fate, nil, -1)
		if whole.err != nil {
			t.Fatal(whole.err)
		}
		if whole.out.State == measure.Throttled {
			throttled++
		}
		for cut := range len(whole.past) {
			first := keep(t, fate, nil, cut)
			if !errors.Is(first.err, context.Canceled) || first.out.State != measure.Interrupted || len(first.past) != cut {
				t.Fatalf("fate %d: killed in round %d: %+v, %v", fate, cut, first.out, first.err)
			}
			second := keep(t, fate, first.past, -1)
			if diff := cmp.Diff(withoutTimes(whole), withoutTimes(second), cmp.AllowUnexported(recorded{})); diff != "" {
				t.Fatalf("fate %d, killed in round %d (- uninterrupted, + continued):\n%s", fate, cut, diff)
			}
		}
	}
	if throttled == 0 {
		t.Error("no device throttled until the end: the cuts show too little")
	}
}

// withoutTimes drops what depends on the clock of the process that measured.
func withoutTimes(r recorded) recorded {
	r.past = slices.Clone(r.past)
	for i := range r.past {
		sides := slices.Clone(r.past[i].Round.Sides)
		for j := range sides {
			sides[j].Started = time.Time{}
		}
		r.past[i].Round.Sides = sides
	}
	return r
}

// The time that earlier processes spent counts against the budget; past rounds are taken in any case.
func TestRun_PastRoundsCountAgainstTheBudget(t *testing.T) {
	b := &bench{}
	p := b.plan("candidate", "base")
	p.Growth, p.Budget = []int{8}, 9*time.Second // a round takes 2 s
	if out, err := trial.Run(t.Context(), p); err != nil || out.State != measure.OverBudget || out.Rounds != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	for have := range 5 {
		c := &bench{}
		q := c.plan("candidate", "base")
		q.Growth, q.Budget = p.Growth, p.Budget
		for _, r := range b.rounds[:have] {
			q.Past = append(q.Past, trial.PastRound{Round: r})
		}
		out, err := trial.Run(t.Context(), q)
		if err != nil || out.State != measure.OverBudget || out.Rounds != 4 || out.Seconds != 8 || len(c.rounds) != 4-have {
			t.Errorf("after %d rounds: %+v, %v, %d measured", have, out, err, len(c.rounds))
		}
	}
}

// A round in which a side broke ended the run then, and ends it again. A round in which the machine failed counts as
// dropped, and the run goes on.
func TestRun_PastRoundThatBroke(t *testing.T) {
	b := &bench{fail: func(side string, round int) error {
		if side == "candidate" && round == 2 {
			return errors.New("it crashed")
		}
		return nil
	}}
	out, err := trial.Run(t.Context(), b.plan("candidate", "base"))
	if err == nil || out.Rounds != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	var past []trial.PastRound
	for _, r := range b.rounds {
		past = append(past, trial.PastRound{Round: r})
	}
	c := &bench{}
	p := c.plan("candidate", "base")
	p.Past = slices.Clone(past)
	again, againErr := trial.Run(t.Context(), p)
	side, ok := errors.AsType[*trial.SideError](againErr)
	if !ok || side.Side != "candidate" || againErr.Error() != err.Error() || again.Reason != out.Reason || len(c.rounds) > 0 {
		t.Errorf("%+v, %v, want %v", again, againErr, err)
	}
	for i := range past[2].Round.Sides {
		past[2].Round.Sides[i].Error = ""
	}
	d := &bench{}
	p = d.plan("candidate", "base")
	p.Past = past
	again, err = trial.Run(t.Context(), p)
	if err != nil || again.Rounds != 4 || len(d.rounds) != 2 || d.rounds[0].Index != 3 {
		t.Errorf("%+v, %v, %d rounds measured", again, err, len(d.rounds))
	}
}

func TestRun_RefusesPastRoundsOfAnotherPlan(t *testing.T) {
	for name, change := range map[string]func(*measure.Round){
		"index": func(r *measure.Round) { r.Index++ },
		"seed":  func(r *measure.Round) { r.Seed++ },
		"order": func(r *measure.Round) { slices.Reverse(r.Order) },
	} {
		b := &bench{}
		if _, err := trial.Run(t.Context(), b.plan("candidate", "base")); err != nil {
			t.Fatal(err)
		}
		round := b.rounds[0]
		change(&round)
		p := (&bench{}).plan("candidate", "base")
		p.Past = []trial.PastRound{{Round: round}}
		if out, err := trial.Run(t.Context(), p); err == nil || out.State != measure.Failed {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}
