package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

const withReported = `version: 1
name: s
device: {kind: cpu}
harness: {command: ./h}
implementations: {other: {}}
metrics:
  tok/s: {unit: tok/s, better: higher, gate: true}
  error: {better: lower, gate: true, limit: 0.01}
  speed: {expr: 1 / time, unit: 1/ns, better: higher}
benchmarks: {b: {matrix: {N: [1]}}, watched: {gate: false, matrix: {N: [1]}}}
`

// opened is a run whose cases are known and whose journal is open.
func opened(t *testing.T) *Setup {
	t.Helper()
	r := chosen(t, withReported)
	r.Emit = func(Event) {}
	for i := range r.sides {
		r.sides[i].dir = r.Dir
	}
	var err error
	if r.journal, err = measure.CreateJournal(filepath.Join(t.TempDir(), "run.journal"), r.header, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.list(r.declared); err != nil {
		t.Fatal(err)
	}
	return r
}

// told is a round of a case in which the harness reports metrics.
func told(benchmark, side string, values ...measure.Values) measure.Result {
	return measure.Result{
		Case:  measure.CaseKey{Benchmark: benchmark, Config: "N1", Implementation: side},
		Round: measure.CaseRound{SamplesPerTurn: 1, Samples: measure.Samples{5, 6}}, Values: values,
	}
}

func tokens(values ...float64) measure.Values {
	return measure.Values{Metric: "tok/s", Unit: "tok/s", Better: measure.Higher, Samples: values}
}

// The suite says what is gated and limited. What it does not list is watched, in the harness's own terms.
func TestReported_SeriesFollowTheSuite(t *testing.T) {
	r := opened(t)
	ttft := measure.Values{Metric: "ttft", Unit: "ms", Better: measure.Lower, Samples: measure.Samples{3}}
	wrong := measure.Values{Metric: "error", Unit: "1", Better: measure.Higher, Samples: measure.Samples{0}}
	speed := measure.Values{Metric: "speed", Unit: "1/ns", Better: measure.Higher, Samples: measure.Samples{99}}
	out, err := r.reportedSeries([]measure.Result{
		told("b", "candidate", tokens(7, 8), ttft, wrong, speed), told("b", "base", tokens(7, 8)), told("b", "other", tokens(9, 9)), told("watched", "candidate", tokens(1, 2)),
	})
	if err != nil {
		t.Fatal(err)
	}
	limit := 0.01
	want := map[string]measure.Case{
		"b/N1:tok/s/candidate":       {Unit: "tok/s", Better: measure.Higher, Gate: true},
		"b/N1:ttft/candidate":        {Unit: "ms", Better: measure.Lower},
		"b/N1:error/candidate":       {Unit: "1", Better: measure.Lower, Gate: true, Limit: &limit},
		"b/N1:tok/s/base":            {Unit: "tok/s", Better: measure.Higher, Gate: true},
		"b/N1:tok/s/other":           {Unit: "tok/s", Better: measure.Higher},
		"watched/N1:tok/s/candidate": {Unit: "tok/s", Better: measure.Higher},
	}
	got := map[string]measure.Case{}
	for _, c := range r.declared {
		if c.Reported {
			got[c.String()] = measure.Case{Unit: c.Unit, Better: c.Better, Gate: c.Gate, Limit: c.Limit}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(out) != len(want) || out[0].Case.Metric != "tok/s" || !cmp.Equal(out[0].Round.Samples, measure.Samples{7, 8}) || out[0].Round.SamplesPerTurn != 1 {
		t.Errorf("%+v", out)
	}
	if w := r.ending.Warnings; len(w) != 1 || w[0].Code != "metric_computed" {
		t.Errorf("a metric that the suite computes: %v", w)
	}
	if err := r.journal.AddRound(measure.Round{}, out); err != nil {
		t.Error(err)
	}
}

// A side that reported only its good rounds would look better than it is.
func TestReported_EveryRoundOrNone(t *testing.T) {
	failed := told("b", "candidate")
	failed.Round = measure.CaseRound{Error: "no room"}
	for _, test := range []struct {
		name   string
		rounds []measure.Result
		want   []string // errors of the series in the last round
	}{
		{"in every round", []measure.Result{told("b", "candidate", tokens(1)), told("b", "candidate", tokens(2))}, []string{""}},
		{"left out", []measure.Result{told("b", "candidate", tokens(1)), told("b", "candidate")}, []string{"no value of tok/s in this round"}},
		{"from the second round on", []measure.Result{told("b", "candidate"), told("b", "candidate", tokens(2))}, []string{"no value of tok/s in earlier rounds"}},
		{"in no round", []measure.Result{told("b", "candidate"), told("b", "candidate")}, nil},
		{"a round that failed", []measure.Result{told("b", "candidate", tokens(1)), failed}, []string{"no room"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := opened(t)
			var out []measure.Result
			for _, res := range test.rounds {
				var err error
				if out, err = r.reportedSeries([]measure.Result{res}); err != nil {
					t.Fatal(err)
				}
			}
			if len(out) != len(test.want) {
				t.Fatalf("%d series, want %d", len(out), len(test.want))
			}
			for i, want := range test.want {
				if got := out[i].Round.Error; !strings.Contains(got, want) || (got == "") != (want == "") {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}

func TestReported_AnotherUnitIsAnError(t *testing.T) {
	v := tokens(1)
	v.Unit = "ktok/s"
	if _, err := opened(t).reportedSeries([]measure.Result{told("b", "candidate", v)}); err == nil || !strings.Contains(err.Error(), `"ktok/s"`) {
		t.Errorf("%v", err)
	}
}

// A baseline needs a gate and a ratio.
func TestHasBaseline(t *testing.T) {
	limit := 1.0
	rounds := func(v float64) []measure.CaseRound {
		return []measure.CaseRound{{Samples: measure.Samples{v}}, {Error: "no room"}}
	}
	for name, test := range map[string]struct {
		c    measure.Case
		want bool
	}{
		"a time":                  {measure.Case{Gate: true, Rounds: rounds(1)}, true},
		"a watched time":          {measure.Case{Rounds: rounds(1)}, false},
		"a computed metric":       {measure.Case{CaseKey: measure.CaseKey{Metric: "m"}, Gate: true, Rounds: rounds(1)}, false},
		"a reported metric":       {measure.Case{CaseKey: measure.CaseKey{Metric: "m"}, Gate: true, Reported: true, Rounds: rounds(1)}, true},
		"a reported value of 0":   {measure.Case{CaseKey: measure.CaseKey{Metric: "m"}, Gate: true, Reported: true, Rounds: rounds(0)}, false},
		"a metric with a limit":   {measure.Case{CaseKey: measure.CaseKey{Metric: "m"}, Gate: true, Reported: true, Limit: &limit, Rounds: rounds(1)}, false},
		"a watched, reported one": {measure.Case{CaseKey: measure.CaseKey{Metric: "m"}, Reported: true, Rounds: rounds(1)}, false},
	} {
		if got := HasBaseline(test.c); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A gate on a metric that nothing reports would let every change pass.
func TestReported_GateWithoutAValueIsAnError(t *testing.T) {
	tests := []struct {
		name   string
		rounds []measure.Result
		only   string
		wrong  bool
	}{
		{"both are reported", []measure.Result{told("b", "candidate", tokens(1), measure.Values{Metric: "error", Unit: "1", Better: measure.Lower, Samples: measure.Samples{0}})}, "", false},
		{"one is not", []measure.Result{told("b", "candidate", tokens(1))}, "", true},
		{"one is not in these cases", []measure.Result{told("b", "candidate", tokens(1))}, "b/*", false},
		{"every round failed", []measure.Result{{Case: told("b", "candidate").Case, Round: measure.CaseRound{Error: "it crashed"}}}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := opened(t)
			r.Case = tt.only
			if _, err := r.reportedSeries(tt.rounds); err != nil {
				t.Fatal(err)
			}
			if err := r.checkReported(); (err != nil) != tt.wrong {
				t.Errorf("%v", err)
			}
		})
	}
}

// What the command of a suite prints follows the same rules.
func TestReported_OfAPlainCommand(t *testing.T) {
	s, err := suite.Parse("pawl.yaml", []byte("version: 1\nharness: {command: ./h, format: samples}\nmetrics: {tok/s: {better: higher, gate: true}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &Setup{Options: Options{Suite: s}}
	key := measure.CaseKey{Benchmark: "decode", Metric: "tok/s"}
	cases := []measure.Case{{CaseKey: key, Unit: "tok/s", Reported: true}, {CaseKey: key, Unit: "tok/s", Reported: true}, {CaseKey: measure.CaseKey{Benchmark: "decode", Metric: "ttft"}, Unit: "ms", Reported: true}}
	cases[0].Implementation, cases[1].Implementation, cases[2].Implementation = "candidate", "other", "candidate"
	if err := r.applyMetrics(cases); err != nil {
		t.Fatal(err)
	}
	if !cases[0].Gate || cases[0].Better != measure.Higher || cases[1].Gate || cases[2].Gate {
		t.Errorf("%+v", cases)
	}
}
