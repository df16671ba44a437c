package journal_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

var (
	me    = journal.Actor{Kind: journal.Person, Name: "Ada"}
	robot = journal.Actor{Kind: journal.Agent, Name: "cursor"}
	noon  = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
)

func start(t testing.TB, f journal.Folder) *journal.Writer {
	t.Helper()
	w, err := f.Start(journal.Started{Goal: "faster", Benchmark: "matmul", Suite: "pawl.yaml"}, me)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func note(text string) journal.Entry {
	return journal.Entry{Actor: me, Kind: journal.KindNoted, Noted: &journal.Noted{Text: text}}
}

func readAll(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestASessionFromStartToEnd(t *testing.T) {
	now := noon
	f := journal.Folder{Root: t.TempDir(), Now: func() time.Time { return now }}
	if _, err := f.Open(); !errors.Is(err, journal.ErrNoSession) {
		t.Fatalf("before any session: %v", err)
	}
	w := start(t, f)
	if _, err := f.Start(journal.Started{}, me); err == nil || !strings.Contains(err.Error(), w.Session().ID) {
		t.Fatalf("a second session beside the first: %v", err)
	}
	now = now.Add(time.Hour)
	if err := w.Append(note("one")); err != nil {
		t.Fatal(err)
	}
	again, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	if err := again.Append(journal.Entry{Actor: robot, Kind: journal.KindDid, Did: &journal.Did{Command: "bench", Device: 3, Dollars: 0.5}}); err != nil {
		t.Fatal(err)
	}
	if err := w.End(journal.Ended{Outcome: journal.Better, Speedup: 1.1}, me); err != nil { // another process added meanwhile
		t.Fatal(err)
	}
	if _, err := f.Open(); !errors.Is(err, journal.ErrNoSession) {
		t.Fatalf("after the end: %v", err)
	}
	if err := again.Append(note("late")); !errors.Is(err, journal.ErrNoSession) {
		t.Fatalf("a note after the end: %v", err)
	}
	list, err := f.Sessions()
	if err != nil || len(list) != 1 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	s := list[0]
	var kinds []journal.Kind
	for _, e := range s.Entries {
		kinds = append(kinds, e.Kind)
	}
	if diff := cmp.Diff([]journal.Kind{"started", "noted", "did", "ended"}, kinds); diff != "" {
		t.Error(diff)
	}
	seconds, dollars := s.Spent()
	byPeople, _ := s.Spent(journal.Person)
	if s.Minutes(now.Add(time.Hour)) != 120 || seconds != 3 || dollars != 0.5 || byPeople != 0 {
		t.Errorf("%g minutes, %g s, %g dollars, %g s by people", s.Minutes(now), seconds, dollars, byPeople)
	}
	if s.Path != filepath.Join(f.Root, ".pawl/sessions", s.ID+".jsonl") {
		t.Errorf("it is at %s", s.Path)
	}
	if text := readAll(t, filepath.Join(f.Root, ".pawl/sessions/.gitignore")); text != "/open/\n" {
		t.Errorf(".gitignore says %q", text)
	}
	if left, _ := filepath.Glob(filepath.Join(f.Root, ".pawl/sessions/open/*")); len(left) != 1 { // the lock
		t.Errorf("left behind: %q", left)
	}
}

// Every change of one byte, every line taken out, doubled or moved is seen; a tail that was
// cut is not a mistake, but what a crash leaves.
func TestTheChain(t *testing.T) {
	f := journal.Folder{Root: t.TempDir()}
	w := start(t, f)
	for _, text := range []string{"one", "two", "three"} {
		if err := w.Append(note(text)); err != nil {
			t.Fatal(err)
		}
	}
	whole := readAll(t, w.Session().Path)
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	last := len(lines) - 1
	for name, text := range map[string]string{
		"a word":         strings.Replace(whole, "one", "ONE", 1),
		"a line less":    lines[0] + lines[2] + lines[3] + "\n",
		"no first line":  strings.Join(lines[1:], "") + "\n",
		"two changed":    lines[0] + lines[2] + lines[1] + lines[last] + "\n",
		"one twice":      lines[0] + lines[1] + lines[1] + lines[2],
		"nothing":        "",
		"no entry":       "{}\n",
		"a field more":   strings.Replace(whole, `"kind":"started"`, `"kind":"started","x":1`, 1),
		"two on a line":  lines[0] + strings.TrimSuffix(lines[1], "\n") + lines[1],
		"another kind":   strings.Replace(whole, `"kind":"started"`, `"kind":"ended"`, 1),
		"a long line":    strings.Repeat("x", 5<<20) + "\n",
		"a hostile name": strings.Replace(whole, w.Session().ID, "../../etc/passwd", 1),
	} {
		s, err := journal.Read(strings.NewReader(text))
		if _, ok := errors.AsType[*journal.BrokenError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		if s == nil || len(s.Entries) >= 4 {
			t.Errorf("%s: read as whole", name)
		}
	}
	for cut := len(whole) - len(lines[last]); cut < len(whole); cut++ {
		s, err := journal.Read(strings.NewReader(whole[:cut]))
		if err != nil || len(s.Entries) != 3 {
			t.Fatalf("cut at %d of %d: %v", cut, len(whole), err)
		}
	}
}

// A torn tail is cut off by the next that writes.
func TestHealing(t *testing.T) {
	f := journal.Folder{Root: t.TempDir()}
	w := start(t, f)
	for _, tail := range []string{"x", `{"before":"`, strings.Repeat("\x00", 4096)} {
		path := w.Session().Path
		if err := os.WriteFile(path, []byte(readAll(t, path)+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		other, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		before := len(other.Session().Entries)
		if err := other.Append(note("healed")); err != nil {
			t.Fatal(err)
		}
		if s, err := journal.ReadFile(path); err != nil || len(s.Entries) != before+1 {
			t.Fatalf("after %q: %v", tail, err)
		}
	}
}

// A crash between the last line and the move is made good.
func TestAnEndThatWasInterrupted(t *testing.T) {
	f := journal.Folder{Root: t.TempDir()}
	w := start(t, f)
	if err := w.Append(journal.Entry{Actor: me, Kind: journal.KindEnded, Ended: &journal.Ended{Outcome: journal.Lost}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(); !errors.Is(err, journal.ErrNoSession) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.Root, ".pawl/sessions", w.Session().ID+".jsonl")); err != nil {
		t.Error(err)
	}
	start(t, f)
}

func TestManyWriters(t *testing.T) {
	f := journal.Folder{Root: t.TempDir()}
	start(t, f)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			w, err := f.Open()
			for i := 0; err == nil && i < 10; i++ {
				err = w.Append(note("x"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(w.Session().Entries); n != 81 {
		t.Errorf("%d entries", n)
	}
}

// What is written is what is read, whatever it is.
func TestRoundTrip(t *testing.T) {
	f := journal.Folder{Root: t.TempDir()}
	w := start(t, f)
	text := rapid.StringMatching(`[\x00-\x{ffff}]{0,60}`)
	rapid.Check(t, func(t *rapid.T) {
		e := journal.Entry{Actor: robot, Kind: journal.KindDid, Did: &journal.Did{
			Command: text.Draw(t, "command"), Args: rapid.SliceOfN(text, 0, 3).Draw(t, "args"), Seconds: rapid.Float64().Draw(t, "seconds"),
			Checked:  &journal.Checked{Worst: rapid.SampledFrom([]float64{1, math.Inf(1), math.NaN()}).Draw(t, "worst")},
			Profiled: &journal.Profiled{Facts: map[string]float64{"x": math.Inf(-1)}},
		}}
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
		s, err := journal.ReadFile(w.Session().Path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w.Session().Entries[len(s.Entries)-1].Did.Seconds, s.Entries[len(s.Entries)-1].Did.Seconds); diff != "" {
			t.Fatal(diff)
		}
		if len(s.Entries) > 50 { // a new one, so that it stays fast
			if err := w.End(journal.Ended{Outcome: journal.Nothing}, me); err != nil {
				t.Fatal(err)
			}
			if w, err = f.Start(journal.Started{}, me); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	folder := journal.Folder{Root: f.TempDir()}
	w := start(f, folder)
	if err := w.Append(note("x")); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(readAll(f, w.Session().Path)))
	f.Add([]byte("{}\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := journal.Read(strings.NewReader(string(text)))
		if s == nil {
			t.Fatal("no session, not even an empty one")
		}
		if err == nil && (len(s.Entries) == 0 || s.Began.IsZero()) {
			t.Fatal("a journal without a beginning was read")
		}
		journal.Attempts(s)
	})
}

func TestWho(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		ci   string
		want journal.Actor
	}{
		{nil, "", journal.Actor{Kind: journal.Person, Name: "Ada"}},
		{map[string]string{"CI": "true"}, "", journal.Actor{Kind: journal.CI}},
		{map[string]string{"CI": "false"}, "", journal.Actor{Kind: journal.Person, Name: "Ada"}},
		{map[string]string{"CI": "true"}, "x", journal.Actor{Kind: journal.CI, Name: "x"}},
		{map[string]string{"CLAUDECODE": "1"}, "", journal.Actor{Kind: journal.Agent, Name: "claude-code"}},
		{map[string]string{"CLAUDECODE": "1", "CI": "1"}, "x", journal.Actor{Kind: journal.Agent, Name: "claude-code"}},
		{map[string]string{"AI_AGENT": "devin@1"}, "", journal.Actor{Kind: journal.Agent, Name: "devin@1"}},
		{map[string]string{"AGENT": "1"}, "", journal.Actor{Kind: journal.Agent, Name: "unknown"}},
		{map[string]string{"CODEX_SANDBOX": "seatbelt"}, "", journal.Actor{Kind: journal.Agent, Name: "codex"}},
		{map[string]string{"PAWL_ACTOR": "agent:a\nb\x1b[31m"}, "", journal.Actor{Kind: journal.Agent, Name: "a b [31m"}},
		{map[string]string{"PAWL_ACTOR": "agent:"}, "", journal.Actor{Kind: journal.Agent, Name: "unknown"}},
		{map[string]string{"PAWL_ACTOR": "person:Ada", "CURSOR_AGENT": "1"}, "", journal.Actor{Kind: journal.Agent, Name: "cursor"}},
	} {
		got := journal.Who(func(name string) string { return test.env[name] }, test.ci, func() string { return "Ada" })
		if got != test.want {
			t.Errorf("%v: %+v, want %+v", test.env, got, test.want)
		}
	}
}
