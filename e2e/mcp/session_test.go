package mcp

import (
	"path/filepath"
	"strings"
	"testing"
)

// step is one attempt of the session.
type step struct {
	note, stage string
	from, to    string // what it replaces in the kernel so far
	status      string
	keep        bool // the next step starts from it
}

// A working session of seven attempts: honest work is not refused, each answer names the best so far, and the whole
// takes at most 15,000 tokens (bytes / 4), the list of tools included.
func TestSession(t *testing.T) {
	dir, _ := checkout(t)
	a := start(t, dir)
	if _, err := a.session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if r := a.call("doctor", nil); r.failed || r.doc["usable"] != true {
		t.Fatalf("%+v", r)
	}
	if r := a.call("history", nil); r.failed || r.doc["total"] != 0.0 || r.str("best") != "base" {
		t.Fatalf("%+v", r)
	}
	source, path := readFile(t, filepath.Join(dir, "matmul.c")), filepath.Join(dir, "matmul.c")
	best, bestLow := "base", 1.0
	for i, s := range []step{
		{"a typo", "quick", "float *c) {", "float *c) { flaot x;", "compile_error", false},
		{"skip the last column", "quick", "j < w; j++) c[", "j < w - 1; j++) c[", "wrong", false},
		{"columns outside: worse for the cache", "quick", "for (int p = 0; p < k; p++)\n      for (int j = 0; j < w; j++)", "for (int j = 0; j < w; j++)\n      for (int p = 0; p < k; p++)", "measured", false},
		{"blocks do not overlap", "quick", "const float *a, const float *b, float *c) {", "const float *restrict a, const float *restrict b, float *restrict c) {", "measured", true},
		{"inline, so that trip counts are known", "quick", "static __attribute__((noinline)) void", "static inline __attribute__((always_inline)) void", "measured", true},
		{"back to the start", "quick", "", "", "identical", false},
		{"confirm the best", "full", "", "", "measured", true},
	} {
		changed := strings.Replace(source, s.from, s.to, 1)
		if s.from == "" && s.status == "identical" {
			git(t, dir, "checkout", "-q", "matmul.c")
		} else {
			write(t, path, changed)
		}
		r := a.call("submit", map[string]any{"files": []string{"examples/matmul-c/matmul.c"}, "stage": s.stage, "budget_s": 300, "note": s.note})
		t.Logf("%d %s", i+1, r.text)
		if r.failed || r.str("status") != s.status || len(r.text) > 1200 || r.about.Budget != "advisory" {
			t.Fatalf("%s: %s, about %+v; want %s", s.note, r.text, r.about, s.status)
		}
		if _, judged := r.doc["verdict"]; judged != (s.status == "measured") && s.status != "identical" {
			t.Errorf("%s: a verdict that this call did not measure: %s", s.note, r.text)
		}
		if interval, ok := r.doc["interval"].([]any); ok && interval[0].(float64) > bestLow {
			best, bestLow = r.str("id"), interval[0].(float64)
		}
		if r.str("best") != best {
			t.Errorf("%s: the best is %s, want %s", s.note, r.str("best"), best)
		}
		if s.keep {
			source = changed
		}
		if r := a.call("note", map[string]any{"id": r.str("id"), "text": "seen: " + s.status}); r.failed {
			t.Errorf("%+v", r)
		}
	}
	if r := a.call("explain", map[string]any{"id": best, "other": "base"}); r.failed || len(r.text) > 6000 || r.str("reason") == "" {
		t.Errorf("%s", r.text)
	}
	r := a.call("history", map[string]any{"count": 10})
	attempts, _ := r.doc["attempts"].([]any)
	if len(attempts) != 7 || attempts[0].(map[string]any)["id"] != best || !strings.Contains(r.text, "; seen: measured") {
		t.Errorf("%s", r.text)
	}
	if best == "base" {
		t.Error("no attempt was faster")
	}
	if tokens := a.log.size() / 4; tokens > 15_000 {
		t.Errorf("%d tokens, want at most 15,000", tokens)
	} else {
		t.Logf("%d tokens", tokens)
	}
}
