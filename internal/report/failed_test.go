package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

func TestFailed(t *testing.T) {
	run := &measure.Run{Header: measure.Header{Implementations: []measure.Implementation{{Name: "candidate"}, {Name: "base"}}}}
	run.Rounds = []measure.Round{{Index: 0, Dropped: "hw_thermal"}, {Index: 1}}
	add := func(benchmark, metric, side string, rounds ...measure.CaseRound) {
		run.Cases = append(run.Cases, measure.Case{
			CaseKey: measure.CaseKey{Benchmark: benchmark, Metric: metric, Implementation: side}, Unit: "ns", Rounds: rounds,
		})
	}
	fine := measure.CaseRound{Round: 1, Samples: measure.Samples{1}}
	add("a", "", "base", measure.CaseRound{Round: 1, Error: "no room"})
	add("a", "speed", "base", measure.CaseRound{Round: 1, Error: "no room"}) // not a failure of its own
	add("a", "", "candidate", fine)
	add("b", "", "base", fine, measure.CaseRound{Round: 1, Error: "not again"})
	add("b", "", "candidate", measure.CaseRound{Round: 0, Error: "in a round that does not count"}, fine)
	want := []report.Failure{{Implementation: "base", Cases: []string{"a", "b"}, Error: "no room"}}
	if diff := cmp.Diff(want, report.Failed(run)); diff != "" {
		t.Error(diff)
	}
}
