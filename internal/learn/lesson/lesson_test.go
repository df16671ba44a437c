package lesson

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

func book(t *testing.T, f Folder) *Book {
	t.Helper()
	b, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every lesson of the starter set cites its source, claims no gain, and has an example that it matches and one
// that it does not. Reading one checks its examples.
func TestStarter(t *testing.T) {
	titles := map[string]string{}
	b := book(t, Folder{Root: t.TempDir()})
	if len(b.entries) < 60 {
		t.Errorf("%d lessons", len(b.entries))
	}
	for _, e := range b.entries {
		l := e.lesson
		if l.Claim != 0 || len(l.Source) == 0 || l.Author != "" || l.Symptom == "" {
			t.Errorf("%s: claim %v, source %v, author %q, symptom %q", l.Name, l.Claim, l.Source, l.Author, l.Symptom)
		}
		if other := titles[l.Title]; other != "" {
			t.Errorf("%s and %s have the same title", l.Name, other)
		}
		titles[l.Title] = l.Name
		examples := map[string]int{}
		for _, x := range l.Tests {
			examples[x.Want]++
		}
		if examples["speaks"] == 0 || examples["silent"] == 0 {
			t.Errorf("%s: examples %v", l.Name, examples)
		}
		if rule, _, _ := strings.Cut(l.FixID, "/"); l.FixID != "" {
			if _, ok := diagnose.Rules().Find(rule); !ok {
				t.Errorf("%s: there is no rule %s", l.Name, rule)
			}
		}
	}
}

func sample() *Lesson {
	return &Lesson{
		Title: "Rows of 64 halves: they conflict", Symptom: "bank_conflict_pct > 20", Class: "memory", Cause: "a row is 128 bytes", Fix: "pad # by 16 bytes",
		FixID: "bank-conflicts/1", GPUs: []string{"sm_89", "sm_9*"}, Kernels: []string{"attention"}, Source: []string{"run 01JD0"}, Author: "Ada", Claim: 0.2,
		Written: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), Body: "# More\n\ntext",
		Tests: []Test{{Name: "a column", Want: "speaks", GPU: "sm_89", Kernel: "attention", Facts: map[string]float64{"bank_conflict_pct": 88}}},
	}
}

