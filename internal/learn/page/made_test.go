package page_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

var update = flag.Bool("update", false, "write the golden files")

var began = time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

var (
	ada   = journal.Actor{Kind: journal.Person, Name: "Ada"}
	coder = journal.Actor{Kind: journal.Agent, Name: "coder"}
)

// at is an entry so many minutes into the session.
func at(minutes float64, by journal.Actor, e journal.Entry) journal.Entry {
	e.Time, e.Actor = began.Add(time.Duration(minutes*float64(time.Minute))), by
	switch {
	case e.Did != nil:
		e.Kind = journal.KindDid
		if e.Did.Definition == "" {
			e.Did.Definition = "5f0c11aa90d3e7b2"
		}
	case e.Refused != nil:
		e.Kind = journal.KindRefused
	case e.Noted != nil:
		e.Kind = journal.KindNoted
	case e.Overrode != nil:
		e.Kind = journal.KindOverrode
	case e.Ended != nil:
		e.Kind = journal.KindEnded
	}
	return e
}

func did(d journal.Did) journal.Entry { return journal.Entry{Did: &d} }

var padded = []journal.Change{{What: journal.Constant, File: "attention.cu", Name: "PAD", Before: "0", After: "8"}}

var twoThings = []journal.Change{
	{What: journal.Constant, File: "attention.cu", Name: "BLOCK_M", Before: "64", After: "128"},
	{What: journal.Constant, File: "attention.cu", Name: "THREADS", Before: "128", After: "256"},
}

// started is the beginning of the made-up session: a person asks an agent for 1.2x.
var started = journal.Started{
	Goal: "Attention forward to 1.2x of SDPA on the L4", Benchmark: "attention", Suite: "pawl.yaml", Reference: "sdpa", Target: 1.2, Planned: 240,
	Device: "NVIDIA L4", GPU: "sm_89", Price: 0.71, Budget: &journal.Budget{Seconds: 1800, Dollars: 1},
}

func measured(run, verdict string, small, large, base float64) *journal.Measured {
	m := &journal.Measured{Run: run, Verdict: verdict, Trust: "self-timed", Cases: []journal.MeasuredCase{
		{Case: "attention/S128", Work: 128, Candidate: small, Reference: 25600, Base: base * small},
		{Case: "attention/S512", Work: 512, Candidate: large, Reference: 330000, Base: base * large},
	}}
	return m
}

// story is what happened in it.
var story = []journal.Entry{
	at(1, coder, did(journal.Did{Command: "doctor", Seconds: 3, Environment: &journal.Environment{OK: true}})),
	at(3, coder, did(journal.Did{Command: "preflight", Seconds: 1.4, Limits: &journal.Limits{Device: "NVIDIA L4", SharedMemory: 41472, SharedLimit: 101376, Fits: true}})),
	at(6, coder, did(journal.Did{Command: "build", Exit: 1, Seconds: 48, Error: "attention.cu: undefined reference to `attention_forward<__half>'", Built: &journal.Built{Class: "instantiation", Where: "bindings.cpp:31"}})),
	at(14, coder, did(journal.Did{Command: "build", Seconds: 51, Built: &journal.Built{OK: true}})),
	at(16, coder, did(journal.Did{Command: "fuzz", Seconds: 20, Device: 14, Dollars: 0.003, Checked: &journal.Checked{Points: 24, Smallest: "S128", SmallestOK: true}})),
	at(18, coder, did(journal.Did{Command: "bench", Seconds: 40, Device: 31, Dollars: 0.006, Source: "aa01", Measured: measured("r-0001", "", 213000, 2900000, 0)})),
	at(19, coder, journal.Entry{Noted: &journal.Noted{Text: "The kernel is already 2x faster than SDPA; only tuning is left."}}),
	at(20, coder, journal.Entry{Refused: &journal.Refused{
		Command: "tune", Args: []string{"attention/S128"}, Gate: "smallest-speed", Instead: "pawl profile attention/S128",
		Why: "attention/S128 runs at 0.12x of sdpa, below 0.5x. Stop and profile it before anything is changed or tuned.",
	}}),
	at(22, coder, journal.Entry{Refused: &journal.Refused{
		Command: "bench", Gate: "one-variable", Instead: "pawl session status", Changes: twoThings,
		Why: "BLOCK_M 64 to 128 and THREADS 128 to 256 changed since the last measurement: put one of them back.",
	}}),
	at(25, coder, did(journal.Did{Command: "profile", Args: []string{"attention/S128"}, Seconds: 35, Device: 30, Dollars: 0.006, Profiled: &journal.Profiled{
		Case: "attention/S128", Tool: "ncu", Bottleneck: "memory", Findings: []journal.Found{{Rule: "bank-conflicts", Class: "memory", Fixes: []journal.Fix{{ID: "bank-conflicts/1", Gain: 0.2}}}},
	}})),
	at(26, coder, journal.Entry{Noted: &journal.Noted{Text: "Pad the rows of the tile.", Fix: "bank-conflicts/1"}}),
	at(34, coder, did(journal.Did{Command: "fuzz", Seconds: 21, Device: 15, Dollars: 0.003, Changes: padded, Checked: &journal.Checked{Points: 24, Smallest: "S128", SmallestOK: true}})),
	at(36, coder, did(journal.Did{Command: "bench", Args: []string{"--base", "HEAD"}, Seconds: 95, Device: 80, Dollars: 0.016, Source: "aa02", Changes: padded, Measured: measured("r-0002", "improvement", 162600, 2213700, 1.31)})),
	at(38, coder, did(journal.Did{Command: "bench", Exit: 2, Seconds: 95, Device: 80, Dollars: 0.016, Source: "aa02", Definition: "c3d9120f77ab6e54", Measured: measured("r-0003", "inconclusive", 161000, 2200000, 1.01)})),
	at(40, ada, journal.Entry{Overrode: &journal.Overrode{Gate: "definition", Reason: "the oracle became stricter on purpose"}}),
	at(44, coder, journal.Entry{Ended: &journal.Ended{Outcome: journal.Reached, Speedup: 1.25, Text: "Done: 1.25x, target reached."}}),
}

