package journal_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// told makes a session of entries, a minute after each other.
func told(entries ...journal.Entry) *journal.Session {
	s := &journal.Session{Started: journal.Started{ID: "20261115T120000Z-abcdef", GPU: "sm_89", Benchmark: "matmul"}, Began: noon}
	for i, e := range append([]journal.Entry{{Kind: journal.KindStarted, Started: &s.Started}}, entries...) {
		e.Time = noon.Add(time.Duration(i) * time.Minute)
		s.Entries = append(s.Entries, e)
	}
	return s
}

func did(d journal.Did) journal.Entry { return journal.Entry{Kind: journal.KindDid, Did: &d} }

func bench(source string, ns float64, changes ...journal.Change) journal.Entry {
	return did(journal.Did{Command: "bench", Source: source, Changes: changes, Measured: &journal.Measured{
		Run: "run-" + source, Cases: []journal.MeasuredCase{{Case: "matmul/N64", Candidate: ns, Spread: 0.01}},
	}})
}

func profile(source, bottleneck string) journal.Entry {
	return did(journal.Did{Command: "profile", Source: source, Profiled: &journal.Profiled{Bottleneck: bottleneck}})
}

func fix(id, lesson string) journal.Entry {
	return journal.Entry{Kind: journal.KindNoted, Noted: &journal.Noted{Fix: id, Lesson: lesson}}
}

func TestAttempts(t *testing.T) {
	tile := journal.Change{What: journal.Constant, Name: "TILE", Before: "32", After: "64"}
	unroll := journal.Change{What: journal.Parameter, Name: "matmul/UNROLL", Before: "1", After: "4"}
	twoRuns := math.Sqrt(0.01*0.01*2 + 0.02*0.02)
	paired := 0.25
	beside := bench("b", 90, tile)
	beside.Did.Measured.BaseBefore = true
	beside.Did.Measured.Cases[0].Gain, beside.Did.Measured.Cases[0].Error = &paired, 0.005
	wrong := did(journal.Did{Command: "fuzz", Source: "b", Checked: &journal.Checked{Points: 9, Failed: 1}})
	broken := bench("b", 90, tile)
	broken.Did.Measured.Verdict = "broken"
	tuned := did(journal.Did{Command: "tune", Source: "a", Seconds: 120, Tuned: &journal.Tuned{Case: "matmul/N64", Point: map[string]string{"UNROLL": "4"}, Speedup: 1.5, Run: "t"}})
	for _, test := range []struct {
		name    string
		entries []journal.Entry
		want    []journal.Attempt
	}{
		{"one measurement is none", []journal.Entry{bench("a", 100)}, nil},
		{"nothing changed", []journal.Entry{bench("a", 100), bench("a", 90)}, nil},
		{"a change", []journal.Entry{bench("a", 100), bench("b", 80, tile)}, []journal.Attempt{
			{Gain: math.Log(1.25), Error: twoRuns, Correct: true, Changes: []journal.Change{tile}, Minutes: 1, Run: "run-b"},
		}},
		{"with a fix and a profile", []journal.Entry{bench("a", 100), profile("a", "memory"), fix("bank-conflicts/1", "pad-abc"), bench("b", 125, tile), bench("c", 100, tile)}, []journal.Attempt{
			{Fix: "bank-conflicts/1", Lesson: "pad-abc", Class: "memory", Gain: -math.Log(1.25), Error: twoRuns, Correct: true, Profiled: true, Changes: []journal.Change{tile}, Minutes: 3, Run: "run-b"},
			{Class: "memory", Gain: math.Log(1.25), Error: twoRuns, Correct: true, Changes: []journal.Change{tile}, Minutes: 1, Run: "run-c"},
		}},
		{"beside its base", []journal.Entry{bench("a", 100), beside}, []journal.Attempt{
			{Gain: 0.25, Error: 0.005, Correct: true, Changes: []journal.Change{tile}, Minutes: 1, Run: "run-b"},
		}},
		{"found to be wrong before", []journal.Entry{bench("a", 100), wrong, bench("b", 80, tile)}, []journal.Attempt{
			{Gain: math.Log(1.25), Error: twoRuns, Changes: []journal.Change{tile}, Minutes: 2, Run: "run-b"},
		}},
		{"found to be wrong after", []journal.Entry{bench("a", 100), bench("b", 80, tile), wrong}, []journal.Attempt{
			{Gain: math.Log(1.25), Error: twoRuns, Changes: []journal.Change{tile}, Minutes: 1, Run: "run-b"},
		}},
		{"found to be wrong by the run", []journal.Entry{bench("a", 100), broken}, []journal.Attempt{
			{Gain: math.Log(100. / 90), Error: twoRuns, Changes: []journal.Change{tile}, Minutes: 1, Run: "run-b"},
		}},
		{"a search, and its point put in", []journal.Entry{bench("a", 100), tuned, bench("b", 66, unroll), bench("c", 60, tile)}, []journal.Attempt{
			{Gain: math.Log(1.5), Error: 0.02, Correct: true, Minutes: 2, Run: "t", Changes: []journal.Change{{What: journal.Parameter, Name: "UNROLL", After: "4"}}},
			{Gain: math.Log(1.1), Error: twoRuns, Correct: true, Minutes: 1, Run: "run-c", Changes: []journal.Change{tile}},
		}},
	} {
		for i := range test.want {
			test.want[i].GPU, test.want[i].Kernel = "sm_89", "matmul"
		}
		got := journal.Attempts(told(test.entries...))
		if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}
