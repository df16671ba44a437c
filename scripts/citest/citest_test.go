package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// plant writes the packages of testdata/planted.txtar and returns their folder.
func plant(t *testing.T) string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "planted.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PLANTED", t.TempDir())
	return dir
}

// ci runs a plan on the planted packages.
func ci(t *testing.T, plan string, flags ...string) (passed bool, out string) {
	t.Helper()
	var b strings.Builder
	passed, err := run(t.Context(), append([]string{"-C", plant(t)}, flags...), strings.NewReader(plan), &b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return passed, b.String()
}

func TestRun_PassesWithAFlakyTest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "flaky.jsonl")
	passed, out := ci(t, "a: -vet=off ./ok ./flaky", "-flaky", file)
	if !passed {
		t.Errorf("CI failed:\n%s", out)
	}
	wantLines(t, out, "planted/flaky TestTwice/a_b/c (a), try 1 passed", "    1  no GPU")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, " 3 tests, 1 skipped, 1 flaky") {
		t.Errorf("the last line is %q", last)
	}
	if before := lines[len(lines)-2]; !strings.HasPrefix(before, "ok  \t") {
		t.Errorf("the line before the last is %q, want go test's own", before)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Package, Test, Output string
		Tries                 int
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	if got.Package != "planted/flaky" || got.Test != "TestTwice/a_b/c" || got.Tries != 1 || !strings.Contains(got.Output, "the first time") {
		t.Errorf("got %+v", got)
	}
}

// A subtest that cannot pass without the one before it passes with the whole test.
func TestRun_LastRunsTheWholeTest(t *testing.T) {
	passed, out := ci(t, "a: -vet=off ./order")
	if !passed {
		t.Errorf("CI failed:\n%s", out)
	}
	wantLines(t, out, "planted/order TestOrder/second (a), try 2 passed")
}

// Each way to fail fails CI by itself. Only a test that failed in an orderly way runs again.
func TestRun_FailsWithAnythingElse(t *testing.T) {
	passed, out := ci(t, `
a: -vet=off -timeout=4s ./ok ./broken ./panic ./timeout ./exit ./compile ./fuzz
race: -vet=off -race ./race
b: -vet=off -run=Gone ./ok`)
	if passed {
		t.Error("CI passed")
	}
	wantLines(
		t, out,
		"--- planted/broken", "--- planted/race", "--- planted/panic crashed", "--- planted/timeout timed out", "--- planted/exit crashed",
		"--- planted/compile", "--- planted/fuzz", "--- b: no test ran; its -run and -skip leave nothing",
		"WARNING: DATA RACE", "compile/a_test.go:5:28: undefined: x", "--- FAIL: FuzzA/seed#0",
		"planted/panic crashed: running the 2 tests that it left out",
		"planted/timeout timed out: running the 1 tests that it left out",
		"planted/exit crashed: running the 1 tests that it left out",
	)
	var again []string
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, "== again, by itself: planted/"); ok {
			again = append(again, strings.Join(strings.Fields(name)[:2], " "))
		}
	}
	if want := []string{"broken TestBroken", "panic TestD"}; !slices.Equal(again, want) {
		t.Errorf("%q ran again, want %q", again, want)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if before := lines[len(lines)-2]; !strings.HasPrefix(before, "FAIL\t") {
		t.Errorf("the line before the last is %q, want go test's own", before)
	}
	if t.Failed() {
		t.Log(out)
	}
}

func wantLines(t *testing.T, out string, starts ...string) {
	t.Helper()
	lines := strings.Split(out, "\n")
	for _, want := range starts {
		match := func(line string) bool {
			return strings.HasPrefix(line, want) || strings.HasPrefix(strings.TrimSpace(line), want)
		}
		if !slices.ContainsFunc(lines, match) {
			t.Errorf("no line starts with %q", want)
		}
	}
}

func TestRun_RefusesSkipsThatAreNotAllowed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skips")
	for allowed, want := range map[string]bool{"# a comment\n\n^no GPU$\n": true, "^no disk$\n": false} {
		if err := os.WriteFile(file, []byte(allowed), 0o600); err != nil {
			t.Fatal(err)
		}
		passed, out := ci(t, "a: -vet=off ./ok", "-skips", file)
		if passed != want {
			t.Errorf("passed is %v, want %v\n%s", passed, want, out)
		}
		if refused := strings.Contains(out, "planted/ok TestOne/gone: no GPU"); refused == want {
			t.Errorf("the refused skip is not named, or named although it is allowed:\n%s", out)
		}
	}
}

func TestRun_RefusesABadPlan(t *testing.T) {
	dir := plant(t)
	for _, plan := range []string{"", "# nothing\n", "no colon\n", "name:\n", "a: -nosuchflag ./ok\n", "a: ./nosuchfolder\n"} {
		var b strings.Builder
		passed, err := run(t.Context(), []string{"-C", dir}, strings.NewReader(plan), &b)
		if err == nil && passed {
			t.Errorf("plan %q passed\n%s", plan, b.String())
		}
	}
}
