package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

func TestSummaries(t *testing.T) {
	now := noon
	f := journal.Folder{Root: t.TempDir(), Now: func() time.Time { now = now.Add(time.Minute); return now }}
	for i := range 3 {
		w := start(t, f)
		for _, e := range []journal.Entry{bench("a", 100), fix("", "pad-the-tile-3f9a01"), bench("b", 80, journal.Change{What: journal.Constant, Name: fmt.Sprint("T", i)})} {
			e.Actor, e.Time = robot, time.Time{}
			if err := w.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		if i < 2 {
			if err := w.End(journal.Ended{Outcome: journal.Better, Speedup: 1.2}, me); err != nil {
				t.Fatal(err)
			}
		}
	}
	look := func() []journal.Summary {
		t.Helper()
		list, err := f.Summaries()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	first, again := look(), look() // the second from what was kept
	if diff := cmp.Diff(first[:2], again[:2]); diff != "" {
		t.Error(diff)
	}
	s := again[0]
	if len(again) != 3 || s.Minutes != 4 || s.Entries != 5 || s.Agents != 3 || s.Attempts != 1 || len(s.Followed) != 1 || s.Followed[0].Changes[0].Name != "T0" || s.Open || !again[2].Open || s.Path == "" {
		t.Fatalf("%d summaries, the first %+v", len(again), s)
	}

	// One that was changed later is read again, and told as broken.
	text := strings.Replace(readAll(t, s.Path), "matmul/N64", "matmul/N65", 1)
	if err := os.WriteFile(s.Path+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.Path+".new", s.Path); err != nil { // as git and editors do
		t.Fatal(err)
	}
	if list := look(); list[0].Broken == "" || list[1].Broken != "" || list[0].ID != s.ID {
		t.Errorf("%q, %q", list[0].Broken, list[1].Broken)
	}
	// What is kept is not to be relied on.
	if err := os.WriteFile(filepath.Join(f.Root, ".pawl/sessions/open/summaries"), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first[1], look()[1]); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(s.Path); err != nil {
		t.Fatal(err)
	}
	if list := look(); len(list) != 2 {
		t.Errorf("%d after one was taken away", len(list))
	}
}

// A folder that has had its files for a while is not looked through, and what comes into it
// is seen.
func TestSummariesOfAQuietFolder(t *testing.T) {
	f := journal.Folder{Root: t.TempDir(), Now: func() time.Time { return noon }}
	fill(t, f.Root, 3)
	dir := filepath.Join(f.Root, ".pawl", "sessions")
	quiet := func() {
		t.Helper()
		hour := time.Now().Add(-time.Hour)
		if err := os.Chtimes(dir, hour, hour); err != nil {
			t.Fatal(err)
		}
	}
	look := func(want int) []journal.Summary {
		t.Helper()
		list, err := f.Summaries()
		if err != nil || len(list) != want {
			t.Fatalf("%d summaries: %v", len(list), err)
		}
		return list
	}
	quiet()
	first := look(3)
	if diff := cmp.Diff(first, look(3)); diff != "" {
		t.Error(diff)
	}
	text := readAll(t, first[0].Path)
	if err := os.Remove(first[0].Path); err != nil {
		t.Fatal(err)
	}
	look(2)
	if err := os.WriteFile(filepath.Join(dir, "20270101T000000Z-000001.jsonl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	look(3)
	quiet()
	look(3)
}

// fill writes n sessions that ended, without a fsync for each.
func fill(t testing.TB, root string, n int) {
	t.Helper()
	f := journal.Folder{Root: t.TempDir()}
	w := start(t, f)
	for i := range 10 {
		e := bench(fmt.Sprint(i), 100-float64(i), journal.Change{What: journal.Constant, File: "matmul.c", Name: "TILE", Before: "32", After: "64"})
		e.Actor = me
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(journal.Ended{Outcome: journal.Better}, me); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, ".pawl", "sessions")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := []byte(readAll(t, w.Session().Path))
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("20260101T%06dZ-%06x.jsonl", i, i)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkSummaries is 10,000 sessions of which the summaries are kept.
func BenchmarkSummaries(b *testing.B) {
	f := journal.Folder{Root: b.TempDir()}
	fill(b, f.Root, 10_000)
	began := time.Now()
	if _, err := f.Summaries(); err != nil {
		b.Fatal(err)
	}
	b.Logf("the first time, when every journal is read: %s", time.Since(began).Round(time.Millisecond))
	time.Sleep(time.Second) // then the folder is quiet
	if _, err := f.Summaries(); err != nil {
		b.Fatal(err)
	}
	defer perOp(b)()
	for b.Loop() {
		list, err := f.Summaries()
		if err != nil || len(list) != 10_000 {
			b.Fatal(len(list), err)
		}
	}
}
