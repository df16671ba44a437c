package mcp

import (
	"path/filepath"
	"testing"
	"time"
)

// From a checkout to a confirmed improvement, as an agent would do it that listens.
func TestLoop(t *testing.T) {
	dir, fast := checkout(t)
	c := dial(t, dir)
	calls := 0
	call := func(tool string, args map[string]any) answered {
		t.Helper()
		calls++
		began := time.Now()
		a := c.call(tool, args)
		t.Logf("%2d %-14s %5.1f s  exit %d %s", calls, tool, time.Since(began).Seconds(), a.Exit, a.Refused)
		return a
	}
	good := func(a answered) answered {
		t.Helper()
		if a.Refused != "" || a.Exit != 0 {
			t.Fatalf("exit %d %s: %.1500s", a.Exit, a.Refused, a.line)
		}
		return a
	}
	few := map[string]any{"case": "matmul/N192", "samples": 5}

	good(call("session_start", map[string]any{"goal": "make matmul faster", "benchmark": "matmul", "target": 1.1}))
	good(call("doctor", nil))
	if next := good(call("next", nil)); next.Result["phase"] == nil {
		t.Errorf("next names no phase: %.600s", next.line)
	}
	good(call("preflight", nil))
	good(call("build", nil))
	good(call("fuzz", map[string]any{"points": 6}))
	first := good(call("bench", few))
	if first.Budget == nil || first.Budget.Left >= 1200 || first.Budget.Left < 600 {
		t.Errorf("device time is not counted: %+v", first.Budget)
	}
	profile := good(call("profile", map[string]any{"case": "matmul/N192"}))
	if profile.Result["bottleneck"] == nil {
		t.Errorf("the profile names no bottleneck: %.600s", profile.line)
	}
	good(call("learn", nil))
	good(call("lessons", nil))
	good(call("session_note", map[string]any{"text": "tell the compiler the size of a block, and that blocks do not overlap", "fix": "host-compute/1"}))

	write(t, filepath.Join(dir, "matmul.c"), fast) // the one change

	good(call("fuzz", map[string]any{"points": 6}))
	// On a busy machine the judge may not be sure of eight rounds, however large the gain.
	var judged map[string]any
	for _, rounds := range []int{8, 16, 32} { // a busy machine needs more of them
		last := good(call("bench", map[string]any{"case": "matmul/N192", "rounds": rounds, "base": "HEAD"}))
		judged, _ = last.Result["judged"].(map[string]any)
		if judged["verdict"] == "improvement" {
			break
		}
		t.Logf("the judge says %v of %d rounds: %.3000s", judged["verdict"], rounds, last.line)
	}
	if judged["verdict"] != "improvement" {
		t.Fatalf("the judge says %v", judged["verdict"])
	}
	if change := changeOf(t, judged); change > -0.1 {
		t.Errorf("it is %.0f %% faster, want 10", -100*change)
	} else {
		t.Logf("%.0f %% less time, confirmed, after %d tool calls", -100*change, calls)
	}
	good(call("session_end", map[string]any{"outcome": "reached", "text": "faster"}))
	if calls >= 20 {
		t.Errorf("%d tool calls, want fewer than 20", calls)
	}
	if n := len(c.notes); n < 10 {
		t.Errorf("only %d notes of progress", n)
	}
}

// changeOf is the change of the first case that the judge looked at.
func changeOf(t *testing.T, judged map[string]any) float64 {
	t.Helper()
	cases, _ := judged["cases"].([]any)
	if len(cases) == 0 {
		t.Fatalf("no cases: %v", judged)
	}
	evidence, _ := cases[0].(map[string]any)["evidence"].(map[string]any)
	change, ok := evidence["change"].(float64)
	if !ok {
		t.Fatalf("no change: %v", evidence)
	}
	return change
}
