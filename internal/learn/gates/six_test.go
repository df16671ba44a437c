package gates

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

var update = flag.Bool("update", false, "write the fixtures anew")

// sixFolder has the journals of six real working sessions on one kernel, as pawl would have
// kept them had it been there: nothing was refused then. Times, costs and results are those
// of the notes of whoever did the work; what lies between is filled in.
const sixFolder = "../testdata/six"

// minute is an entry with its time in the session.
type minute struct {
	at    float64
	entry any
}

// one of the six.
type one struct {
	started journal.Started
	day     int
	minutes []minute
	ends    float64
	ended   journal.Ended
	dollars float64
}

func six() []one {
	l4 := func(goal string, planned float64) journal.Started {
		return journal.Started{
			Goal: goal, Benchmark: "attention", Suite: "pawl.yaml", Reference: "sdpa", Target: 1.2, Planned: planned,
			Commit: "3f1c2ab", Device: "NVIDIA L4", GPU: "sm_89", Price: 0.2,
		}
	}
	return []one{
		{
			started: l4("reach what the notes claim: 1.2x of SDPA", 0), day: 1, ends: 180, dollars: 0.60,
			minutes: []minute{
				{6, failed("missing file", "setup.py:14", "s0")},
				{21, failed("missing file", "setup.py:20", "s0")},
				{38, failed("instantiation", "attention.cu:88", "s0")},
				{57, failed("instantiation", "bindings.cpp:31", "s0")},
				{79, failed("undefined symbol", "bindings.cpp:31", "s0")},
				{101, failed("other", "attention.cu:120", "s0")},
				{124, works("s1", 95)},
				{131, attention("s1", 25.6, 213)},
				{158, withChanges(attention("s2", 25.5, 283), tileM, tileN, manyThreads)},
			},
			ended: journal.Ended{Outcome: journal.Nothing, Text: "0.12x, then 0.09x: threads and tiles changed together, no profile", Speedup: 0.09},
		},
		{
			started: l4("the build first, then the tile", 0), day: 2, ends: 60, dollars: 0.20,
			minutes: []minute{
				{9, failed("missing file", "setup.py:20", "s3")},
				{22, failed("instantiation", "attention.cu:88", "s3")},
				{37, failed("undefined symbol", "bindings.cpp:31", "s3")},
				{44, failed("undefined symbol", "bindings.cpp:31", "s3")},
				{58, moved(failed("toolchain", "", "s3"), "l4-spot-2")},
			},
			ended: journal.Ended{Outcome: journal.Lost, Text: "the spot host died during a build of ten silent minutes; stopped at the build"},
		},
		{
			started: l4("a baseline", 15), day: 3, ends: 110, dollars: 0.37,
			minutes: []minute{
				{12, failed("instantiation", "attention.cu:88", "s4")},
				{26, failed("instantiation", "attention.cu:88", "s4")},
				{44, failed("instantiation", "bindings.cpp:31", "s4")},
				{50, failed("undefined symbol", "", "s4")},
				{62, works("s5", 80)},
				{73, journal.Did{Command: "bench", Exit: 4, Seconds: 20, Source: "s5"}},
				{84, journal.Did{Command: "bench", Exit: 3, Seconds: 25, Source: "s5"}},
				{104, attention("s5", 25.4, 254)},
			},
			ended: journal.Ended{Outcome: journal.Stopped, Text: "0.10x: below half of the reference", Speedup: 0.10},
		},
		{
			started: l4("profile the baseline", 25), day: 4, ends: 67, dollars: 0.22,
			minutes: []minute{
				{18, moved(works("s5", 600), "l4-fresh")},
				{33, moved(failed("undefined symbol", "", "s5"), "l4-fresh")},
				{55, moved(failed("abi", "", "s5"), "l4-fresh")},
			},
			ended: journal.Ended{Outcome: journal.Stopped, Text: "the library of the fresh host has another ABI"},
		},
		{
			started: l4("a baseline that is right", 0), day: 5, ends: 30,
			minutes: []minute{
				{3, journal.Did{Command: "doctor", Seconds: 150, Environment: &journal.Environment{OK: true}}},
				{8, journal.Did{Command: "preflight", Seconds: 3, Source: "s6", Limits: &journal.Limits{Device: "L4", SharedMemory: 41472, SharedLimit: 49152, Fits: true, Minimum: 1100}}},
				{11, works("s6", 90)},
				{17, attention("s6", 25.2, 729.5)},
				{26, wrong("s6", 7, 7, "S32", 0.5, 4.72)},
			},
			ended: journal.Ended{Outcome: journal.Stopped, Text: "29x slower, and the largest difference is 4.72: correctness first", Speedup: 0.034},
		},
		{
			started: l4("right for all seven shapes", 0), day: 6, ends: 130,
			minutes: []minute{
				{3, journal.Did{Command: "doctor", Seconds: 140, Environment: &journal.Environment{OK: true}}},
				{6, journal.Did{Command: "preflight", Seconds: 3, Source: "s6", Limits: &journal.Limits{Device: "L4", SharedMemory: 41472, SharedLimit: 49152, Fits: true, Minimum: 1100}}},
				{9, works("s6", 85)},
				{14, wrong("s6", 7, 7, "S32", 0.5, 4.72)},
				{20, journal.Noted{Text: "hypothesis: the sum is kept in FP16"}},
				{38, withChanges(wrong("s7", 7, 4, "S128", 2, 3.1), journal.Change{What: journal.Code, File: "attention.cu", Name: "softmax_rows", Added: 9, Gone: 6})},
				{52, journal.Noted{Text: "hypothesis: the tail of the last tile; smaller sizes around the tile"}},
				{74, withChanges(wrong("s7", 21, 6, "S65", 65.0/64, 1.9))},
				{80, journal.Noted{Text: "S=65 is wrong and S=64 is not: an index of the whole problem inside the tile"}},
				{96, withChanges(wrong("s8", 21, 2, "S65", 65.0/64, 0.4), journal.Change{What: journal.Code, File: "attention.cu", Name: "load_tile", Added: 3, Gone: 3})},
				{121, withChanges(journal.Did{Command: "fuzz", Seconds: 35, Source: "s9", Checked: &journal.Checked{Points: 7, Smallest: "S32", SmallestOK: true, Worst: 0.00195}}, journal.Change{What: journal.Code, File: "attention.cu", Name: "store_tile", Added: 2, Gone: 2})},
			},
			ended: journal.Ended{Outcome: journal.Reached, Text: "7 of 7 shapes are right, the largest difference is 0.00195"},
		},
	}
}