// write makes a journal of the first n entries of the story, as pawl would.
func writeStory(t *testing.T, root string, n int) *journal.Session {
	t.Helper()
	now := began
	f := journal.Folder{Root: root, Now: func() time.Time { return now }, Rand: bytes.NewReader([]byte{0xc0, 0xff, 0xee})}
	w, err := f.Start(started, ada)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range story[:n] {
		now = e.Time
		if e.Ended != nil {
			if err := w.End(*e.Ended, e.Actor); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return w.Session()
}

// The journal that other tests read is what pawl writes of the story.
func TestMadeJournals(t *testing.T) {
	for name, n := range map[string]int{"stopped.jsonl": 9, "agent.jsonl": len(story)} {
		s := writeStory(t, t.TempDir(), n)
		text, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, text)
	}
}

func madeSession(t testing.TB, name string) *journal.Session {
	t.Helper()
	s, err := journal.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fewGates are gates of the test's own: the real ones may be worded otherwise tomorrow.
var fewGates = &gates.Set{
	Phases: []gates.Phase{
		{ID: "assess", Title: "Assess", Gates: []gates.Gate{
			{ID: "environment", Title: "Driver, toolkit and libraries fit", Why: "An ABI mismatch took 67 minutes to see.", Fails: "The environment does not fit[: {problems} problems]. Repair it, not the code.", Run: "pawl doctor"},
			{ID: "reference", Title: "The reference is measured here", Why: "No target means anything without it.", Fails: "{reference} was not measured at the smallest config[, {smallest}].", Run: "pawl bench[ --case {smallest}]"},
		}},
		{ID: "optimise", Title: "Optimise", Gates: []gates.Gate{
			{ID: "profile-first", Title: "Profile before you optimise", Why: "0.12x became 0.09x by guessing.", Fails: "Nobody has looked where the time goes. Profile first.", Run: "pawl profile {profile_case}"},
			{ID: "one-variable", Title: "One variable at a time", Why: "Of two changes nobody knows which one did it.", Fails: "{changes} changed since the last measurement: put {put_back} back.", FailRun: "pawl session status"},
			{ID: "definition", Title: "What it is measured with is as it was", Why: "Two definitions are two questions.", Fails: "It changed. Put it back.", Run: "pawl bench"},
			{ID: "validate", Title: "All configs are measured at the end", Why: "What was reached at one may be lost at another.", Do: "Measure all.", Run: "pawl bench"},
		}},
	},
	Thresholds: []gates.Threshold{
		{Name: "half_speed", Title: "speed-up below which it is profiled first", Value: 0.4, Default: 0.5},
		{Name: "attempts", Title: "attempts in a row without 20 %", Value: 3, Default: 3},
	},
}

func status(phase, gate int, a gates.Answer, sentence, command string) gates.Status {
	p := fewGates.Phases[phase]
	return gates.Status{Gate: p.Gates[gate], Phase: p.ID, Answer: a, Sentence: sentence, Command: command}
}

// stopped is the state of a session that stands before a stop.
func stopped(t testing.TB) page.State {
	t.Helper()
	list := []gates.Status{
		status(0, 0, gates.Passed, "pawl doctor found nothing wrong.", ""),
		status(0, 1, gates.Passed, "sdpa is measured: 25.60 us at attention/S128.", ""),
		status(1, 0, gates.Open, "Profile what was measured last.", "pawl profile attention/S128"),
		status(1, 1, gates.Failed, "BLOCK_M 64 to 128 and THREADS 128 to 256 changed since the last measurement: put one of them back.", "pawl session status"),
		status(1, 2, gates.Overridden, "The suite changed.", ""),
		status(1, 3, gates.Idle, "", ""),
	}
	list[4].By, list[4].Reason = "Ada", "the oracle became stricter on purpose"
	return page.State{
		Session: madeSession(t, "stopped.jsonl"), Set: fewGates, Status: list, Now: began.Add(23 * time.Minute),
		Next: gates.Step{Phase: "optimise", Gate: "one-variable", Stop: true, Do: list[3].Sentence, Why: list[3].Gate.Why, Command: list[3].Command},
	}
}

// plainly is the state without a session.
func noSession() page.State {
	return page.State{Set: fewGates, Now: began, Next: gates.Step{Do: "Begin a session.", Why: "Gates then have a state.", Command: "pawl session start"}}
}

func text(t testing.TB, write func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