func TestWrite_IsReadBack(t *testing.T) {
	l := sample()
	text, err := Write(l)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("x.md", text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(l, got, cmpopts.IgnoreUnexported(Lesson{})); d != "" {
		t.Error(d)
	}
	if name := Name(l.Title, text); !strings.HasPrefix(name, "rows-of-64-halves-they-conflict-") || edited(name, text) || !edited(name, append(text, 'x')) {
		t.Error(name)
	}
}

func TestParse_SaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "starts with front matter"},
		{"---\ntitle: T\n---\n", "symptom"},
		{"---\ntitle: T\ncolour: red\n---\n", "line 3: field colour not found"},
		{"---\ntitle: T\nclass: memory\ncause: C\nfix: F\nsource: [S]\nsymptom: dram > 1\n---\n", `there is no fact "dram"`},
		{"---\ntitle: T\nclass: memory\ncause: C\nfix: F\nsource: [S]\nsymptom: 1 > 0\n---\n", "uses no fact"},
		{"---\ntitle: T\nclass: memory\ncause: C\nfix: F\nsymptom: dram_pct > 1\n---\n", "source is missing"},
		{"---\ntitle: \"T\\u202e\"\nclass: memory\ncause: C\nfix: F\nsource: [S]\n---\n", "title: invisible character"},
		{"---\ntitle: T\u202e\n---\n", "line 2: invisible character U+202E"},
		{"---\ntitle: T\nclass: magic\ncause: C\nfix: F\nsource: [S]\nclaim: 2\ngpus: [L4]\n---\n", "claim: must be a share"},
		{"---\ntitle: T\nclass: memory\ncause: C\nfix: F\nsource: [S]\nsymptom: dram_pct > 1\ntests: [{want: silent, facts: {dram_pct: 2}}]\n---\n", "example 1"},
		{"---\ntitle: T\nclass: memory\ncause: C\nfix: F\nsource: [S]\nclaim: .nan\n---\n", "claim: must be a share"},
		{"---\ntitle: T\nclass: memory\ncause: C\nfix: F\nsource: [S]\nclaim: .inf\n---\n", "claim: must be a share"},
		{"---\ntitle: T\nclass: memory\ncause: C\nfix: F\nsource: [\"S\\u200b\"]\n---\n", "source: at most"},
		{"---\ntitle: T\ntitle: U\n---\n", "already defined"},
		{"---\nsource: &a [" + strings.Repeat("x, ", 100) + "]\ntests: [" + strings.Repeat("{facts: *a}, ", 3000) + "]\n---\n", "front matter"},
	} {
		_, err := Parse("x.md", []byte(c.text))
		if c.want == "symptom" { // a lesson without one is allowed, and lacks other keys here
			c.want = "cause is missing"
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.md: ") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func attempts(name string, gains ...float64) []journal.Attempt {
	var list []journal.Attempt
	for _, g := range gains {
		list = append(list, journal.Attempt{Lesson: name, Gain: g})
	}
	return list
}

// Outcomes decide the state; what a lesson claims does not.
func TestBook_Outcomes(t *testing.T) {
	f := Folder{Root: t.TempDir()}
	l := sample()
	if _, err := f.Add(l); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sessions [][]float64
		state    State
		measured bool
	}{
		"never tried":              {nil, Proposed, false},
		"one gain":                 {[][]float64{{0.2}}, Proposed, true},
		"one that did nothing":     {[][]float64{{0}}, Proposed, false},
		"three gains, two of them": {[][]float64{{0.2, 0.1}, {0.3}}, Confirmed, true},
		"three gains, one session": {[][]float64{{0.2, 0.1, 0.3}}, Proposed, true},
		"three in vain":            {[][]float64{{0, -0.1}, {0}}, Refuted, false},
		"mixed":                    {[][]float64{{0.2, 0, 0}, {0, 0.1}}, Proposed, true},
	} {
		b := book(t, f)
		for i, gains := range c.sessions {
			b.Learn(string(rune('a'+i)), attempts(l.Name, gains...))
		}
		s, err := b.Find(l.Name)
		if err != nil || s.State != c.state || s.Measured() != c.measured {
			t.Errorf("%s: %s (%s), measured %v, %v", name, s.State, s.Why, s.Measured(), err)
		}
	}
	b := book(t, f)
	b.Learn("a", []journal.Attempt{{Lesson: l.Name, Gain: 0.5, Wrong: []string{"wrong result"}}})
	if s, _ := b.Find(l.Name); s.Measured() || s.Held != 0 {
		t.Errorf("a wrong result counts as a gain: %+v", s)
	}
}