var (
	tileM       = journal.Change{What: journal.Constant, File: "attention.cu", Name: "BLOCK_M", Before: "64", After: "128"}
	tileN       = journal.Change{What: journal.Constant, File: "attention.cu", Name: "BLOCK_N", Before: "64", After: "128"}
	manyThreads = journal.Change{What: journal.Constant, File: "attention.cu", Name: "THREADS", Before: "128", After: "256"}
)

func failed(class, where, source string) journal.Did {
	return journal.Did{Command: "build", Exit: 1, Seconds: 70, Source: source, Built: &journal.Built{Class: class, Where: where}}
}

func works(source string, seconds float64) journal.Did {
	return journal.Did{Command: "build", Seconds: seconds, Source: source, Built: &journal.Built{OK: true}}
}

func attention(source string, reference, candidate float64) journal.Did {
	return journal.Did{
		Command: "bench", Seconds: 60, Device: 40, Source: source, Definition: "d1",
		Measured: &journal.Measured{Run: "run-" + source, Cases: []journal.MeasuredCase{{Case: "attention/B1_H8_S128_D64", Work: 3.4e7, Candidate: candidate * 1e3, Reference: reference * 1e3, Spread: 0.01}}},
	}
}

func wrong(source string, points, bad int, first string, tiles, worst float64) journal.Did {
	return journal.Did{
		Command: "fuzz", Exit: 1, Seconds: 50, Device: 20, Source: source, Definition: "d1",
		Checked: &journal.Checked{
			Points: points, Failed: bad, Smallest: "S32", SmallestOK: tiles > 0.5, Worst: worst, FirstBad: first, Tiles: tiles,
			Replay: "pawl fuzz --case attention --params " + strings.Replace(first, "S", "S=", 1) + " --inputs normal --seed 7",
		},
	}
}

func withChanges(d journal.Did, changes ...journal.Change) journal.Did {
	d.Changes = changes
	return d
}

func moved(d journal.Did, host string) journal.Did {
	d.Host = host
	return d
}

