package lesson

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func example(title string) *Lesson {
	return &Lesson{Title: title, Symptom: "bank_conflict_pct > 10", Class: "memory", Cause: "C", Fix: "F", Source: []string{"S"}, State: Proposed}
}

func bookOf(t interface{ Fatal(...any) }, lessons ...*Lesson) *Book {
	b := &Book{byName: map[string]*entry{}}
	for i, l := range lessons {
		if l.Name = cmp.Or(l.Name, fmt.Sprintf("lesson-%d", i)); b.Add(l) != nil {
			t.Fatal("cannot add ", l.Name)
		}
	}
	return b
}

// outcomes are as many, of one gain each, from as many sessions as there are names.
func outcomes(gain float64, sessions ...string) []Outcome {
	var list []Outcome
	for _, s := range sessions {
		list = append(list, Outcome{Lesson: "lesson-0", Session: s, Gain: gain, Error: 0.02})
	}
	return list
}

func TestState(t *testing.T) {
	half := 0.5
	review := func(s State, day int) Review {
		return Review{Lesson: "lesson-0", State: s, Reason: "because", By: "Ada", Time: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)}
	}
	for name, test := range map[string]struct {
		claim    *float64
		written  State
		outcomes []Outcome
		reviews  []Review
		want     State
		weight   string
	}{
		"new":                         {want: Proposed, weight: "0.50"},
		"a file confirms itself":      {written: Confirmed, want: Proposed, weight: "0.50"},
		"a file takes itself back":    {written: Refuted, want: Refuted, weight: "0.25"},
		"held three times":            {outcomes: outcomes(0.2, "a", "a", "b"), want: Confirmed, weight: "0.80"},
		"held in one session":         {outcomes: outcomes(0.2, "a", "a", "a"), want: Proposed, weight: "0.80"},
		"held twice":                  {outcomes: outcomes(0.2, "a", "b"), want: Proposed, weight: "0.75"},
		"nothing twice":               {outcomes: outcomes(-0.1, "a", "b"), want: Proposed, weight: "0.25"},
		"nothing three times":         {outcomes: outcomes(-0.1, "a", "b", "c"), want: Refuted, weight: "0.20"},
		"less than claimed":           {claim: &half, outcomes: outcomes(0.1, "a", "b", "c"), want: Refuted, weight: "0.20"},
		"about as claimed":            {claim: &half, outcomes: outcomes(0.6, "a", "b", "c"), want: Confirmed, weight: "0.80"},
		"faster and wrong":            {outcomes: []Outcome{{Lesson: "lesson-0", Gain: 1, Error: 0.01, Wrong: true}}, want: Proposed, weight: "0.33"},
		"nobody can tell":             {outcomes: []Outcome{{Lesson: "lesson-0", Gain: 0.02, Error: 0.5}}, want: Proposed, weight: "0.50"},
		"mixed":                       {outcomes: slices.Concat(outcomes(0.2, "a", "b", "c"), outcomes(-0.2, "d", "e", "f", "g")), want: Proposed, weight: "0.44"},
		"confirmed by a person":       {reviews: []Review{review(Confirmed, 1)}, want: Confirmed, weight: "0.80"},
		"the last word counts":        {reviews: []Review{review(Confirmed, 3), review(Refuted, 2)}, want: Confirmed, weight: "0.80"},
		"refuted by a person":         {outcomes: outcomes(0.2, "a", "a", "b"), reviews: []Review{review(Refuted, 1)}, want: Refuted, weight: "0.00"},
		"a person and what came then": {outcomes: outcomes(-0.2, "a", "b", "c", "d", "e", "f"), reviews: []Review{review(Confirmed, 1)}, want: Confirmed, weight: "0.36"},
	} {
		t.Run(name, func(t *testing.T) {
			l := example("T")
			l.Claim, l.State = test.claim, cmp.Or(test.written, Proposed)
			b := bookOf(t, l)
			b.Learn(test.outcomes)
			for _, r := range test.reviews {
				b.Review(r)
			}
			s, err := b.Find("lesson-0")
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%.2f", s.Weight); s.State != test.want || got != test.weight || b.State("lesson-0") != test.want {
				t.Errorf("it is %s with weight %s (%s), want %s with %s", s.State, got, s.Why, test.want, test.weight)
			}
		})
	}
}