// A lesson that was never tried does not rank above a measured one, whatever it claims.
func TestBook_MeasuredBeforeUnproven(t *testing.T) {
	f := Folder{Root: t.TempDir()}
	loud, quiet := sample(), sample()
	loud.Title, loud.Claim = "Loud", 0.9
	quiet.Title, quiet.Claim = "Quiet", 0
	for _, l := range []*Lesson{loud, quiet} {
		if _, err := f.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	facts := Facts{Numbers: map[string]float64{"bank_conflict_pct": 30}, GPU: "sm_89", Kernel: "attention"}
	b := book(t, f)
	b.Learn("s", attempts(quiet.Name, 0.05, 0.06))
	if all := b.Speaking(facts); all[0].Name != quiet.Name {
		t.Errorf("%s is first", all[0].Name)
	}
	b = book(t, f)
	b.Learn("s", attempts(loud.Name, 0))
	if all := b.Speaking(facts); slices.IndexFunc(all, func(s Standing) bool { return s.Name == loud.Name }) != len(all)-1 {
		t.Error("one that did nothing is not last")
	}
}

func TestReview_TheLastCounts(t *testing.T) {
	f := Folder{Root: t.TempDir()}
	l := sample()
	if _, err := f.Add(l); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for i, state := range []State{Refuted, Confirmed} {
		if _, err := f.Review(Review{Lesson: l.Name, State: state, Reason: "seen", By: "Ada", Time: at.Add(time.Duration(i) * time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := book(t, f).Find("rows-of-64"); err != nil || s.State != Confirmed || s.Why != "confirmed by Ada: seen" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Links, pipes and devices are reported and never opened.
func TestRead_RefusesWhatIsNoFile(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, Dir)
	err := errors.Join(os.MkdirAll(dir, 0o755), syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644), os.Symlink("/dev/zero", filepath.Join(dir, "link.md")))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Folder{Root: root}.Read()
	if err == nil || strings.Count(err.Error(), "not a regular file") != 2 || len(b.entries) < 60 {
		t.Errorf("%v", err)
	}
}

func TestDraft_HoldsDiffNoteAndVerdict(t *testing.T) {
	s := &journal.Session{Started: journal.Started{ID: "20261115T120000Z-000001", GPU: "sm_89", Benchmark: "attention"}}
	add := func(e journal.Entry) { s.Entries = append(s.Entries, e) }
	bench := func(run, source string, ns float64) *journal.Did {
		return &journal.Did{Command: "bench", Source: source, Measured: &journal.Measured{Run: run, Verdict: "improvement", Cases: []journal.MeasuredCase{{Case: "attention/S128", Candidate: ns}}}}
	}
	add(journal.Entry{Actor: journal.Actor{Kind: journal.Person, Name: "Ada"}, Started: &s.Started})
	add(journal.Entry{Did: bench("r0", "s0", 100)})
	if _, ok := Draft(s); ok {
		t.Error("a draft without an attempt")
	}
	add(journal.Entry{Did: &journal.Did{Command: "profile", Source: "s0", Profiled: &journal.Profiled{Bottleneck: "memory", Kernel: "attend", Findings: []journal.Found{{Rule: "bank-conflicts"}}, Facts: map[string]float64{"bank_conflict_pct": 88}}}})
	add(journal.Entry{Noted: &journal.Noted{Text: "pad the tile by <b>16</b> bytes", Fix: "bank-conflicts/1"}})
	better := bench("r1", "s1", 80)
	better.Changes = []journal.Change{{What: journal.File, Name: "kernel.cu", Added: 1, Gone: 1}}
	better.Diff = "--- a/kernel.cu\n+++ b/kernel.cu\n-half tile[64][64];\n+half tile[64][72]; // ```\u202e\n"
	add(journal.Entry{Did: better})
	l, ok := Draft(s)
	if !ok {
		t.Fatal("no draft")
	}
	for _, part := range []string{"Note: pad the tile by &lt;b&gt;16", "Verdict: improvement, 1.25x (", "run r1 of session 20261115T120000Z-000001", "````diff\n--- a/kernel.cu", "+half tile[64][72]; // ```\n````"} {
		if !strings.Contains(l.Body, part) {
			t.Errorf("no %q in\n%s", part, l.Body)
		}
	}
	if l.Symptom == "" || l.Class != "memory" || l.FixID != "bank-conflicts/1" || !strings.HasPrefix(l.Title, "pad the tile") {
		t.Errorf("%+v", l)
	}
	if path, err := (Folder{Root: t.TempDir()}).Add(l); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	s.Entries = slices.Delete(s.Entries, 2, 4) // without profile and note it is still a draft
	if l, ok := Draft(s); !ok || l.Symptom != "" || !strings.Contains(l.Title, "kernel.cu (+1 -1) made it 1.25x as fast") || !strings.Contains(l.Body, "diff") {
		t.Errorf("%+v", l)
	}
	if g := journal.Attempts(s)[0].Gain; math.Abs(g-math.Log(1.25)) > 1e-9 {
		t.Error(g)
	}
}

// The reference lists every fact that a symptom can use, and the starter set.
func TestDocs_ListTheFacts(t *testing.T) {
	var text string
	for _, page := range []string{"lessons", "gates"} {
		part, err := os.ReadFile("../../../docs/reference/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		text += string(part)
	}
	for _, name := range gates.Names() {
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("docs/reference/gates.md does not list %s", name)
		}
	}
	for _, e := range book(t, Folder{Root: t.TempDir()}).entries {
		if l := e.lesson; !strings.Contains(text, "| `"+l.Name+"` | "+l.Class+" | `"+l.Symptom+"` | "+l.Title+" |") {
			t.Errorf("docs/reference/lessons.md does not list %s as it is", l.Name)
		}
	}
}

func FuzzParse(f *testing.F) {
	text, err := Write(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("---\ntitle: &a [*a]\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse("x", text)
		if err == nil && (l.Title == "" || len(l.Source) == 0) {
			t.Fatalf("%+v", l)
		}
	})
}
