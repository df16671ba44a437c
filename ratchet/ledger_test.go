package ratchet_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// noon is when everything in these tests happens.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func bed(driver string) ratchet.Testbed {
	return ratchet.NewTestbed(measure.Testbed{
		Kind: gpu.NVIDIA, Device: "NVIDIA L4", Driver: driver, PowerCapW: 72, Clocks: gpu.ClockPolicy{Mode: gpu.ClocksBase},
	}, measure.TimerDevice)
}

// commitNo makes up the hash of a commit.
func commitNo(n int) string { return fmt.Sprintf("%040x", n) }

func session(run string, rounds ...float64) *ratchet.Session {
	return &ratchet.Session{Run: ratchet.RunRef{ID: run, Digest: "sha256:" + run}, Unit: "ns", Quantum: 32, Rounds: rounds}
}

// The entries of a small ledger: a first measurement, a second, a gain, an accepted loss.
func life() []ratchet.Entry {
	e := ratchet.Entry{Time: noon, Case: "attention/S512", Testbed: bed("570")}
	with := func(change func(*ratchet.Entry)) ratchet.Entry {
		c := e
		change(&c)
		return c
	}
	return []ratchet.Entry{
		with(func(e *ratchet.Entry) {
			e.Kind, e.Commit, e.Session = ratchet.KindMeasured, commitNo(1), session("run1", 1000, 1010, 990)
		}),
		with(func(e *ratchet.Entry) {
			e.Kind, e.Commit, e.Session = ratchet.KindMeasured, commitNo(1), session("run2", 1001, 1011, 991)
			e.Session.References = []ratchet.Reference{{Name: "sdpa", Digest: "sha256:aa", Rounds: []float64{2000, 2001}}}
		}),
		with(func(e *ratchet.Entry) {
			e.Kind, e.Commit, e.Session = ratchet.KindMoved, commitNo(2), session("run4", 930, 931, 929)
			e.Trigger, e.Gain, e.Reason = &ratchet.RunRef{ID: "run3", Digest: "sha256:run3"}, 0.07, "a gain of 7.0 %"
		}),
		with(func(e *ratchet.Entry) {
			e.Kind, e.Commit, e.Session = ratchet.KindAccepted, commitNo(3), session("run5", 980, 981, 979)
			e.Reason, e.Actor = "the fix of the mask costs 5 %", "ada"
		}),
	}
}

// later is a ledger of a pawl that records how sessions were built and timed, and sets others aside.
func later() []ratchet.Entry {
	list := life()[:2]
	list[1].Session.Recipe, list[1].Session.Definition, list[1].Session.Method = "0123456789abcdef", "fedcba9876543210", "v1 device hot trusted"
	aside := list[0].SetAside()
	aside.Time, aside.Reason, aside.Actor = noon, "built by another recipe", "ada"
	return append(list, aside)
}

func seal(t testing.TB, entries ...ratchet.Entry) []byte {
	t.Helper()
	lines, _, err := ratchet.Head{}.Seal(entries)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// The format is a promise: what this file holds is readable for ever.
func TestTheFirstLedger(t *testing.T) {
	t.Run("first", func(t *testing.T) { promised(t, "testdata/ledger/v1.jsonl", life()) })
	t.Run("digests", func(t *testing.T) { promised(t, "testdata/ledger/v1-digests.jsonl", later()) })
}

func promised(t *testing.T, path string, list []ratchet.Entry) {
	t.Helper()
	want, sealed, err := ratchet.Head{}.Seal(list)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), string(want)); diff != "" {
		t.Errorf("the format has changed (-promised +now):\n%s", diff)
	}
	entries, faults := ratchet.Inspect(have)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if diff := cmp.Diff(sealed, entries); diff != "" {
		t.Errorf("what was written is not what is read: %s", diff)
	}
}

// Whoever changes one bit anywhere is found.
func TestEveryBitCounts(t *testing.T) {
	text := seal(t, life()[1:3]...)
	for i := range text {
		for bit := range 8 {
			changed := bytes.Clone(text)
			changed[i] ^= 1 << bit
			if _, faults := ratchet.Inspect(changed); len(faults) == 0 {
				t.Errorf("bit %d of byte %d (%q) was changed, and nobody noticed:\n%s", bit, i, text[i], changed)
			}
		}
	}
}

