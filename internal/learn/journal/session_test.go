package journal_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// bench returns a measurement of one case in ns; a base of 0 is none.
func bench(source, run string, candidate, base float64, verdict string, changes ...journal.Change) *journal.Did {
	c := journal.MeasuredCase{Case: "matmul/N64", Candidate: candidate, Base: base, Verdict: verdict}
	if base > 0 {
		gain := math.Log(base / candidate)
		c.Gain, c.Error = &gain, 0.01
	}
	return &journal.Did{Command: "bench", Source: source, Changes: changes, Measured: &journal.Measured{Run: run, Verdict: verdict, Cases: []journal.MeasuredCase{c}}}
}

func session(reference string, all ...any) *journal.Session {
	s := &journal.Session{Started: journal.Started{ID: "20261115T120000Z-000001", Reference: reference, GPU: "cpu"}, Began: noon}
	s.Entries = []journal.Entry{{Time: noon, Actor: me, Kind: journal.KindStarted, Started: &s.Started}}
	for i, x := range all {
		e := journal.Entry{Time: noon.Add(time.Duration(i+1) * time.Minute), Actor: me}
		switch x := x.(type) {
		case *journal.Did:
			e.Kind, e.Did = journal.KindDid, x
		case journal.Noted:
			e.Kind, e.Noted = journal.KindNoted, &x
		}
		s.Entries = append(s.Entries, e)
	}
	return s
}

var (
	profile  = &journal.Did{Command: "profile", Source: "s0", Profiled: &journal.Profiled{Bottleneck: "memory"}}
	oneFile  = journal.Change{What: journal.File, Name: "kernel.c", Added: 3, Gone: 1}
	oneParam = journal.Change{What: journal.Parameter, Name: "TILE", Before: "64", After: "128"}
)

func TestAttempts_SayWhatIsWrong(t *testing.T) {
	first := bench("s0", "r0", 100, 0, "")
	for name, c := range map[string]struct {
		entries []any
		wrong   string
	}{
		"a gain after a profile":                      {[]any{first, profile, bench("s1", "r1", 80, 0, "", oneFile)}, ""},
		"without a profile":                           {[]any{first, bench("s1", "r1", 80, 0, "", oneFile)}, "no profile"},
		"no profiler works here":                      {[]any{first, &journal.Did{Command: "profile", Exit: 3}, bench("s1", "r1", 80, 0, "", oneFile)}, ""},
		"two things at once":                          {[]any{first, profile, bench("s1", "r1", 80, 0, "", oneFile, oneParam)}, "2 variables at once"},
		"slower":                                      {[]any{first, profile, bench("s1", "r1", 157, 0, "", oneFile)}, "1.57x slower"},
		"a regression in the first measurement":       {[]any{bench("s0", "r0", 157, 100, "regression")}, "1.57x slower"},
		"wrong results, found after the measurement":  {[]any{first, profile, bench("s1", "r1", 80, 0, "", oneFile), &journal.Did{Command: "fuzz", Source: "s1", Checked: &journal.Checked{Points: 2, Failed: 1, SmallestOK: true}}}, "wrong result"},
		"wrong results, found before the measurement": {[]any{first, profile, &journal.Did{Command: "fuzz", Source: "s1", Checked: &journal.Checked{Points: 2, Failed: 1, SmallestOK: true}}, bench("s1", "r1", 80, 0, "", oneFile)}, "wrong result"},
	} {
		all := journal.Attempts(session("", c.entries...))
		if len(all) != 1 {
			t.Errorf("%s: %d attempts", name, len(all))
			continue
		}
		if got := strings.Join(all[0].Wrong, ", "); got != c.wrong {
			t.Errorf("%s: %q, want %q", name, got, c.wrong)
		}
	}
}

func TestAttempts_CarryWhatWasNoted(t *testing.T) {
	second := bench("s1", "r1", 80, 0, "improvement", oneFile)
	second.Diff = "--- a/kernel.c"
	all := journal.Attempts(session("", bench("s0", "r0", 100, 0, ""), profile, journal.Noted{Text: "pad the tile", Fix: "bank-conflicts/1"}, second, bench("s2", "r2", 70, 0, "", oneFile)))
	if len(all) != 2 {
		t.Fatalf("%d attempts", len(all))
	}
	a := all[0]
	if a.Fix != "bank-conflicts/1" || a.Note != "pad the tile" || a.Class != "memory" || a.Verdict != "improvement" || a.Diff != second.Diff || a.Run != "r1" {
		t.Errorf("%+v", a)
	}
	if b := all[1]; b.Fix != "" || b.Note != "" {
		t.Errorf("the note counts twice: %+v", b)
	}
}

func TestAttempts_ATunedPointCountsOnce(t *testing.T) {
	tuned := &journal.Did{Command: "tune", Source: "s0", Tuned: &journal.Tuned{Case: "matmul/N64", Point: map[string]string{"TILE": "128"}, Speedup: 1.3}}
	all := journal.Attempts(session("", bench("s0", "r0", 100, 0, ""), tuned, bench("s1", "r1", 77, 0, "", oneParam)))
	if len(all) != 1 || len(all[0].Wrong) > 0 || math.Abs(all[0].Gain-math.Log(1.3)) > 1e-9 {
		t.Errorf("%+v", all)
	}
}

