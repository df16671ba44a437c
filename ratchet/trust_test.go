package ratchet_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// What needs a person's word is no answer without it, and a regression is one all
// the same.
func TestWithheld(t *testing.T) {
	for _, test := range []struct {
		name    string
		effect  float64
		change  func(*ratchet.Evidence)
		want    ratchet.Verdict
		moves   bool
		mention string
	}{
		{"a gain", -0.5, func(*ratchet.Evidence) {}, ratchet.Improvement, true, "50.0 % faster ("},
		{"with its own harness", -0.5, func(e *ratchet.Evidence) { e.Redefined = "harness.c" }, ratchet.Inconclusive, false, "harness.c"},
		{"with its own harness, accepted", -0.5, func(e *ratchet.Evidence) { e.Redefined, e.Accepted = "harness.c", true }, ratchet.Improvement, false, ""},
		{"no change with its own harness", 0, func(e *ratchet.Evidence) { e.Redefined = "harness.c" }, ratchet.Inconclusive, false, "--accept"},
		{"slower with its own harness", 0.5, func(e *ratchet.Evidence) { e.Redefined = "harness.c" }, ratchet.Regression, false, "slower"},
		{"twelve times as fast", -11.0 / 12, func(*ratchet.Evidence) {}, ratchet.Inconclusive, false, "second clock"},
		{"twelve times, on two clocks", -11.0 / 12, func(e *ratchet.Evidence) { e.SecondClock = true }, ratchet.Inconclusive, false, "--accept"},
		{"twelve times, accepted", -11.0 / 12, func(e *ratchet.Evidence) { e.Accepted = true }, ratchet.Inconclusive, false, "second clock"},
		{"twelve times, on two clocks, accepted", -11.0 / 12, func(e *ratchet.Evidence) { e.Accepted, e.SecondClock = true, true }, ratchet.Improvement, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := made{name: "k", rounds: 8, effect: test.effect, spread: 0.005}.evidence(rand.New(rand.NewPCG(1, 2)))
			test.change(&e)
			j := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0]
			if j.Verdict != test.want || (j.Ratchet == ratchet.Moves) != test.moves || !strings.Contains(j.Sentence, test.mention) {
				t.Errorf("%s, %s: %s", j.Verdict, j.Ratchet, j.Sentence)
			}
		})
	}
}

// The record alone decides what is believed, so that whoever reads it says the same.
func TestGatherDoubts(t *testing.T) {
	const run = 1e6
	side := func(name string, says, takes float64) measure.Case {
		c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "k", Implementation: name}, Unit: "ns", Gate: true, Flops: 1e6}
		for i := range 4 {
			o := &measure.OutsideTiming{Clock: measure.TimerCPU, Runs: []int{2, 9, 5, 14}}
			for _, k := range o.Runs {
				o.Times, o.Adjacent = append(o.Times, 1e5+takes*float64(k)), append(o.Adjacent, says)
			}
			c.Rounds = append(c.Rounds, measure.CaseRound{Round: i, Samples: measure.Samples{says, says, says}, Outside: o})
		}
		return c
	}
	for _, test := range []struct {
		name      string
		trust     measure.Trust
		candidate measure.Case
		want      string
	}{
		{"honest", measure.Trusted, side("candidate", run, run), ""},
		{"samples say less than it takes", measure.Trusted, side("candidate", run/2, run), "clocks disagree"},
		{"less than the device can", measure.Trusted, side("candidate", 0.01, 0.01), "implausible"},
		{"no more time for more runs", measure.SelfTimed, side("candidate", run, 0), "not executed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &measure.Run{Header: measure.Header{Trust: test.trust, Device: gpu.Identity{Kind: gpu.CPU, Units: 2}}}
			r.Cases = []measure.Case{side("base", run, run), test.candidate}
			e := ratchet.Gather([]*measure.Run{r}, []*measure.Run{r}, "base", "candidate")[0]
			if e.BaseError != "" || (e.CandidateError == "") != (test.want == "") || !strings.Contains(e.CandidateError, test.want) {
				t.Errorf("base %q, candidate %q", e.BaseError, e.CandidateError)
			}
		})
	}
}