// Lines that are lost, doubled or swapped are found, wherever it happened, unless
// only the end is missing: that only another copy can tell.
func TestLinesOutOfOrder(t *testing.T) {
	lines := slices.Collect(bytes.Lines(seal(t, life()...)))
	check := func(name string, broken bool, lines ...[]byte) {
		t.Helper()
		_, faults := ratchet.Inspect(bytes.Join(lines, nil))
		if got := len(faults) > 0; got != broken {
			t.Errorf("%s: faults %v, want any: %v", name, faults, broken)
		}
	}
	check("as written", false, lines...)
	check("empty", false)
	check("the last is missing", false, lines[:3]...)
	check("the first is missing", true, lines[1:]...)
	check("one is missing", true, lines[0], lines[2])
	check("doubled", true, lines[0], lines[0])
	check("swapped", true, lines[1], lines[0])
	check("an empty line", true, lines[0], []byte("\n"), lines[1])
	check("without its last newline", false, lines[0], bytes.TrimSuffix(lines[1], []byte("\n")))
	check("with carriage returns", true, append(bytes.TrimSuffix(bytes.Clone(lines[0]), []byte("\n")), "\r\n"...))
}

// A fault is told once, not again for every line behind it.
func TestOneFaultIsOneFault(t *testing.T) {
	text := string(seal(t, life()...))
	for name, test := range map[string]struct {
		text string
		line int
		says string
	}{
		"a number":     {strings.Replace(text, "1001", "1002", 1), 2, "it was changed after it was written"},
		"no JSON":      {strings.Replace(text, `"run2"`, `"run2`, 1), 2, "it is not a valid entry"},
		"no hash":      {strings.Replace(text, `"}`+"\n", "\"\n", 1), 1, "it does not end with its hash"},
		"removed":      {text[strings.Index(text, "\n")+1:], 1, "it is number 2 and follows number 0"},
		"line endings": {strings.Replace(text, "\n", "\r\n", 1), 1, "-text"},
	} {
		_, faults := ratchet.Inspect([]byte(test.text))
		if len(faults) != 1 || faults[0].Line != test.line || !strings.Contains(faults[0].Error(), test.says) {
			t.Errorf("%s: found %v, want line %d: ...%s...", name, faults, test.line, test.says)
		}
	}
}

func TestWhatCannotBeRecorded(t *testing.T) {
	for name, test := range map[string]struct {
		from   int // entry of life
		change func(*ratchet.Entry)
		says   string
	}{
		"no time":          {0, func(e *ratchet.Entry) { e.Time = time.Time{} }, "no time"},
		"no case":          {0, func(e *ratchet.Entry) { e.Case = "" }, "names no case"},
		"two lines":        {0, func(e *ratchet.Entry) { e.Case = "a\nb" }, "one line of text"},
		"no testbed":       {0, func(e *ratchet.Entry) { e.Testbed = ratchet.Testbed{} }, "no testbed"},
		"a branch":         {0, func(e *ratchet.Entry) { e.Commit = "main" }, "must be a full hash"},
		"a short commit":   {0, func(e *ratchet.Entry) { e.Commit = "abcdef1" }, "must be a full hash"},
		"no commit":        {0, func(e *ratchet.Entry) { e.Commit = "" }, "no commit"},
		"no evidence":      {0, func(e *ratchet.Entry) { e.Session = nil }, "no evidence"},
		"no rounds":        {0, func(e *ratchet.Entry) { e.Session = session("r") }, "0 rounds"},
		"a round of zero":  {0, func(e *ratchet.Entry) { e.Session = session("r", 1, 0) }, "above 0"},
		"no unit":          {0, func(e *ratchet.Entry) { e.Session.Unit = "" }, "no unit"},
		"no run":           {0, func(e *ratchet.Entry) { e.Session.Run = ratchet.RunRef{} }, "names no run"},
		"a new kind":       {0, func(e *ratchet.Entry) { e.Kind = "blessed" }, "update pawl"},
		"no trigger":       {2, func(e *ratchet.Entry) { e.Trigger = nil }, "showed the gain"},
		"the trigger":      {2, func(e *ratchet.Entry) { e.Trigger = &e.Session.Run }, "measure again"},
		"its digest":       {2, func(e *ratchet.Entry) { e.Trigger = &ratchet.RunRef{Digest: e.Session.Run.Digest} }, "measure again"},
		"no gain":          {2, func(e *ratchet.Entry) { e.Gain = 0 }, "no gain"},
		"a loss":           {2, func(e *ratchet.Entry) { e.Gain = -0.1 }, "not negative"},
		"no reason":        {3, func(e *ratchet.Entry) { e.Reason = " " }, "a reason and a name are required"},
		"nobody":           {3, func(e *ratchet.Entry) { e.Actor = "" }, "a reason and a name are required"},
		"reset to what":    {3, func(e *ratchet.Entry) { e.Kind = ratchet.KindReset }, "must not name a commit or evidence"},
		"carried from":     {0, func(e *ratchet.Entry) { e.Kind = ratchet.KindCarried }, "other testbed"},
		"aside, no run":    {3, func(e *ratchet.Entry) { e.Kind, e.Session = ratchet.KindSetAside, nil }, "does not name the run"},
		"aside, evidence":  {3, func(e *ratchet.Entry) { e.Kind, e.Run = ratchet.KindSetAside, &e.Session.Run }, "must not have evidence"},
		"aside, no reason": {0, func(e *ratchet.Entry) { *e = e.SetAside(); e.Time = noon }, "a reason and a name are required"},
		"a long method":    {0, func(e *ratchet.Entry) { e.Session.Method = "v1\nwall" }, "one line of text"},
		"many references":  {0, func(e *ratchet.Entry) { e.Session.References = make([]ratchet.Reference, 99) }, "99 references"},
		"a nameless one":   {0, func(e *ratchet.Entry) { e.Session.References = []ratchet.Reference{{Rounds: []float64{1}}} }, "no name"},
		"a long testament": {3, func(e *ratchet.Entry) { e.Reason = strings.Repeat("x", 1<<20) }, "reason"},
	} {
		e := life()[test.from]
		test.change(&e)
		_, _, err := ratchet.Head{}.Seal([]ratchet.Entry{e})
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want ...%s...", name, err, test.says)
		}
	}
}