// A lesson that always claims half of the time falls below one that tells the truth within
// five outcomes of each, whatever the true gain below the claim's half is.
func TestPoisonedLessonFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claim, truth := 0.5, rapid.Float64Range(0.05, 0.25).Draw(t, "true gain")
		poisoned, honest := example("P"), example("H")
		poisoned.Claim = &claim
		b := bookOf(t, poisoned, honest)
		for i := range 5 {
			for _, name := range []string{"lesson-0", "lesson-1"} {
				gain := truth + rapid.Float64Range(-0.02, 0.02).Draw(t, "noise")
				b.Learn([]Outcome{{Lesson: name, Session: fmt.Sprint(i), Gain: gain, Error: 0.02}})
			}
		}
		p, _ := b.Find("lesson-0")
		h, _ := b.Find("lesson-1")
		if p.Weight >= h.Weight || p.State != Refuted {
			t.Fatalf("after five outcomes it weighs %.2f (%s), the honest one %.2f", p.Weight, p.State, h.Weight)
		}
	})
}

var anyOutcome = rapid.Custom(func(t *rapid.T) Outcome {
	return Outcome{
		Lesson: "lesson-0", Session: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "session"),
		Gain: rapid.Float64Range(-1, 1).Draw(t, "gain"), Error: rapid.Float64Range(0, 0.3).Draw(t, "error"), Wrong: rapid.Bool().Draw(t, "wrong"),
	}
})

var rankOf = map[State]int{Refuted: 0, Proposed: 1, Confirmed: 2}

// A weight is between 0 and 1, does not depend on the order of outcomes, and a better
// outcome in place of another never makes a lesson less believed.
func TestWeightIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := example("T")
		if rapid.Bool().Draw(t, "claims") {
			claim := rapid.Float64Range(0.01, 0.99).Draw(t, "claim")
			l.Claim = &claim
		}
		list := rapid.SliceOfN(anyOutcome, 1, 12).Draw(t, "outcomes")
		stand := func(list []Outcome) Standing {
			again := *l
			b := bookOf(t, &again)
			b.Learn(list)
			s, _ := b.Find("lesson-0")
			return s
		}
		was := stand(list)
		if was.Weight < 0 || was.Weight > 1 {
			t.Fatalf("weight %g", was.Weight)
		}
		turned := slices.Clone(list)
		slices.Reverse(turned)
		if s := stand(turned); math.Abs(s.Weight-was.Weight) > 1e-12 || s.State != was.State {
			t.Fatalf("the order counts: %s %.4f and %s %.4f", was.State, was.Weight, s.State, s.Weight)
		}
		at := rapid.IntRange(0, len(list)-1).Draw(t, "at")
		better := slices.Clone(list)
		better[at].Gain += rapid.Float64Range(0, 1).Draw(t, "more")
		better[at].Wrong = false
		now := stand(better)
		if now.Weight < was.Weight-1e-12 || rankOf[now.State] < rankOf[was.State] {
			t.Fatalf("a better outcome: from %s %.4f to %s %.4f", was.State, was.Weight, now.State, now.Weight)
		}
		claiming := *l
		claim := min(0.99, cmp.Or(ptr(l.Claim), 0.01)+rapid.Float64Range(0, 0.5).Draw(t, "claims more"))
		claiming.Claim, claiming.Name = &claim, ""
		l = &claiming
		if more := stand(list); more.Weight > was.Weight+1e-12 {
			t.Fatalf("claiming more: from %.4f to %.4f", was.Weight, more.Weight)
		}
	})
}

