package runner

import (
	"fmt"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// keptRun is a run of a candidate against a base that is the baseline's commit.
func keptRun(id, driver, base string) *measure.Run {
	commit := func(n int) string { return fmt.Sprintf("%040x", n) }
	run := &measure.Run{Header: measure.Header{
		ID: id, Testbed: measure.Testbed{Device: "a GPU", Driver: driver}, Trust: measure.Trusted,
		Implementations: []measure.Implementation{
			{Name: suite.Candidate, Commit: commit(2), Recipe: "two"}, {Name: suite.Base, Commit: base, Recipe: "one"},
		},
	}}
	for _, side := range []string{suite.Candidate, suite.Base} {
		c := measure.Case{
			CaseKey: measure.CaseKey{Benchmark: "sum", Implementation: side}, Unit: "ns", Gate: true,
			Timer: measure.TimerWall, Definition: "now", Method: "v1 wall hot trusted",
		}
		for i := range 4 {
			c.Rounds = append(c.Rounds, measure.CaseRound{Round: i, Samples: []float64{1000, 1001, 1002}})
		}
		run.Cases = append(run.Cases, c)
	}
	for i := range 4 {
		run.Rounds = append(run.Rounds, measure.Round{Index: i})
	}
	return run
}

// storedBaseline is a baseline of commit 1 with as many sessions as pawl keeps, all of one definition.
func storedBaseline(t *testing.T, definition string) ratchet.Baselines {
	t.Helper()
	var list []ratchet.Entry
	for i := range ratchet.MaxSessions {
		list = append(list, ratchet.Entry{
			Kind: ratchet.KindMeasured, Time: time.Unix(1e9, 0), Case: "sum", Commit: fmt.Sprintf("%040x", 1),
			Testbed: ratchet.NewTestbed(measure.Testbed{Device: "a GPU", Driver: "570"}, measure.TimerWall),
			Session: &ratchet.Session{
				Run: ratchet.RunRef{ID: fmt.Sprint("run", i)}, Unit: "ns", Rounds: []float64{1000},
				Recipe: "one", Definition: definition, Method: "v1 wall hot trusted",
			},
		})
	}
	b, err := ratchet.Fold(list)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Sessions that can no longer be compared do not keep new ones out.
func TestEntries_RecordSessionsOfANewDefinition(t *testing.T) {
	for definition, want := range map[string]int{"now": 0, "before": 1} {
		k := LedgerUpdate{Policy: ratchet.Default(), Run: keptRun("today", "570", fmt.Sprintf("%040x", 1)), Time: time.Unix(1e9, 0)}
		list, _, err := k.Entries(storedBaseline(t, definition))
		if err != nil || len(list) != want {
			t.Errorf("%s: %d entries, want %d: %v", definition, len(list), want, err)
		}
		for _, e := range list {
			if e.Session.Recipe != "one" || e.Session.Definition != "now" {
				t.Errorf("%s: the session is %+v", definition, e.Session)
			}
		}
	}
}

// Stored times stand in for a baseline that was not measured, but only those of the same testbed.
func TestLooked_StoredTimesOfTheSameTestbed(t *testing.T) {
	y := baselineComparer{ratchet.Default(), storedBaseline(t, "now")}
	for driver, want := range map[string]int{"570": 1, "575": 0} {
		if got := y.looked(keptRun("today", driver, fmt.Sprintf("%040x", 3)), true).Gain; len(got) != want {
			t.Errorf("driver %s: %d comparisons with stored times, want %d", driver, len(got), want)
		}
	}
}

// A record that says that a case cannot have changed moves no baseline, and adds no session to one.
func TestEntries_IgnoreSkippedCases(t *testing.T) {
	run := keptRun("today", "570", fmt.Sprintf("%040x", 1))
	for i := range run.Cases {
		run.Cases[i].Rounds, run.Cases[i].Unchanged = nil, measure.Skipped
	}
	for name, baselines := range map[string]ratchet.Baselines{"a baseline": storedBaseline(t, "before"), "none": {}} {
		k := LedgerUpdate{Policy: ratchet.Default(), Run: run, Confirmed: run, Time: time.Unix(1e9, 0)}
		list, state, err := k.Entries(baselines)
		if err != nil || len(list) > 0 || state.Result.Verdict != ratchet.Inconclusive {
			t.Errorf("%s: %d entries, verdict %s: %v", name, len(list), state.Result.Verdict, err)
		}
	}
}
