package ratchet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// runOf is a record of eight rounds in which the candidate of each case takes so much longer. Cases that are skipped have
// no rounds.
func runOf(cases map[string]measure.Unchanged, slower map[string]float64) *measure.Run {
	run := &measure.Run{Header: measure.Header{ID: "one", Source: measure.Measured, Trust: measure.Checked}}
	for i := range 8 {
		run.Rounds = append(run.Rounds, measure.Round{Index: i})
	}
	for i := range len(cases) {
		name := fmt.Sprintf("k%d", i)
		for _, side := range []string{measure.Base, measure.Candidate} {
			c := measure.Case{CaseKey: measure.CaseKey{Benchmark: name, Implementation: side}, Unit: "ns", Gate: true, Unchanged: cases[name]}
			for r := range 8 {
				median := 1e5 * (1 + 0.0005*float64(r%2))
				if side == measure.Candidate {
					median *= 1 + slower[name]
				}
				if c.Unchanged != measure.Skipped {
					c.Rounds = append(c.Rounds, measure.CaseRound{Round: r, Quantum: 1, Samples: measure.Samples{median * 0.999, median, median * 1.001}})
				}
			}
			run.Cases = append(run.Cases, c)
		}
	}
	return run
}

// judged judges a record as the run that wrote it does.
func judged(run *measure.Run) ratchet.Result {
	list := gathered(run)
	ratchet.BelieveSkipped(list)
	return ratchet.Judge(ratchet.Default(), list)
}

func gathered(run *measure.Run) []ratchet.Evidence {
	return ratchet.Gather([]*measure.Run{run}, []*measure.Run{run}, measure.Base, measure.Candidate)
}

// Every verdict says what was not measured, and whether the sample confirms that it need not be.
func TestLeftOut(t *testing.T) {
	cases := map[string]measure.Unchanged{"k0": "", "k1": measure.Skipped, "k2": measure.Skipped, "k3": measure.Sampled}
	for name, tt := range map[string]struct {
		cases   map[string]measure.Unchanged
		slower  map[string]float64
		verdict ratchet.Verdict
		want    []string
		without string
	}{
		"nothing is left out":    {map[string]measure.Unchanged{"k0": "", "k1": ""}, nil, ratchet.Maintained, []string{"Of 2 cases: 2 maintained."}, "cannot"},
		"the sample confirms it": {cases, nil, ratchet.Maintained, []string{"2 maintained, 2 identical", "3 of 4 cases cannot have changed", "2 were not measured; 1, chosen at random, were. None of these differed."}, "not proved"},
		"what changed is slower": {cases, map[string]float64{"k0": 0.2}, ratchet.Regression, []string{"1 regression", "3 of 4 cases cannot have changed", "None of these differed"}, "not proved"},
		"the sample contradicts": {cases, map[string]float64{"k3": 0.2}, ratchet.Regression, []string{"0 of these did not differ"}, "None of these"},
	} {
		t.Run(name, func(t *testing.T) {
			r := judged(runOf(tt.cases, tt.slower))
			if r.Verdict != tt.verdict {
				t.Errorf("%s, want %s", r.Verdict, tt.verdict)
			}
			for _, want := range tt.want {
				if !strings.Contains(r.Sentence, want) {
					t.Errorf("%q does not say %q", r.Sentence, want)
				}
			}
			if strings.Contains(r.Sentence, tt.without) {
				t.Errorf("%q says %q", r.Sentence, tt.without)
			}
			for _, c := range r.Cases {
				if skipped := tt.cases[c.Name] == measure.Skipped; skipped != (c.Verdict == ratchet.Identical) || skipped && c.Ratchet != ratchet.Holds {
					t.Errorf("%s is %s and %s", c.Name, c.Verdict, c.Ratchet)
				}
				if differs := tt.cases[c.Name] == measure.Sampled && tt.slower[c.Name] > 0; c.Differs() != differs {
					t.Errorf("%s differs: %v", c.Name, c.Differs())
				}
			}
		})
	}
}

// A record that claims that a case cannot have changed gets no answer for it. What it measured counts as ever.
func TestLeftOut_RecordIsNoProof(t *testing.T) {
	forge := func(run *measure.Run, sides ...string) *measure.Run {
		for i := range run.Cases {
			if c := &run.Cases[i]; slices.Contains(sides, c.Implementation) {
				c.Rounds, c.Unchanged = nil, measure.Skipped
			}
		}
		return run
	}
	slow := func() *measure.Run {
		return runOf(map[string]measure.Unchanged{"k0": ""}, map[string]float64{"k0": 0.2})
	}
	claimed := slow()
	for i := range claimed.Cases {
		claimed.Cases[i].Unchanged = measure.Skipped
	}
	one, two := forge(slow(), measure.Base, measure.Candidate), forge(slow(), measure.Base, measure.Candidate)
	for name, tt := range map[string]struct {
		list []ratchet.Evidence
		want ratchet.Verdict
	}{
		"both sides":                     {gathered(one), ratchet.Inconclusive},
		"the candidate":                  {gathered(forge(slow(), measure.Candidate)), ratchet.Inconclusive},
		"the base":                       {gathered(forge(slow(), measure.Base)), ratchet.Inconclusive},
		"two records":                    {ratchet.Gather([]*measure.Run{one}, []*measure.Run{two}, measure.Candidate, measure.Candidate), ratchet.Inconclusive},
		"a claim beside slow samples":    {gathered(claimed), ratchet.Regression},
		"a policy that allows no answer": {gathered(runOf(map[string]measure.Unchanged{"k0": "", "k1": "", "k2": "", "k3": measure.Skipped}, nil)), ratchet.Inconclusive},
	} {
		p := ratchet.Default()
		p.Undecided = 0.5
		r := ratchet.Judge(p, tt.list)
		if r.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %s", name, r.Verdict, tt.want, r.Sentence)
		}
		for _, c := range r.Cases {
			if c.Ratchet != ratchet.Holds {
				t.Errorf("%s: the baseline of %s moves", name, c.Name)
			}
		}
	}
	if r := ratchet.Judge(ratchet.Default(), gathered(one)); !strings.Contains(r.Sentence, "it was not measured") {
		t.Errorf("%q does not say what is missing", r.Sentence)
	}
	if r := judged(claimed); r.Verdict != ratchet.Regression {
		t.Errorf("a case with rounds is taken for skipped: %s", r.Sentence)
	}
}

// Cases that are not measured do not add to the share that may stay undecided.
func TestLeftOut_DoesNotExcuseUndecided(t *testing.T) {
	cases := map[string]measure.Unchanged{"k0": ""}
	for i := 1; i < 200; i++ {
		cases[fmt.Sprintf("k%d", i)] = measure.Skipped
	}
	run := runOf(cases, nil)
	for i := range run.Cases {
		if c := &run.Cases[i]; c.Benchmark == "k0" && c.Implementation == measure.Candidate {
			for r := range c.Rounds {
				wobble := 1 + 0.2*float64(1-2*(r%2))
				for s := range c.Rounds[r].Samples {
					c.Rounds[r].Samples[s] *= wobble
				}
			}
		}
	}
	p := ratchet.Default()
	p.Undecided = 0.1
	list := gathered(run)
	ratchet.BelieveSkipped(list)
	r := ratchet.Judge(p, list)
	if r.Verdict != ratchet.Inconclusive || len(r.Undecided) > 0 {
		t.Errorf("%s, excused %v", r.Verdict, r.Undecided)
	}
}
