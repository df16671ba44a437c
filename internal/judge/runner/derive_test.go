package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

const withMetrics = `version: 1
name: s
device: {kind: cpu}
harness: {command: ./h}
implementations: {other: {}}
metrics:
  tokens: {expr: N / time, unit: tok/ns, better: higher, gate: true}
benchmarks: {b: {matrix: {N: [2000000]}, flops: 2*N}}
`

// chosen is a run of three sides whose cases are known.
func chosen(t *testing.T, text string) *Setup {
	t.Helper()
	o := againOptions(t, text)
	r := &Setup{Options: o}
	for _, name := range []string{suite.Candidate, suite.Base, "other"} {
		s := side{name: name, from: name}
		if name == suite.Base {
			s.from = suite.Candidate
		}
		r.sides = append(r.sides, s)
	}
	r.cases, r.metrics = map[string][]trial.Case{}, map[measure.CaseKey]suite.Case{}
	for _, s := range r.sides {
		for _, c := range o.Suite.Cases() {
			if c.Implementation == s.from {
				r.add(s, c, []measure.Timer{measure.TimerWall})
			}
		}
	}
	return r
}

// A metric that the user wrote is a series beside the time's, gated like it: on the
// candidate and its base, so that one that goes missing is missed, never on a reference.
func TestMetricsAreSeries(t *testing.T) {
	r := chosen(t, withMetrics)
	got := map[string]bool{}
	for _, c := range r.declared {
		got[c.String()] = c.Gate
		if c.Metric == "tokens" && (c.Unit != "tok/ns" || c.Better != measure.Higher || c.Flops != 0) {
			t.Errorf("series %+v", c)
		}
	}
	want := map[string]bool{
		"b/N2000000/candidate": true, "b/N2000000:tokens/candidate": true, "b/N2000000/base": true, "b/N2000000:tokens/base": true,
		"b/N2000000/other": false, "b/N2000000:tokens/other": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMetricsAreComputed(t *testing.T) {
	r := chosen(t, withMetrics)
	key := r.declared[0].CaseKey
	got, err := r.derive([]measure.Result{{Case: key, Round: measure.CaseRound{Round: 3, SamplesPerTurn: 5, Samples: measure.Samples{1e6, 2e6}}}})
	if err != nil {
		t.Fatal(err)
	}
	key.Metric = "tokens"
	want := []measure.Result{{Case: key, Round: measure.CaseRound{Round: 3, SamplesPerTurn: 5, Samples: measure.Samples{2, 1}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	failed := measure.CaseRound{Round: 4, Error: "no room"}
	if got, err = r.derive([]measure.Result{{Case: r.declared[0].CaseKey, Round: failed}}); err != nil || got[0].Round.Error != "no room" || len(got[0].Round.Samples) != 0 {
		t.Errorf("of a case that failed: %+v, %v", got, err)
	}
}

// What to do about a busy machine depends on the clock.
func TestAdviceWhenBusy(t *testing.T) {
	for timer, want := range map[measure.Timer]string{
		measure.TimerWall: "gate on CPU time (measure.timer: cpu) if the kernel runs in one thread, or measure on another machine",
		measure.TimerCPU:  "CPU time excludes waiting, but other processes still share caches and clocks",
	} {
		r := chosen(t, withMetrics)
		for i := range r.cases[suite.Candidate] {
			r.cases[suite.Candidate][i].Timer = timer
		}
		if got := r.whenBusy(); got != want {
			t.Errorf("%s: %q", timer, got)
		}
	}
	r := chosen(t, "version: 1\nname: s\ndevice: {kind: cpu}\nharness: {command: ./h, format: hyperfine}\n")
	if got, want := r.whenBusy(), "stop other programs, or measure on another machine"; got != want {
		t.Errorf("a plain command: %q", got)
	}
}