// However entries are cut into batches, the ledger is the same, and it says what
// was put in.
func TestSealingInBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := make([]ratchet.Entry, rapid.IntRange(1, 20).Draw(t, "entries"))
		for i := range entries {
			e := life()[0]
			e.Case = rapid.StringMatching(`[a-z "\\<ü]{1,20}`).Draw(t, "case")
			e.Time = noon.Add(time.Duration(rapid.Int64Range(0, 1e18).Draw(t, "time"))).In(time.FixedZone("east", 3600))
			e.Session = session(fmt.Sprint(i), rapid.SliceOfN(rapid.Float64Range(1e-300, 1e300), 1, 40).Draw(t, "rounds")...)
			entries[i] = e
		}
		once, sealed, err := ratchet.Head{}.Seal(entries)
		if err != nil {
			t.Fatal(err)
		}
		var batched []byte
		var head ratchet.Head
		for rest := entries; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "batch")
			lines, part, err := head.Seal(rest[:n])
			if err != nil {
				t.Fatal(err)
			}
			batched, rest = append(batched, lines...), rest[n:]
			head = ratchet.Head{Seq: part[n-1].Seq, Hash: part[n-1].Hash}
		}
		if !bytes.Equal(once, batched) {
			t.Fatalf("sealed at once:\n%s\nin batches:\n%s", once, batched)
		}
		read, faults := ratchet.Inspect(once)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if diff := cmp.Diff(sealed, read); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Whatever the bytes are, reading ends, and what is read without a fault can be
// written again to the same state.
func FuzzInspect(f *testing.F) {
	f.Add(seal(f, life()...))
	f.Add(seal(f, life()[0]))
	f.Add(seal(f, later()...))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, faults := ratchet.Inspect(data)
		before, err := ratchet.Fold(entries)
		if len(faults) > 0 || err != nil {
			return
		}
		lines, _, err := ratchet.Head{}.Seal(entries)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, faults := ratchet.Inspect(lines)
		if len(faults) > 0 {
			t.Fatalf("what was written cannot be read: %v", faults)
		}
		after, err := ratchet.Fold(again)
		if err != nil || len(after.All()) != len(before.All()) {
			t.Fatalf("%d baselines became %d: %v", len(before.All()), len(after.All()), err)
		}
	})
}

// The size of a ledger is bounded, whoever wrote it.
func TestLedgersThatAreTooLarge(t *testing.T) {
	for name, data := range map[string][]byte{
		"a long line":   append(bytes.Repeat([]byte{'x'}, ratchet.MaxLine+1), '\n'),
		"a long file":   bytes.Repeat([]byte{'x'}, ratchet.MaxLedger+1),
		"many newlines": bytes.Repeat([]byte{'\n'}, 1<<20),
	} {
		if _, faults := ratchet.Inspect(data); len(faults) == 0 || len(faults) > 100 {
			t.Errorf("%s: %d faults", name, len(faults))
		}
	}
}
