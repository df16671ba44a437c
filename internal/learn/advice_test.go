package learn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/learn"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

func emptyBook(t *testing.T) *lesson.Book {
	t.Helper()
	b, err := lesson.Folder{Root: t.TempDir()}.Read()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// past returns a session with one attempt per gain, of one fix on a memory-bound kernel.
func past(fix string, gains ...float64) journal.Summary {
	s := journal.Summary{Ended: &journal.Ended{}}
	for _, g := range gains {
		s.Attempts = append(s.Attempts, journal.Attempt{Fix: fix, Class: "memory", Gain: g, Error: 0.01})
	}
	return s
}

func ids(a learn.Advice) string {
	var list []string
	for _, f := range a.Fixes {
		list = append(list, f.ID)
	}
	return strings.Join(list, " ")
}

var subject = learn.Subject{Class: "memory", Fixes: []learn.Known{{ID: "a/1", Do: "load 16 bytes", Share: 0.3}, {ID: "b/1", Do: "pad the tile", Share: 0.1}}}

func TestAdvise_RulesBeforeAnyOutcome(t *testing.T) {
	a := learn.Advise(subject, emptyBook(t), nil, nil)
	if ids(a) != "a/1 b/1" || a.Outcomes != 0 || a.Fixes[0].Basis != learn.FromRule {
		t.Errorf("%+v", a)
	}
}

// A fix that did nothing loses weight with every outcome, and is then not recommended.
func TestAdvise_NothingGainedLosesWeightAtOnce(t *testing.T) {
	before := math.Inf(1)
	for n := range 40 {
		var sessions []journal.Summary
		for range n {
			sessions = append(sessions, past("a/1", 0))
		}
		a := learn.Advise(subject, emptyBook(t), sessions, nil)
		i := slices.IndexFunc(a.Fixes, func(f learn.Fix) bool { return f.ID == "a/1" })
		if i < 0 {
			if n < 2 || len(a.Skipped) != 1 || !strings.Contains(a.Skipped[0].Why, "tried") {
				t.Fatalf("after %d: %+v", n, a)
			}
			return
		}
		if a.Fixes[i].Expected >= before {
			t.Fatalf("after %d outcomes without a gain it is expected to gain %g, before %g", n, a.Fixes[i].Expected, before)
		}
		before = a.Fixes[i].Expected
	}
	t.Error("it is still recommended after 40 outcomes without a gain")
}

func TestAdvise_WrongResultsAreNoGain(t *testing.T) {
	s := past("a/1", 0.5)
	s.Attempts[0].Wrong = []string{"wrong result"}
	for _, f := range learn.Advise(subject, emptyBook(t), []journal.Summary{s}, nil).Fixes {
		if f.ID == "a/1" && f.Expected >= f.Prior {
			t.Errorf("%+v", f)
		}
	}
}

func TestAdvise_OtherBottlenecksDoNotCount(t *testing.T) {
	s := past("b/1", 0.5)
	s.Attempts[0].Class = "compute"
	if a := learn.Advise(subject, emptyBook(t), []journal.Summary{s}, nil); ids(a) != "a/1 b/1" || a.Outcomes != 0 {
		t.Errorf("%+v", a)
	}
}

// What is measured ranks first. A lesson that claims 0.9 without an outcome ranks last.
func TestAdvise_MeasuredBeforeUnproven(t *testing.T) {
	folder := lesson.Folder{Root: t.TempDir()}
	l := &lesson.Lesson{Title: "Trust me", Symptom: "dram_pct > 10", Class: "memory", Cause: "c", Fix: "do it", Source: []string{"me"}, Claim: 0.9}
	if _, err := folder.Add(l); err != nil {
		t.Fatal(err)
	}
	book, err := folder.Read()
	if err != nil {
		t.Fatal(err)
	}
	s := subject
	s.Facts = map[string]float64{"dram_pct": 20}
	a := learn.Advise(s, book, []journal.Summary{past("b/1", 0.1, 0.12)}, nil)
	if !strings.HasPrefix(ids(a), "b/1 a/1 ") || a.Fixes[len(a.Fixes)-1].Basis != learn.Unproven {
		t.Errorf("%s", ids(a))
	}
	a = learn.Advise(s, book, []journal.Summary{past("b/1", 0.1, 0.12), past("lesson/"+l.Name, 0.3)}, nil)
	if i := slices.IndexFunc(a.Fixes, func(f learn.Fix) bool { return f.ID == "lesson/"+l.Name }); i < 0 || a.Fixes[i].Basis != learn.Measured {
		t.Errorf("%+v", a)
	}
}

func TestAdvise_NotAgainInTheSession(t *testing.T) {
	s := &journal.Session{Entries: []journal.Entry{
		{Did: &journal.Did{Command: "bench", Measured: &journal.Measured{Run: "0", Cases: []journal.MeasuredCase{{Case: "x/N1", Candidate: 100}}}}},
		{Noted: &journal.Noted{Fix: "a/1"}},
		{Did: &journal.Did{Command: "bench", Changes: []journal.Change{{Name: "a.c"}}, Measured: &journal.Measured{Run: "1", Cases: []journal.MeasuredCase{{Case: "x/N1", Candidate: 100}}}}},
	}}
	a := learn.Advise(subject, emptyBook(t), nil, s)
	if ids(a) != "b/1" || len(a.Skipped) != 1 || a.Skipped[0].Why != "tried in this session: same" {
		t.Errorf("%+v", a)
	}
}

func TestBuild_Has(t *testing.T) {
	b := learn.Build{Words: strings.Fields("cc -O3 -march=native -DTILE=64 kernel.c"), Parameters: map[string]string{"THREADS": "256"}}
	for do, want := range map[string]bool{
		"let the compiler vectorize, if it does not yet, with -O3 -march=native, restrict and a simple inner loop": true,
		"compile with -O3":              true,
		"compile with -O3 -ffast-math":  false,
		"compile with -Ofast":           false,
		"set THREADS=256":               true,
		"set THREADS=512":               false,
		"set TILE=64 (in the Makefile)": true,
		"use 16-byte loads":             false,
		"avoid -fmad=false and __fmul_rn, so that the compiler can fuse": false,
	} {
		if named, has := b.Has(do); has != want {
			t.Errorf("%q: %v (%s)", do, has, named)
		}
	}
	s := learn.Subject{Class: "compute", Fixes: []learn.Known{{ID: "v/1", Do: "vectorize with -O3 -march=native", Share: 0.5}}, Build: b}
	if a := learn.Advise(s, emptyBook(t), nil, nil); len(a.Fixes) != 0 || a.Skipped[0].Why != "the build already has -O3 -march=native" {
		t.Errorf("%+v", a)
	}
}