func ptr(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

func TestFolder(t *testing.T) {
	root := t.TempDir()
	f := Folder{Root: root}
	l := example("Rows of 32 words conflict")
	path, err := f.Add(l)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.Add(example("Rows of 32 words conflict")); err != nil || again != path {
		t.Errorf("the same lesson again is %s, %v; want %s", again, err, path)
	}
	if _, err := f.Review(Review{Lesson: l.Name, State: Refuted, Reason: "it is not so", By: "Ada", Time: time.Unix(1e9, 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Review(Review{Lesson: "../../x", State: Refuted, Reason: "r", By: "b", Time: time.Unix(1e9, 0)}); err == nil {
		t.Error("a review was written outside of the folder")
	}
	dir := filepath.Join(root, Dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("README.md", "not a lesson")
	write("broken.md", "not a lesson")
	write("softmax-in-fp16.md", whole)
	write("reviews/x.json", `{"lesson":"x","state":"perfect"}`)
	write("edited-000000.md", whole)
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	b, err := f.Read()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"broken.md:1:1: a lesson begins", "softmax-in-fp16: a lesson that pawl comes with has this name", `"perfect" is no state`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 3 {
		t.Errorf("%d problems, want 3:\n%v", n, err)
	}
	s, err := b.Find(l.Name[:8])
	if err != nil || s.State != Refuted || s.Edited || s.Starter || s.Why != "refuted by Ada: it is not so" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := b.Find("edited-000000"); err != nil || !s.Edited {
		t.Errorf("a lesson that is not what its name says: %v, %v", s.Edited, err)
	}
	if _, err := b.Find("softmx-in-fp16"); err == nil || !strings.Contains(err.Error(), `did you mean "softmax-in-fp16"?`) {
		t.Errorf("a misspelt name: %v", err)
	}
	if b, err := (Folder{Root: t.TempDir()}).Read(); err != nil || len(b.All(Facts{})) != len(Starter()) {
		t.Errorf("a folder without lessons: %v", err)
	}
}

// What speaks stands first, then what is the repository's own, then what weighs more.
func TestOrder(t *testing.T) {
	quiet := example("quiet")
	quiet.Symptom = "changed > 1"
	b := bookOf(t, example("first"), example("second"), quiet, example("wrong"))
	b.byName["lesson-1"].starter = true
	b.Learn([]Outcome{{Lesson: "lesson-1", Gain: 1, Error: 0.01}})
	for range 4 {
		b.Learn([]Outcome{{Lesson: "lesson-3", Gain: -1, Error: 0.01}})
	}
	facts := Facts{Numbers: map[string]float64{"bank_conflict_pct": 50}}
	names := func(list []Standing) string {
		var out []string
		for _, s := range list {
			out = append(out, s.Title)
		}
		return strings.Join(out, " ")
	}
	if got := names(b.All(facts)); got != "first second wrong quiet" {
		t.Errorf("all: %s", got)
	}
	if got := names(b.Speaking(facts)); got != "second first" {
		t.Errorf("speaking: %s", got)
	}
}

func TestScope(t *testing.T) {
	l := example("T")
	l.GPUs, l.Kernels = []string{"sm_8*"}, []string{"attention", "stencil"}
	numbers := map[string]float64{"bank_conflict_pct": 50}
	for _, test := range []struct {
		gpu, kernel string
		want        bool
	}{
		{"sm_89", "flash_attn_fwd", true},
		{"SM_80", "SDPA", true},
		{"sm_89", "stencil7", true},
		{"sm_90", "sdpa", false},
		{"", "sdpa", false},
		{"sm_89", "gemm", false},
		{"sm_89", "", false},
	} {
		if got := l.Speaks(Facts{Numbers: numbers, GPU: test.gpu, Kernel: test.kernel}); got != test.want {
			t.Errorf("on %q of %q: %v", test.gpu, test.kernel, got)
		}
	}
}