// The beginning is the first base, however often the base moves later.
func TestSession_TheBeginningStays(t *testing.T) {
	s := session("", bench("s1", "r1", 81, 100, "improvement"), bench("s2", "r2", 74, 81, "improvement", oneFile), bench("s3", "r3", 73, 74, "maintained", oneFile))
	all := s.Measurements()
	for i, want := range []float64{100.0 / 81, 100.0 / 74, 100.0 / 73} {
		if got := s.Speedup(all[i].Measured); math.Abs(got-want) > 1e-9 {
			t.Errorf("measurement %d is %.3fx of the beginning, want %.3fx", i, got, want)
		}
	}
	sum := journal.Summarize(s, noon)
	if math.Abs(sum.Speedup-100.0/73) > 1e-9 || math.Abs(sum.Gained-100.0/73) > 1e-9 {
		t.Errorf("%.3fx, %.3fx", sum.Speedup, sum.Gained)
	}
}

func TestSummarize_FiveMeasures(t *testing.T) {
	s := session("", &journal.Did{Command: "build", Built: &journal.Built{Class: journal.MissingFile}}, &journal.Did{Command: "build", Built: &journal.Built{OK: true}},
		bench("s0", "r0", 100, 0, ""), profile, bench("s1", "r1", 157, 0, "", oneFile))
	s.Price = 6
	end := journal.Ended{Outcome: journal.Nothing}
	s.Ended = &end
	s.Entries = append(s.Entries, journal.Entry{Time: noon.Add(30 * time.Minute), Kind: journal.KindEnded, Ended: &end})
	sum := journal.Summarize(s, noon)
	if *sum.Build != 2 || *sum.Bottleneck != 4 || sum.Wrong != 1 || math.Abs(sum.Speedup-100.0/157) > 1e-9 || sum.Dollars != 3 || sum.Minutes != 30 {
		t.Errorf("%+v", sum)
	}
	if d := cmp.Diff(map[string]float64{"build": 2, "baseline": 1, "optimize": 27}, sum.Phases); d != "" {
		t.Error(d)
	}
}

func TestNewForecast(t *testing.T) {
	if f := journal.NewForecast([]journal.Summary{{Open: true, Minutes: 5}}); f != nil {
		t.Errorf("a forecast without a basis: %+v", f)
	}
	ended := func(minutes, gained float64) journal.Summary {
		return journal.Summary{Minutes: minutes, Gained: gained, Ended: &journal.Ended{}}
	}
	got := journal.NewForecast([]journal.Summary{ended(60, 1), ended(30, 0), ended(200, 1.4)})
	want := &journal.Forecast{Minutes: journal.Range{Value: 60, Low: 30, High: 200}, Speedup: journal.Range{Value: 1.2, Low: 1, High: 1.4}, Basis: 3}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !got.Minutes.Holds(30) || got.Minutes.Holds(201) {
		t.Error("the range does not hold its ends only")
	}
}

func TestSummaries_SayWhatCannotBeRead(t *testing.T) {
	f := journal.Folder{Root: t.TempDir(), Now: func() time.Time { return noon }}
	w := start(t, f)
	if err := w.End(journal.Ended{Outcome: journal.Better}, me); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(f.Root, journal.Dir, "20260101T000000Z-0000aa.jsonl")
	if err := os.WriteFile(old, []byte(`{"before":"","time":"2026-01-01T00:00:00Z","kind":"started","started":{"id":"20260101T000000Z-0000aa","colour":1}}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := f.Summaries()
	if err != nil || len(list) != 2 {
		t.Fatalf("%d, %v", len(list), err)
	}
	if b := list[0]; b.ID != "20260101T000000Z-0000aa" || !strings.Contains(b.Broken, ":1: this version of pawl cannot read the entry") {
		t.Errorf("%+v", b)
	}
	if b := list[1]; b.Broken != "" || b.Open || b.Ended == nil {
		t.Errorf("%+v", b)
	}
}

func TestChanges(t *testing.T) {
	f := journal.Folder{Root: t.TempDir()}
	w, top := start(t, f), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	take := func() journal.Sources {
		t.Helper()
		s, err := journal.TakeSources(top, []string{"a.c", "b.c", "gone.c", "new.c"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write("a.c", "int a;\nint b;\n")
	write("b.c", "int c;\n")
	write("gone.c", "int d;\n")
	before := take()
	before.Parameters, before.Flags = map[string]string{"TILE": "64"}, map[string]string{"flags": "-O2"}
	if _, ok := w.Kept(); ok {
		t.Error("sources are kept before a measurement")
	}
	if err := w.Keep(before); err != nil {
		t.Fatal(err)
	}
	write("a.c", "int a;\nint x;\nint y;\n")
	write("b.c", "int  c;\n\n") // white space
	write("new.c", "int n;\n")
	if err := os.Remove(filepath.Join(top, "gone.c")); err != nil {
		t.Fatal(err)
	}
	now := take()
	now.Parameters, now.Flags = map[string]string{"TILE": "128"}, map[string]string{"flags": "-O3"}
	kept, ok := w.Kept()
	if !ok || kept.Digest() != before.Digest() || kept.Digest() == now.Digest() {
		t.Fatalf("kept %v", ok)
	}
	want := []journal.Change{
		{What: journal.File, Name: "a.c", Added: 2, Gone: 1},
		{What: journal.File, Name: "gone.c", Gone: 1},
		{What: journal.File, Name: "new.c", Added: 1},
		{What: journal.Parameter, Name: "TILE", Before: "64", After: "128"},
		{What: journal.Flag, Name: "flags", Before: "-O2", After: "-O3"},
	}
	if d := cmp.Diff(want, w.Changes(t.Context(), kept, now)); d != "" {
		t.Error(d)
	}
	diff := w.Diff(t.Context(), kept, now)
	for _, part := range []string{"--- a/a.c\n+++ b/a.c\n@@", "-int b;\n+int x;\n+int y;\n", "--- a/new.c", "-int d;"} {
		if !strings.Contains(diff, part) {
			t.Errorf("no %q in\n%s", part, diff)
		}
	}
}