// write makes the journal with the journal's own writer, on a clock of its own.
func (o one) write(t *testing.T) (name string, text []byte) {
	t.Helper()
	begins := time.Date(2026, 10, o.day, 13, 0, 0, 0, time.UTC)
	now := begins
	f := journal.Folder{Root: t.TempDir(), Now: func() time.Time { return now }, Rand: bytes.NewReader([]byte{0x51, 0x51, byte(o.day)})}
	who := journal.Actor{Kind: journal.Person, Name: "engineer"}
	w, err := f.Start(o.started, who)
	if err != nil {
		t.Fatal(err)
	}
	var held float64
	for _, m := range o.minutes {
		if d, ok := m.entry.(journal.Did); ok {
			held += d.Seconds
		}
	}
	for _, m := range o.minutes {
		now = begins.Add(time.Duration(m.at * float64(time.Minute)))
		e := journal.Entry{Actor: who}
		switch x := m.entry.(type) {
		case journal.Did:
			if x.Host == "" {
				x.Host = "l4-spot"
			}
			x.Dollars = o.dollars * x.Seconds / held
			e.Kind, e.Did = journal.KindDid, &x
		case journal.Noted:
			e.Kind, e.Noted = journal.KindNoted, &x
		}
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	now = begins.Add(time.Duration(o.ends * float64(time.Minute)))
	if err := w.End(o.ended, who); err != nil {
		t.Fatal(err)
	}
	path, err := f.Find("")
	if err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(path), text
}

// The journals are what the description says, and their chains hold.
func TestSixJournals(t *testing.T) {
	for _, o := range six() {
		name, text := o.write(t)
		path := filepath.Join(sixFolder, name)
		if *update {
			if err := os.MkdirAll(sixFolder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v (go test -update writes it)", err)
		}
		if diff := cmp.Diff(string(kept), string(text)); diff != "" {
			t.Errorf("%s is not as described (go test -update writes it):\n%s", name, diff)
		}
		s, err := journal.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Minutes(s.Last()); got != o.ends {
			t.Errorf("%s took %v minutes, want %v", name, got, o.ends)
		}
		if _, dollars := s.Spent(); dollars < o.dollars-1e-6 || dollars > o.dollars+1e-6 {
			t.Errorf("%s cost %v, want %v", name, dollars, o.dollars)
		}
	}
}

// What pawl would have said: every command of the six that a gate would have refused, with
// what is right instead. The first line of each is where it would have stopped.
func TestSixStops(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sixFolder, "*.jsonl"))
	if err != nil || len(paths) != 6 {
		t.Fatalf("%d journals, %v", len(paths), err)
	}
	var b strings.Builder
	for i, path := range paths {
		s, err := journal.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := "N"
		if i > 0 {
			name = fmt.Sprintf("N+%d", i)
		}
		fmt.Fprintf(&b, "session %s, %.0f minutes: %s\n", name, s.Minutes(s.Last()), s.Ended.Text)
		stops(&b, s)
	}
	golden := filepath.Join("testdata", "six.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

// stops asks before each command of a session whether it would have run, and after it what
// comes next.
func stops(b *strings.Builder, s *journal.Session) {
	said, last := map[string]bool{}, ""
	for i, e := range s.Entries {
		if e.Did == nil {
			continue
		}
		before := &journal.Session{Started: s.Started, Began: s.Began, Entries: s.Entries[:i]}
		now := Now{Time: e.Time.Add(-time.Duration(e.Did.Seconds * float64(time.Second))), Did: *e.Did}
		for _, st := range All().Look(LearnNow(before, now), before.Entries) {
			if Stopped([]Status{st}, e.Did.Command) == nil || said[st.Gate.ID] {
				continue
			}
			said[st.Gate.ID] = true
			fmt.Fprintf(b, "  minute %.0f, pawl %s: stopped at %s\n    %s\n    next: %s\n", now.Time.Sub(s.Began).Minutes(), e.Did.Command, st.Gate.ID, st.Sentence, st.Command)
		}
		so := &journal.Session{Started: s.Started, Began: s.Began, Entries: s.Entries[:i+1]}
		if step := Next(All().Look(Learn(so), so.Entries)); step.Gate != last {
			last = step.Gate
			fmt.Fprintf(b, "  minute %.0f, pawl session next: %s\n    %s\n    %s\n", e.Time.Sub(s.Began).Minutes(), step.Gate, step.Do, step.Command)
		}
	}
}
