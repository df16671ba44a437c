package ratchet_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

func TestVerdicts(t *testing.T) {
	quiet := 0.002
	for _, test := range []struct {
		name   string
		made   made
		change func(*ratchet.Evidence)
		want   ratchet.Verdict
		move   ratchet.Move
		says   string
	}{
		{"same code", made{rounds: 8, spread: quiet}, nil, ratchet.Maintained, ratchet.Holds, "Not slower by 3.0 % or more"},
		{"six percent slower", made{rounds: 16, effect: 0.06, spread: quiet}, nil, ratchet.Regression, ratchet.Holds, "slower ("},
		{"two percent slower is allowed", made{rounds: 16, effect: 0.02, spread: quiet}, nil, ratchet.Maintained, ratchet.Holds, ""},
		{"twelve percent faster", made{rounds: 16, effect: -0.11, spread: quiet}, nil, ratchet.Improvement, ratchet.Moves, "11.0 % faster ("},
		{"seven percent faster moves the baseline", made{rounds: 16, effect: -0.065, spread: quiet}, nil, ratchet.Maintained, ratchet.Moves, "the baseline moves"},
		{"noise", made{rounds: 32, spread: 0.15}, nil, ratchet.Inconclusive, ratchet.Holds, "No answer after 32 rounds side by side"},
		{"two rounds", made{rounds: 2, effect: 0.5, spread: quiet}, nil, ratchet.Inconclusive, ratchet.Holds, "measure at least 4 rounds"},
		{"more is better", made{rounds: 16, effect: 0.06, spread: quiet, better: measure.Higher}, nil, ratchet.Maintained, ratchet.Moves, ""},
		{"less is worse", made{rounds: 16, effect: -0.06, spread: quiet, better: measure.Higher}, nil, ratchet.Regression, ratchet.Holds, ""},
		{"a candidate that fails", made{rounds: 8, spread: quiet}, func(e *ratchet.Evidence) { e.CandidateError = "wrong result\nat 3" }, ratchet.Broken, ratchet.Holds, "Broken: the candidate failed: wrong result"},
		{"a base that fails", made{rounds: 8, spread: quiet}, func(e *ratchet.Evidence) { e.BaseError = "does not build" }, ratchet.Inconclusive, ratchet.Holds, "the base failed: does not build"},
		{"no base", made{rounds: 8}, func(e *ratchet.Evidence) { e.HasBase, e.Base = false, nil }, ratchet.New, ratchet.Holds, "New"},
		{"no candidate", made{rounds: 8}, func(e *ratchet.Evidence) { e.HasCandidate, e.Candidate = false, nil }, ratchet.Missing, ratchet.Holds, "Missing"},
		{"the same bytes", made{}, func(e *ratchet.Evidence) { e.Identical = true }, ratchet.Identical, ratchet.Holds, "No input of the build or the kernel differs"},
		{"a summary", made{}, func(e *ratchet.Evidence) { e.NoSamples = true }, ratchet.Inconclusive, ratchet.Holds, "summary"},
		{"apart by 6 %", made{rounds: 8, effect: 0.06, spread: quiet}, apart, ratchet.Inconclusive, ratchet.Holds, "measured at different times"},
		{"apart by 50 %", made{rounds: 8, effect: 0.5, spread: quiet}, apart, ratchet.Regression, ratchet.Holds, "measured separately"},
		{"six percent in few sessions", made{rounds: 4, effect: 0.5, spread: quiet}, stored, ratchet.Inconclusive, ratchet.Holds, "4 measuring sessions"},
		{"ten percent in many sessions", made{rounds: 8, effect: 0.10, spread: 0.001}, func(e *ratchet.Evidence) { stored(e); level(e) }, ratchet.Regression, ratchet.Holds, "against 8 stored sessions"},
		{"five percent in many calm sessions can be the machine", made{rounds: 8, effect: 0.05, spread: 0.001}, func(e *ratchet.Evidence) { stored(e); level(e) }, ratchet.Inconclusive, ratchet.Holds, "the machine may have changed"},
		{"twelve percent faster in many sessions", made{rounds: 8, effect: -0.12, spread: 0.001}, func(e *ratchet.Evidence) { stored(e); level(e) }, ratchet.Improvement, ratchet.Moves, "against 8 stored sessions"},
		{"five percent in many sessions with a reference", made{rounds: 8, effect: 0.05, spread: 0.001}, func(e *ratchet.Evidence) { stored(e); level(e); e.Reference = "copy" }, ratchet.Regression, ratchet.Holds, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.made.name = "matmul"
			e := test.made.evidence(rand.New(rand.NewPCG(1, 2)))
			if test.change != nil {
				test.change(&e)
			}
			r := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e})
			c := r.Cases[0]
			if c.Verdict != test.want || c.Ratchet != test.move || r.Verdict != test.want {
				t.Errorf("%s, baseline %s, whole %s; want %s, %s\n%s", c.Verdict, c.Ratchet, r.Verdict, test.want, test.move, c.Sentence)
			}
			if !strings.Contains(c.Sentence, test.says) {
				t.Errorf("the sentence does not say %q: %s", test.says, c.Sentence)
			}
		})
	}
}

