package lesson

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// worked is a session in which a profile showed bank conflicts, and a change took a fifth of
// the time away.
func worked() (*journal.Session, []journal.Attempt) {
	at := time.Date(2026, 11, 15, 20, 15, 30, 0, time.UTC)
	did := func(source string, d journal.Did) journal.Entry {
		d.Source = source
		return journal.Entry{Time: at, Actor: journal.Actor{Kind: journal.Person, Name: "Ada"}, Kind: journal.KindDid, Did: &d}
	}
	s := &journal.Session{Started: journal.Started{ID: "20261115T201530Z-00aabb", Benchmark: "attention", GPU: "sm_89"}, Began: at}
	s.Entries = []journal.Entry{
		did("one", journal.Did{Measured: &journal.Measured{Run: "R1"}}),
		did("one", journal.Did{Profiled: &journal.Profiled{
			Kernel: "attend<64>", Bottleneck: "memory",
			Facts:    map[string]float64{"bank_conflict_pct": 88, "l1_pct": 92, "time_ns": 9e5},
			Findings: []journal.Found{{Rule: "nobody-knows"}, {Rule: "bank-conflicts", Class: "memory"}},
		}}),
		did("two", journal.Did{Measured: &journal.Measured{Run: "R2"}}),
	}
	return s, []journal.Attempt{{
		Class: "memory", GPU: "sm_89", Kernel: "attention", Gain: 0.25, Error: 0.02, Correct: true, Run: "R2",
		Changes: []journal.Change{{What: journal.Constant, File: "attend.cu", Name: "PAD", Before: "0", After: "8"}},
	}}
}

func TestDraft(t *testing.T) {
	s, attempts := worked()
	got, ok := Draft(s, attempts)
	if !ok {
		t.Fatal("nothing was drafted")
	}
	text, err := Write(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `---
title: "Shared memory accesses have bank conflicts: PAD from 0 to 8"
symptom: bank_conflict_pct > 0
class: memory
cause: "Shared memory accesses have bank conflicts. Before the change bank_conflict_pct was 88."
fix: "Change PAD from 0 to 8 in attend.cu."
gpus:
  - sm_89
kernels:
  - attention
source:
  - session 20261115T201530Z-00aabb
  - run R2
author: "Ada"
state: proposed
claim: 0.2
written: "2026-11-15T20:15:30Z"
tests:
  - {name: "as it was found", gpu: "sm_89", kernel: "attention", want: speaks, facts: {bank_conflict_pct: 88}}
---
Drafted by pawl at the end of session 20261115T201530Z-00aabb. The change was measured as 1.28x (between 1.23x and 1.34x).

Is the cause right? Would it help elsewhere? Say so with ` + "`pawl lesson review`" + `.
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(text), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// No lesson comes of what is not sure, not right, or was done without looking.
func TestNoDraft(t *testing.T) {
	for name, spoil := range map[string]func(*journal.Session, []journal.Attempt){
		"within the noise":      func(_ *journal.Session, a []journal.Attempt) { a[0].Error = 0.2 },
		"nobody knows how sure": func(_ *journal.Session, a []journal.Attempt) { a[0].Error = 0 },
		"slower":                func(_ *journal.Session, a []journal.Attempt) { a[0].Gain = -0.25 },
		"wrong":                 func(_ *journal.Session, a []journal.Attempt) { a[0].Correct = false },
		"nothing changed":       func(_ *journal.Session, a []journal.Attempt) { a[0].Changes = nil },
		"no profile":            func(s *journal.Session, _ []journal.Attempt) { s.Entries[1].Did.Profiled = nil },
		"profiled afterwards":   func(s *journal.Session, _ []journal.Attempt) { s.Entries[1].Did.Source = "two" },
		"no finding":            func(s *journal.Session, _ []journal.Attempt) { s.Entries[1].Did.Profiled.Findings = nil },
		"another run":           func(_ *journal.Session, a []journal.Attempt) { a[0].Run = "R3" },
	} {
		s, attempts := worked()
		spoil(s, attempts)
		if l, ok := Draft(s, attempts); ok {
			t.Errorf("%s: drafted %q", name, l.Title)
		}
	}
}

// The noted fix chooses the finding, and the largest sure gain the attempt.
func TestDraftChooses(t *testing.T) {
	s, attempts := worked()
	s.Entries[1].Did.Profiled.Facts["load_bytes_per_sector"] = 4
	lucky, small := attempts[0], attempts[0]
	lucky.Gain, lucky.Error = 2, 3
	small.Gain = 0.1
	attempts[0].Fix = "uncoalesced-loads/1"
	l, ok := Draft(s, []journal.Attempt{lucky, attempts[0], small})
	if !ok || l.FixID != "uncoalesced-loads/1" || l.Symptom != "load_bytes_per_sector < 25.6" {
		t.Errorf("drafted %+v", l)
	}
}

// Names from a source that are meant for a terminal or a reader's eye are made harmless, or
// there is no lesson.
func TestDraftOfHostileNames(t *testing.T) {
	for _, name := range []string{"\x1b[2JPAD", "P\u202eAD", "---\ntitle: x", "](javascript:x)", strings.Repeat("x", 5000), "::set-output::"} {
		s, attempts := worked()
		attempts[0].Changes[0].Name, attempts[0].Changes[0].File, s.Entries[1].Did.Profiled.Kernel = name, name, name
		s.Entries[0].Actor.Name = name
		l, ok := Draft(s, attempts)
		if !ok {
			t.Errorf("%.20q: nothing was drafted", name)
			continue
		}
		text, err := Write(l)
		if err != nil || bytes.ContainsAny(text, "\x1b\u202e") || strings.Count("\n"+string(text), "\n---\n") != 2 {
			t.Errorf("%.20q: %v\n%s", name, err, text)
		}
	}
}

func TestOutcomes(t *testing.T) {
	_, attempts := worked()
	attempts = append(attempts, attempts[0], attempts[0])
	attempts[1].Lesson, attempts[2].Lesson, attempts[2].Correct = "a", "b", false
	want := []Outcome{
		{Lesson: "a", Session: "S", Run: "R2", Gain: 0.25, Error: 0.02},
		{Lesson: "b", Session: "S", Run: "R2", Gain: 0.25, Error: 0.02, Wrong: true},
	}
	if diff := cmp.Diff(want, Outcomes("S", attempts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
