package progress

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/measure"
)

// stage returns an Env that writes to a terminal of this size, or to a file if the width is 0.
func stage(width, height int, vars map[string]string) (*env.Env, *bytes.Buffer) {
	var b bytes.Buffer
	io := &command.IO{Out: &b, Err: &b, Getenv: func(name string) string { return vars[name] }}
	if width > 0 {
		io.ErrScreen = func() (int, int) { return width, height }
	}
	return &env.Env{Globals: &command.Globals{IO: io}}, &b
}

// aRun lists the events of a run of one round.
var aRun = []runner.Event{
	runner.Waiting{What: "results/current.json", Holder: "process 7 (pawl bench)"},
	runner.Building{Side: "candidate", Command: "make"},
	runner.Built{Side: "candidate", Seconds: 1.25},
	runner.Listed{Cases: []measure.Case{{CaseKey: measure.CaseKey{Benchmark: "k", Implementation: "candidate"}, Unit: "ns"}}},
	runner.Ready{Device: gpu.Identity{Name: "Acme 9000"}, Sides: []string{"candidate"}, Cases: 1, Rounds: []int{1}},
	runner.Measuring{Event: trial.RoundStarted{Number: 1, Of: 1, Order: []string{"candidate"}, Cases: 1}},
	runner.Measuring{Event: trial.Warned{Warning: measure.Warning{Message: "it is hot"}}},
	runner.Measuring{Event: trial.RoundDone{Number: 1, Of: 1, Round: measure.Round{Order: []string{"candidate"}}, Seconds: 2}},
}

func tell(g *env.Env, asJSON bool) {
	p := New(g, asJSON)
	for _, e := range aRun {
		p.Event(e)
	}
	g.Say("interrupt: keeping what was measured")
	p.Close()
	g.Say("after it")
}

const plainLines = `waiting for results/current.json, held by process 7 (pawl bench)
building candidate: make
built candidate in 1.2 s
measuring 1 case, candidate, 1 round a side, on Acme 9000
warning: it is hot
round 1 of 1 done in 2.0 s (candidate)
interrupt: keeping what was measured
after it
`

func TestProgressInAFile(t *testing.T) {
	g, out := stage(0, 0, nil)
	tell(g, false)
	if diff := cmp.Diff(plainLines, out.String()); diff != "" {
		t.Error(diff)
	}
}

// A dumb terminal cannot be redrawn, so it gets the same lines as a file.
func TestProgressOnADumbTerminal(t *testing.T) {
	g, out := stage(80, 24, map[string]string{"TERM": "dumb"})
	tell(g, false)
	if diff := cmp.Diff(plainLines, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestProgressForPrograms(t *testing.T) {
	g, out := stage(80, 24, nil)
	tell(g, true)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var names []string
	for _, line := range lines[:len(lines)-1] { // the last line is printed after the run
		var e struct{ Event string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		names = append(names, e.Event)
	}
	want := []string{"waiting", "building", "built", "ready", "round_started", "warning", "round_done", "note"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// On a terminal, the view shows the current step and disappears at the end. Lines worth keeping are
// printed once, above it.
func TestProgressOnATerminal(t *testing.T) {
	g, out := stage(80, 24, map[string]string{"NO_COLOR": "1"})
	tell(g, false)
	want := `built candidate in 1.2 s
measuring 1 case, candidate, 1 round a side, on Acme 9000
warning: it is hot
interrupt: keeping what was measured
after it
`
	if diff := cmp.Diff(want, onScreen(t, out.String(), 80)); diff != "" {
		t.Error(diff)
	}
}

func TestSides(t *testing.T) {
	for want, sides := range map[string][]string{
		"candidate":                              {"candidate"},
		"candidate against base":                 {"candidate", "base"},
		"candidate against base and naive":       {"candidate", "base", "naive"},
		"candidate against base, naive and blas": {"candidate", "base", "naive", "blas"},
	} {
		if got := versus(sides); got != want {
			t.Errorf("%v: %q, want %q", sides, got, want)
		}
	}
}

func TestRoundsASide(t *testing.T) {
	for want, growth := range map[string][]int{
		"1 round a side":  {1},
		"4 rounds a side": {4},
		"4 rounds a side, and up to 16 if undecided": {4, 8, 16},
	} {
		if got := RoundsASide(growth); got != want {
			t.Errorf("%v: %q, want %q", growth, got, want)
		}
	}
}