// apart has the sides measured in two sessions.
func apart(e *ratchet.Evidence) {
	e.Paired = false
	for i := range e.Candidate {
		e.Candidate[i].Session = "two"
	}
}

// stored makes every round of the base a session of its own.
func stored(e *ratchet.Evidence) {
	apart(e)
	e.Stored = true
	for i := range e.Base {
		e.Base[i].Session = "stored " + string(rune('a'+i))
	}
}

// level takes out what the machine did in single rounds.
func level(e *ratchet.Evidence) {
	for _, side := range [][]ratchet.Round{e.Base, e.Candidate} {
		for i := range side {
			side[i].Median = side[0].Median * (1 + 0.0005*float64(i%3))
		}
	}
}

func TestSlowdownOfTheClock(t *testing.T) {
	lower := func(effect float64) float64 { return 1000 / (1 + effect) }
	m := made{name: "matmul", rounds: 16, effect: 0.06, spread: 0.002, clocks: lower}
	e := m.evidence(rand.New(rand.NewPCG(1, 2)))
	c := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0]
	if c.Verdict != ratchet.Regression || c.Cause != "clock or power" {
		t.Errorf("side by side: %s, cause %q; want a regression by clock or power", c.Verdict, c.Cause)
	}
	m.effect = 0.6
	e = m.evidence(rand.New(rand.NewPCG(1, 2)))
	apart(&e)
	c = ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0]
	if c.Verdict != ratchet.Inconclusive || c.Cause != "clock or power" {
		t.Errorf("apart: %s, cause %q; want no answer", c.Verdict, c.Cause)
	}
	m.clocks = func(float64) float64 { return 1000 }
	e = m.evidence(rand.New(rand.NewPCG(1, 2)))
	if c = ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0]; c.Cause != "" {
		t.Errorf("at the same clock the cause is %q", c.Cause)
	}
}

func TestTwoPercentEverywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var list []ratchet.Evidence
	for i := range 12 {
		list = append(list, made{name: "k" + string(rune('a'+i)), rounds: 16, effect: 0.02, spread: 0.004}.evidence(rng))
	}
	r := ratchet.Judge(ratchet.Default(), list)
	if r.Suite == nil || r.Suite.Verdict != ratchet.Regression || r.Verdict != ratchet.Regression {
		t.Fatalf("whole %s, suite %+v; want a regression", r.Verdict, r.Suite)
	}
	if r.Counts[ratchet.Regression] != 0 {
		t.Errorf("%d cases regressed by two percent", r.Counts[ratchet.Regression])
	}
	for i := range list { // the same code
		list[i] = made{name: list[i].Case.Benchmark, rounds: 16, spread: 0.004}.evidence(rng)
	}
	if r := ratchet.Judge(ratchet.Default(), list); r.Verdict != ratchet.Maintained {
		t.Errorf("same code: %s: %s", r.Verdict, r.Sentence)
	}
}

