package ratchet_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// verdictOf judges one case by an edition, on a testbed with independent rounds.
func verdictOf(edition int, e ratchet.Evidence) ratchet.Judgment {
	p := ratchet.ForEdition(edition)
	p.Dependence = ratchet.Dependence{1}
	return ratchet.Judge(p, []ratchet.Evidence{e}).Cases[0]
}

// twoSpeeds makes rounds of five turns on a machine that is at half speed in some of them, for both sides.
func twoSpeeds(effect float64) ratchet.Evidence {
	rng := rand.New(rand.NewPCG(1, 2))
	e := made{name: "k"}.evidence(rng)
	for i := range 32 {
		var base, candidate measure.Samples
		for range 5 {
			speed := 1e5
			if rng.IntN(2) == 0 {
				speed *= 2
			}
			for range 4 {
				base = append(base, speed*math.Exp(0.01*rng.NormFloat64()))
				candidate = append(candidate, speed*(1+effect)*math.Exp(0.01*rng.NormFloat64()))
			}
		}
		rng.Shuffle(4, func(a, b int) { base[a], base[b] = base[b], base[a] })
		e.Base = append(e.Base, ratchet.NewRound(measure.CaseRound{Round: i, SamplesPerTurn: 4, Quantum: 1, Samples: base}, "one"))
		e.Candidate = append(e.Candidate, ratchet.NewRound(measure.CaseRound{Round: i, SamplesPerTurn: 4, Quantum: 1, Samples: candidate[:len(candidate)-2*rng.IntN(3)]}, "one"))
	}
	return e
}

// Turns that follow each other saw the same machine; the medians of a round did not.
func TestTurnsAreCompared(t *testing.T) {
	for effect, want := range map[float64]ratchet.Verdict{0: ratchet.Maintained, 0.06: ratchet.Regression} {
		if c := verdictOf(2, twoSpeeds(effect)); c.Verdict != want {
			t.Errorf("second edition, effect %v: %s", effect, c.Sentence)
		}
		if c := verdictOf(1, twoSpeeds(effect)); c.Verdict == want && c.Facts.Spread < 0.02 {
			t.Errorf("first edition, effect %v: it saw nothing of the two speeds: %s", effect, c.Sentence)
		}
	}
}

// disturb makes some rounds of a side, or of either in turn, half as long again.
func disturb(e ratchet.Evidence, rounds []int, both bool) ratchet.Evidence {
	for k, i := range rounds {
		side := e.Candidate
		if both && k%2 == 0 {
			side = e.Base
		}
		side[i].Median *= 1.5
	}
	return e
}

func TestWildRounds(t *testing.T) {
	wild := []int{1, 4, 9, 12, 17, 26}
	even := func(effect float64) ratchet.Evidence {
		return disturb(made{name: "k", rounds: 32, effect: effect, spread: 0.005}.evidence(rand.New(rand.NewPCG(1, 2))), wild, true)
	}
	for effect, want := range map[float64]ratchet.Verdict{0: ratchet.Maintained, 0.06: ratchet.Regression} {
		if c := verdictOf(2, even(effect)); c.Verdict != want {
			t.Errorf("second edition, effect %v: %s", effect, c.Sentence)
		}
		if c := verdictOf(1, even(effect)); c.Verdict != ratchet.Inconclusive {
			t.Errorf("first edition, effect %v: %s", effect, c.Sentence)
		}
	}
	own := disturb(made{name: "k", rounds: 32, spread: 0.005}.evidence(rand.New(rand.NewPCG(1, 2))), wild, false)
	c := verdictOf(2, own)
	if c.Verdict != ratchet.Inconclusive || !strings.Contains(c.Sentence, "In 6 of these rounds the candidate was far slower than in the others, and the base in 0") {
		t.Errorf("a candidate that is slow at some starts: %s: %s", c.Verdict, c.Sentence)
	}
}

func TestCoarseTimerIsNamed(t *testing.T) {
	e := made{name: "k", rounds: 64, effect: 0.02, spread: 0.001}.evidence(rand.New(rand.NewPCG(1, 2)))
	for _, side := range [][]ratchet.Round{e.Base, e.Candidate} {
		for i := range side {
			side[i].Quantum = 5000
			side[i].Median = 5000 * math.Round(side[i].Median/5000)
		}
	}
	if c := verdictOf(2, e); c.Verdict != ratchet.Inconclusive || !strings.Contains(c.Sentence, "The timer counts in steps of 5.0 % of this time") {
		t.Errorf("%s: %s", c.Verdict, c.Sentence)
	}
}

// On a testbed of which nothing is known, a claim waits for 16 rounds unless it is obvious.
func TestUnknownTestbed(t *testing.T) {
	for _, test := range []struct {
		rounds int
		effect float64
		want   ratchet.Verdict
	}{
		{8, 0.06, ratchet.Inconclusive},
		{16, 0.06, ratchet.Regression},
		{8, 0.3, ratchet.Regression},
		{8, 0, ratchet.Maintained},
	} {
		e := made{name: "k", rounds: test.rounds, effect: test.effect, spread: 0.003}.evidence(rand.New(rand.NewPCG(1, 2)))
		c := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0]
		if c.Verdict != test.want {
			t.Errorf("%d rounds, effect %v: %s: %s", test.rounds, test.effect, c.Verdict, c.Sentence)
		}
		if c.Verdict == ratchet.Inconclusive && !strings.Contains(c.Sentence, "a claim needs at least 16 rounds here") {
			t.Errorf("it does not say what it takes: %s", c.Sentence)
		}
	}
}

// A record is judged as its own edition does.
func TestEditionOfARecord(t *testing.T) {
	e := made{name: "k", rounds: 8, effect: 0.06, spread: 0.003}.evidence(rand.New(rand.NewPCG(1, 2)))
	old := ratchet.Default().ForPlan(measure.Plan{Growth: []int{4, 8, 16, 32}})
	if old.Edition != 1 || old.AlphaShares[0] != 0.05 {
		t.Errorf("the policy for a record without an edition: %+v", old)
	}
	if c := ratchet.Judge(old, []ratchet.Evidence{e}).Cases[0]; c.Verdict != ratchet.Regression {
		t.Errorf("an old record: %s", c.Sentence)
	}
	known := ratchet.Default().ForPlan(measure.Plan{Edition: 2, Dependence: []float64{1}})
	if c := ratchet.Judge(known, []ratchet.Evidence{e}).Cases[0]; c.Verdict != ratchet.Regression {
		t.Errorf("on a testbed with independent rounds: %s", c.Sentence)
	}
	strict := ratchet.Default()
	strict.Slower = 0.08
	if got := strict.ForPlan(measure.Plan{}).Slower; got != 0.08 {
		t.Errorf("the limit of the suite became %v", got)
	}
}
