package ratchet_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// reported returns the evidence of a metric that a harness states, one value a round.
func reported(unit string, better measure.Better, base, candidate []float64) ratchet.Evidence {
	rounds := func(values []float64) []ratchet.Round {
		var list []ratchet.Round
		for i, v := range values {
			list = append(list, ratchet.NewRound(measure.CaseRound{Round: i, Samples: measure.Samples{v}}, "one"))
		}
		return list
	}
	return ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: "k", Metric: "m", Implementation: measure.Candidate}, Unit: unit, Better: better, Gate: true, Reported: true,
		Paired: true, HasBase: true, HasCandidate: true, Base: rounds(base), Candidate: rounds(candidate),
	}
}

func four(v float64) []float64 { return slices.Repeat([]float64{v}, 4) }

// A metric without a usable ratio is judged by its limit or by its value. Without either there is no answer.
func TestMetrics_WithoutARatio(t *testing.T) {
	limit := func(v float64) func(*ratchet.Evidence) { return func(e *ratchet.Evidence) { e.Limit = &v } }
	with := func(e ratchet.Evidence, change func(*ratchet.Evidence)) ratchet.Evidence { change(&e); return e }
	for _, test := range []struct {
		name string
		e    ratchet.Evidence
		want ratchet.Verdict
		says string
	}{
		{"the same bytes", reported("B", measure.Lower, four(1024), four(1024)), ratchet.Maintained, "Unchanged: 1024 B"},
		{"one byte more", reported("B", measure.Lower, four(1024), four(1025)), ratchet.Regression, "From 1024 B to 1025 B"},
		{"one byte of a million", reported("B", measure.Lower, four(1234567), four(1234568)), ratchet.Regression, "From 1234567 B to 1234568 B"},
		{"one byte less", reported("B", measure.Lower, four(1024), four(1023)), ratchet.Improvement, "any change counts"},
		{"fewer tests pass", reported("tests", measure.Higher, four(12), four(11)), ratchet.Regression, "From 12 tests to 11 tests"},
		{"no error becomes three", reported("errors", measure.Lower, four(0), four(3)), ratchet.Regression, "From 0 errors to 3 errors"},
		{"three errors become none", reported("errors", measure.Lower, four(3), four(0)), ratchet.Improvement, "to 0 errors"},
		{"none stays none", reported("errors", measure.Lower, four(0), four(0)), ratchet.Maintained, "Unchanged: 0 errors"},
		{"negative and exact", reported("dB", measure.Higher, four(-3), four(-4)), ratchet.Regression, "-3"},
		{"twenty times fewer bytes need a person", reported("B", measure.Lower, four(2000), four(100)), ratchet.Inconclusive, "--accept"},
		{"accepted", with(reported("B", measure.Lower, four(2000), four(100)), func(e *ratchet.Evidence) { e.Accepted = true }), ratchet.Improvement, "From 2000 B"},
		{"two rounds are too few to be exact", reported("B", measure.Lower, four(1024)[:2], four(1025)[:2]), ratchet.Inconclusive, "at least 4 rounds"},
		{"equal times were rounded", reported("ms", measure.Lower, four(12), four(13)), ratchet.Inconclusive, ""},
		{"equal rates were rounded", reported("tok/s", measure.Higher, four(100), four(99)), ratchet.Inconclusive, "it changed by -1.0 %"},
		{"zero in some rounds", reported("errors", measure.Lower, []float64{0, 1, 0, 1}, four(1)), ratchet.Inconclusive, "Set a limit"},
		{"negative values that vary", reported("dB", measure.Lower, []float64{-1, -2, -1, -3}, four(-1)), ratchet.Inconclusive, "no ratio"},
		{"within its limit", with(reported("1", measure.Lower, four(1e-4), []float64{2e-4, 9e-4, 1e-4, 1e-4}), limit(1e-3)), ratchet.Maintained, "Within its limit of 0.001: the worst of 4 values is 0.0009."},
		{"one value above its limit", with(reported("1", measure.Lower, four(1e-4), []float64{1e-4, 1e-4, 2e-3, 1e-4}), limit(1e-3)), ratchet.Regression, "Above its limit"},
		{"below a min", with(reported("share", measure.Higher, four(0.99), []float64{0.99, 0.94, 0.99, 0.99}), limit(0.95)), ratchet.Regression, "Below its limit"},
		{"worse than the base within the limit", with(reported("1", measure.Lower, four(0), four(1e-4)), limit(1e-3)), ratchet.Maintained, "Within"},
		{"far better than the base within the limit", with(reported("1", measure.Lower, four(1e-3), four(1e-9)), limit(1e-3)), ratchet.Maintained, "Within"},
		{"new and above its limit", with(reported("1", measure.Lower, nil, four(1)), func(e *ratchet.Evidence) { limit(0.5)(e); e.HasBase = false }), ratchet.Regression, "Above"},
		{"new without a limit", with(reported("1", measure.Lower, nil, four(1)), func(e *ratchet.Evidence) { e.HasBase = false }), ratchet.New, "New"},
		{"left out by the candidate", with(reported("B", measure.Lower, four(1), nil), func(e *ratchet.Evidence) { e.HasCandidate = false }), ratchet.Missing, "Missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{test.e})
			c := r.Cases[0]
			if c.Verdict != test.want || r.Verdict != test.want || !strings.Contains(c.Sentence, test.says) {
				t.Errorf("%s, whole %s: %s; want %s, %q", c.Verdict, r.Verdict, c.Sentence, test.want, test.says)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is only watched neither fails a change nor costs rounds, and does not make the time harder to judge.
func TestMetrics_WatchedCostNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	slower := made{name: "k", rounds: 16, effect: 0.06, spread: 0.002}.evidence(rng)
	alone := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{slower})
	list := []ratchet.Evidence{slower}
	for range 40 {
		e := made{name: "noisy", rounds: 16, spread: 0.3}.evidence(rng)
		e.Case.Metric, e.Unit, e.Reported, e.Gate = "ttft", "ms", true, false
		list = append(list, e)
	}
	if open := ratchet.Undecided(ratchet.Default(), list); len(open) > 0 {
		t.Errorf("%d cases ask for more rounds", len(open))
	}
	got := ratchet.Judge(ratchet.Default(), list)
	if got.Cases[0].Facts.Holm != alone.Cases[0].Facts.Holm {
		t.Errorf("with 40 watched metrics, p is %v instead of %v", got.Cases[0].Facts.Holm, alone.Cases[0].Facts.Holm)
	}
	worse := reported("B", measure.Lower, four(1), four(2))
	worse.Gate = false
	same := made{name: "k", rounds: 8, spread: 0.002}.evidence(rng)
	if r := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{same, worse}); r.Verdict != ratchet.Maintained || r.Cases[1].Verdict != ratchet.Regression {
		t.Errorf("%s, with %s of a watched metric", r.Verdict, r.Cases[1].Verdict)
	}
}

// A gated metric is judged by the policy of the time, in its own direction, and asks for rounds.
func TestMetrics_GatedLikeTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for better, want := range map[measure.Better]ratchet.Verdict{measure.Higher: ratchet.Regression, measure.Lower: ratchet.Maintained} {
		e := made{name: "k", rounds: 16, effect: -0.06, spread: 0.002, better: better}.evidence(rng)
		e.Case.Metric, e.Unit, e.Reported = "tok/s", "tok/s", true
		if c := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0]; c.Verdict != want || !c.Reported {
			t.Errorf("6 %% less where %s is better: %s", better, c.Sentence)
		}
	}
	e := made{name: "k", rounds: 8, spread: 0.3}.evidence(rng)
	e.Case.Metric, e.Unit, e.Reported = "tok/s", "tok/s", true
	e.Gate = false
	if open := ratchet.MoreRounds(ratchet.Default(), []ratchet.Evidence{e}); len(open) != 1 {
		t.Error("where nothing is gated, a watched metric asks for no rounds")
	}
	e.Gate = true
	if open := ratchet.MoreRounds(ratchet.Default(), []ratchet.Evidence{e}); !slices.Equal(open, []string{"k"}) {
		t.Errorf("an undecided metric asks for rounds of %q", open)
	}
}

// A definition that changed for a case changed for its metrics.
func TestMetrics_RedefinedWithTheirCase(t *testing.T) {
	series := func(side string) measure.Case {
		c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "k", Metric: "m", Implementation: side}, Unit: "B", Reported: true, Gate: true}
		for i := range 4 {
			c.Rounds = append(c.Rounds, measure.CaseRound{Round: i, Samples: measure.Samples{8}})
		}
		return c
	}
	r := &measure.Run{Cases: []measure.Case{series("base"), series("candidate")}}
	r.Definition = &measure.Definition{Changed: []string{"harness.c"}, Cases: []string{"k"}}
	e := ratchet.Gather([]*measure.Run{r}, []*measure.Run{r}, "base", "candidate")[0]
	if e.Redefined != "harness.c" || !e.Reported {
		t.Errorf("%+v", e)
	}
}