func TestLimitsOfACase(t *testing.T) {
	p := ratchet.Default()
	p.Cases = []ratchet.CaseLimits{{Match: "mat*", Slower: 0.10}, {Match: "matmul/N8", Slower: 0.02}}
	e := made{name: "matmul", rounds: 16, effect: 0.06, spread: 0.002}.evidence(rand.New(rand.NewPCG(1, 2)))
	for config, want := range map[string]ratchet.Verdict{"N4": ratchet.Maintained, "N8": ratchet.Regression} {
		e.Case.Config = config
		if c := ratchet.Judge(p, []ratchet.Evidence{e}).Cases[0]; c.Verdict != want {
			t.Errorf("%s: %s, want %s", c.Name, c.Verdict, want)
		}
	}
}

func TestWatchedCaseFailsNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	slow := made{name: "watched", rounds: 8, effect: 0.2, spread: 0.002}.evidence(rng)
	slow.Gate = false
	good := made{name: "gated", rounds: 8, spread: 0.002}.evidence(rng)
	r := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{slow, good})
	if r.Cases[0].Verdict != ratchet.Regression || r.Verdict != ratchet.Maintained {
		t.Errorf("the case is %s and the whole %s; want regression and maintained", r.Cases[0].Verdict, r.Verdict)
	}
}

// A case that nobody believes for now is shown with its verdict; it fails nothing, and
// nothing moves because of it.
func TestQuarantinedCase(t *testing.T) {
	for effect, want := range map[float64]ratchet.Verdict{0.2: ratchet.Regression, -0.3: ratchet.Improvement} {
		run := recorded(effect)
		for i := range run.Cases {
			run.Cases[i].Quarantine = "@kernels, until 2026-12-31: two speeds"
		}
		same := []*measure.Run{run}
		r := ratchet.Judge(ratchet.Default(), ratchet.Gather(same, same, measure.Base, measure.Candidate))
		c := r.Cases[0]
		if c.Verdict != want || c.Gate || c.Ratchet != ratchet.Holds || c.Quarantine == "" || r.Severity() == ratchet.SeverityFail {
			t.Errorf("effect %v: %s, gated %t, %s, %q; the whole is %s", effect, c.Verdict, c.Gate, c.Ratchet, c.Quarantine, r.Verdict)
		}
	}
}

// recorded is a record of one gated case, measured side by side.
func recorded(effect float64) *measure.Run {
	run := &measure.Run{}
	for side, us := range map[string]float64{measure.Base: 100, measure.Candidate: 100 * (1 + effect)} {
		c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "k", Implementation: side}, Unit: "ns", Gate: true}
		for i := range 8 {
			at := 1e3 * us * (1 + 0.001*float64(1-2*(i%2)))
			c.Rounds = append(c.Rounds, measure.CaseRound{Round: i, Quantum: 1, Samples: measure.Samples{at * 0.999, at, at * 1.001}})
		}
		run.Cases = append(run.Cases, c)
	}
	return run
}

func TestUndecided(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	list := []ratchet.Evidence{
		made{name: "same", rounds: 4, effect: -0.02, spread: 0.001}.evidence(rng),
		made{name: "slow", rounds: 4, effect: 0.5, spread: 0.001}.evidence(rng),
		made{name: "noisy", rounds: 4, spread: 0.05}.evidence(rng),
		made{name: "faster by 7 %", rounds: 4, effect: -0.07, spread: 0.02}.evidence(rng),
	}
	got := ratchet.Undecided(ratchet.Default(), list)
	if len(got) != 2 || got[0] != 2 || got[1] != 3 {
		t.Errorf("undecided %v, want the noisy one and the gain that is not confirmed", got)
	}
}
