package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// TestLabSessions is how long commands take, as processes, in a folder with ten thousand
// sessions of four attempts each, for docs/lab/learning.md.
func TestLabSessions(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("a figure for the docs: set PAWL_LAB")
	}
	const sessions, times = 10_000, 21
	root := t.TempDir()
	text := oneSession(t)
	dir := filepath.Join(root, filepath.FromSlash(journal.Dir))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range sessions {
		path := filepath.Join(dir, fmt.Sprintf("20260101T%06dZ-%06x.jsonl", i, i))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Second) // then the folder is quiet
	for _, args := range []string{"session list", "lesson list", "session report", "version"} {
		var took []time.Duration
		for range 1 + times {
			cmd := exec.CommandContext(t.Context(), binary, strings.Fields(args)...)
			cmd.Dir = root
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("pawl %s: %v: %s", args, err, out)
			}
			took = append(took, time.Since(began))
		}
		first := took[0]
		slices.Sort(took[1:])
		t.Logf("pawl %-24s the first time %4d ms, then %3d ms, quartiles %d and %d", args,
			first.Milliseconds(), took[1+times/2].Milliseconds(), took[1+times/4].Milliseconds(), took[1+3*times/4].Milliseconds())
	}
}

// oneSession is the journal of a session with a profile and four attempts.
func oneSession(t *testing.T) []byte {
	t.Helper()
	me := journal.Actor{Kind: journal.Person, Name: "octocat"}
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	w, err := journal.Folder{Root: t.TempDir(), Now: func() time.Time { now = now.Add(4 * time.Minute); return now }}.
		Start(journal.Started{Goal: "faster", Benchmark: "matmul", GPU: "sm_89"}, me)
	if err != nil {
		t.Fatal(err)
	}
	add := func(e journal.Entry) {
		t.Helper()
		e.Actor = me
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		d := journal.Did{Command: "bench", Source: fmt.Sprint("source", i), Measured: &journal.Measured{
			Run: fmt.Sprint("run", i), Cases: []journal.MeasuredCase{{Case: "matmul/N64", Candidate: 100 - 9*float64(i), Reference: 50, Spread: 0.01}},
		}}
		if i > 0 {
			add(journal.Entry{Kind: journal.KindDid, Did: &journal.Did{Command: "profile", Source: fmt.Sprint("source", i-1), Profiled: &journal.Profiled{
				Bottleneck: "memory", Findings: []journal.Found{{Rule: "narrow-loads", Fixes: []journal.Fix{{ID: "narrow-loads/1", Gain: 0.2}}}},
			}}})
			add(journal.Entry{Kind: journal.KindNoted, Noted: &journal.Noted{Fix: "narrow-loads/1"}})
			d.Changes = []journal.Change{{What: journal.Constant, File: "matmul.cu", Name: "TILE", Before: fmt.Sprint(16 * i), After: fmt.Sprint(16 + 16*i)}}
		}
		add(journal.Entry{Kind: journal.KindDid, Did: &d})
	}
	if err := w.End(journal.Ended{Outcome: journal.Better}, me); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(w.Session().Path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
