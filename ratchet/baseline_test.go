package ratchet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

func TestFold(t *testing.T) {
	b, err := ratchet.Fold(life())
	if err != nil {
		t.Fatal(err)
	}
	got, ok := b.Find("attention/S512", bed("570"))
	if !ok || got.Commit != commitNo(3) || got.Kind != ratchet.KindAccepted {
		t.Fatalf("the baseline is %+v", got)
	}
	if len(got.Sessions) != 1 || got.Sessions[0].Run.ID != "run5" {
		t.Errorf("its sessions are %+v, want those of its own commit", got.Sessions)
	}
	if _, ok := b.Find("attention/S512", bed("575")); ok {
		t.Error("another driver has the same baseline")
	}
	if _, ok := b.Find("attention/S1024", bed("570")); ok {
		t.Error("another case has the same baseline")
	}
}

// What may follow what. Each case is a ledger whose last line is in question.
func TestWhatMayFollow(t *testing.T) {
	measured := func(commit int, run string) ratchet.Entry {
		e := life()[0]
		e.Commit, e.Session = commitNo(commit), session(run, 1000)
		return e
	}
	moved := func(commit int, trigger, run string) ratchet.Entry {
		e := life()[2]
		e.Commit, e.Session, e.Trigger = commitNo(commit), session(run, 900), &ratchet.RunRef{ID: trigger}
		return e
	}
	reset := life()[3]
	reset.Kind, reset.Commit, reset.Session = ratchet.KindReset, "", nil
	accepted := life()[3]
	migrated := measured(1, "file")
	migrated.Kind = ratchet.KindMigrated
	carried := func(commit int, to, from string) ratchet.Entry {
		e := measured(commit, "")
		e.Kind, e.Session, e.Testbed, e.From = ratchet.KindCarried, nil, bed(to), bed(from).Key
		return e
	}
	aside := func(commit int, run string) ratchet.Entry {
		e := measured(commit, run).SetAside()
		e.Time, e.Reason, e.Actor = noon, "another recipe", "ada"
		return e
	}
	for name, test := range map[string]struct {
		ledger []ratchet.Entry
		says   string // empty: it may
	}{
		"a session set aside":             {[]ratchet.Entry{measured(1, "a"), aside(1, "a")}, ""},
		"set aside twice":                 {[]ratchet.Entry{measured(1, "a"), aside(1, "a"), aside(1, "a")}, "run a is not one of the baseline's sessions (0 in use)"},
		"set aside, another run":          {[]ratchet.Entry{measured(1, "a"), aside(1, "b")}, "run b is not one of the baseline's sessions (1 in use)"},
		"set aside, another commit":       {[]ratchet.Entry{measured(1, "a"), aside(2, "a")}, "the baseline's commit is 000000000000"},
		"set aside from nothing":          {[]ratchet.Entry{aside(1, "a")}, "no baseline with a session"},
		"set aside after a reset":         {[]ratchet.Entry{measured(1, "a"), reset, aside(1, "a")}, "no baseline with a session"},
		"set aside what showed a gain":    {[]ratchet.Entry{measured(1, "a"), moved(2, "b", "c"), aside(2, "b")}, "run b is not one of the baseline's sessions"},
		"recorded again after it was":     {[]ratchet.Entry{measured(1, "a"), aside(1, "a"), measured(1, "a")}, "already recorded"},
		"another session after one was":   {[]ratchet.Entry{measured(1, "a"), aside(1, "a"), measured(1, "b")}, ""},
		"a first measurement":             {[]ratchet.Entry{measured(1, "a")}, ""},
		"another session":                 {[]ratchet.Entry{measured(1, "a"), measured(1, "b")}, ""},
		"the same session again":          {[]ratchet.Entry{measured(1, "a"), measured(1, "a")}, "already recorded"},
		"a session of another commit":     {[]ratchet.Entry{measured(1, "a"), measured(2, "b")}, "the baseline's commit is 000000000000"},
		"a gain over nothing":             {[]ratchet.Entry{moved(2, "a", "b")}, "record a measurement first"},
		"a gain":                          {[]ratchet.Entry{measured(1, "a"), moved(2, "b", "c")}, ""},
		"a gain over itself":              {[]ratchet.Entry{measured(2, "a"), moved(2, "b", "c")}, "is already the baseline"},
		"back to a commit that was":       {[]ratchet.Entry{measured(1, "a"), moved(2, "b", "c"), moved(1, "d", "e")}, ""},
		"the trigger as a later session":  {[]ratchet.Entry{measured(1, "a"), moved(2, "b", "c"), measured(2, "b")}, "showed the gain"},
		"the evidence as a later session": {[]ratchet.Entry{measured(1, "a"), moved(2, "b", "c"), measured(2, "c")}, "already recorded"},
		"a session after a gain":          {[]ratchet.Entry{measured(1, "a"), moved(2, "b", "c"), measured(2, "d")}, ""},
		"a reset":                         {[]ratchet.Entry{measured(1, "a"), reset}, ""},
		"a reset of nothing":              {[]ratchet.Entry{reset}, "no baseline to reset"},
		"a reset of a reset":              {[]ratchet.Entry{measured(1, "a"), reset, reset}, "no baseline to reset"},
		"a gain over a reset":             {[]ratchet.Entry{measured(1, "a"), reset, moved(2, "b", "c")}, "record a measurement first"},
		"a new begin":                     {[]ratchet.Entry{measured(1, "a"), reset, measured(2, "b")}, ""},
		"accepted out of nothing":         {[]ratchet.Entry{accepted}, ""},
		"migrated":                        {[]ratchet.Entry{migrated}, ""},
		"migrated over a measurement":     {[]ratchet.Entry{measured(1, "a"), migrated}, "a file from before pawl cannot replace it"},
		"migrated after a reset":          {[]ratchet.Entry{measured(1, "a"), reset, migrated}, "a file from before pawl cannot replace it"},
		"a gain over what was migrated":   {[]ratchet.Entry{migrated, moved(2, "b", "c")}, ""},
		"carried":                         {[]ratchet.Entry{measured(1, "a"), carried(1, "575", "570")}, ""},
		"carried, then measured":          {[]ratchet.Entry{measured(1, "a"), carried(1, "570.2", "570"), carried(1, "575", "570.2")}, ""},
		"carried, another commit":         {[]ratchet.Entry{measured(1, "a"), carried(2, "575", "570")}, "is not the baseline of testbed"},
		"carried from nowhere":            {[]ratchet.Entry{measured(1, "a"), carried(1, "575", "560")}, "is not the baseline of testbed"},
		"carried from a reset":            {[]ratchet.Entry{measured(1, "a"), reset, carried(1, "575", "570")}, "is not the baseline of testbed"},
		"carried twice":                   {[]ratchet.Entry{measured(1, "a"), carried(1, "575", "570"), carried(1, "575", "570")}, "baseline of its own"},
	} {
		_, err := ratchet.Fold(test.ledger)
		switch {
		case test.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
			t.Errorf("%s: %v, want ...%s...", name, err, test.says)
		case err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: ", len(test.ledger))):
			t.Errorf("%s: %v, want it to name line %d", name, err, len(test.ledger))
		}
	}
}

// A refused entry leaves the state alone, and whoever is given a baseline cannot
// change it.
func TestTheStateIsItsOwn(t *testing.T) {
	b, err := ratchet.Fold(life())
	if err != nil {
		t.Fatal(err)
	}
	before := b.All()
	if b.Apply(life()[1]) == nil {
		t.Fatal("a session of another commit was taken")
	}
	for _, x := range b.All() {
		x.Commit, x.Sessions[0] = "gone", ratchet.Session{}
	}
	if diff := cmp.Diff(before, b.All(), cmp.AllowUnexported(ratchet.Baseline{})); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyTheLatestSessionsAreKept(t *testing.T) {
	var entries []ratchet.Entry
	for i := range 3 * ratchet.MaxSessions {
		e := life()[0]
		e.Session = session(fmt.Sprint("run", i), 1000)
		entries = append(entries, e)
	}
	b, err := ratchet.Fold(entries)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := b.Find("attention/S512", bed("570"))
	if len(got.Sessions) != ratchet.MaxSessions || got.Sessions[0].Run.ID != "run40" || got.Seq != 0 {
		t.Errorf("%d sessions from %s on", len(got.Sessions), got.Sessions[0].Run.ID)
	}
	if err := b.Apply(entries[0]); err == nil {
		t.Error("a session that is no longer at hand was taken a second time")
	}
}

// After a driver update, the commit that was best on the most similar testbed of the
// same device is where to begin.
func TestNearest(t *testing.T) {
	at := func(change func(*measure.Testbed)) ratchet.Testbed {
		b := bed("570").Testbed
		change(&b)
		return ratchet.NewTestbed(b, measure.TimerDevice)
	}
	entry := func(commit int, b ratchet.Testbed) ratchet.Entry {
		e := life()[0]
		e.Testbed, e.Commit, e.Session = b, commitNo(commit), session(b.Key, 1000)
		return e
	}
	free := at(func(b *measure.Testbed) { b.Clocks = gpu.ClockPolicy{Mode: gpu.ClocksFree} })
	other := at(func(b *measure.Testbed) { b.Device = "NVIDIA H100" })
	both := at(func(b *measure.Testbed) { b.Driver = "575"; b.Clocks = gpu.ClockPolicy{Mode: gpu.ClocksFree} })
	newer := entry(5, bed("572"))
	newer.Time = noon.Add(1)
	forget := life()[3]
	forget.Kind, forget.Commit, forget.Session = ratchet.KindReset, "", nil
	for name, test := range map[string]struct {
		ledger []ratchet.Entry
		on     ratchet.Testbed
		want   int // commit; 0 is none
	}{
		"nothing":                      {nil, bed("575"), 0},
		"a driver update":              {[]ratchet.Entry{entry(1, bed("570"))}, bed("575"), 1},
		"it has its own":               {[]ratchet.Entry{entry(1, bed("570")), entry(2, bed("575"))}, bed("575"), 0},
		"another card":                 {[]ratchet.Entry{entry(1, other)}, bed("575"), 0},
		"the nearer of two":            {[]ratchet.Entry{entry(1, bed("570")), entry(2, free)}, both, 2},
		"the later of equals":          {[]ratchet.Entry{newer, entry(1, bed("570"))}, bed("575"), 5},
		"one that was forgotten":       {[]ratchet.Entry{entry(1, bed("570")), forget}, bed("575"), 0},
		"forgotten here, known there":  {[]ratchet.Entry{entry(1, bed("575")), entry(2, bed("570")), forget}, bed("570"), 0},
		"an unknown card, the same id": {[]ratchet.Entry{entry(1, ratchet.Testbed{Key: "x"})}, bed("570"), 0},
	} {
		b, err := ratchet.Fold(test.ledger)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := ""
		if test.want > 0 {
			want = commitNo(test.want)
		}
		if got, ok := b.Nearest("attention/S512", test.on); got.Commit != want || ok != (want != "") {
			t.Errorf("%s: commit %s, want %s", name, got.Commit, want)
		}
	}
}

func TestTestbedKeys(t *testing.T) {
	if bed("570").Key == bed("575").Key {
		t.Error("the key does not tell drivers apart")
	}
	if wall := ratchet.NewTestbed(bed("570").Testbed, measure.TimerWall); wall.Key == bed("570").Key {
		t.Error("the key does not tell timers apart")
	}
}

func TestMayMove(t *testing.T) {
	sound := ratchet.Claim{
		Case: "attention/S512", Commit: commitNo(2), Main: true, Correct: true,
		Trigger: ratchet.RunRef{ID: "a"}, Fresh: ratchet.RunRef{ID: "b"}, Move: ratchet.Moves, Gain: 0.07,
	}
	for name, test := range map[string]struct {
		change func(*ratchet.Claim)
		says   []string
	}{
		"sound":     {func(*ratchet.Claim) {}, nil},
		"just":      {func(c *ratchet.Claim) { c.Gain = 0.05 }, nil},
		"small":     {func(c *ratchet.Claim) { c.Gain = 0.049 }, []string{"the gain is 4.9 %, but a baseline moves only from 5.0 % on"}},
		"a loss":    {func(c *ratchet.Claim) { c.Gain = -0.2 }, []string{"the gain is -20.0 %, but a baseline moves only from 5.0 % on"}},
		"unknown":   {func(c *ratchet.Claim) { c.Gain -= c.Gain; c.Gain /= c.Gain }, []string{"no gain was measured"}},
		"noisy":     {func(c *ratchet.Claim) { c.Move = ratchet.Holds }, []string{"the gain of 7.0 % is not confirmed: the fresh rounds vary too much"}},
		"branch":    {func(c *ratchet.Claim) { c.Main = false }, []string{"the commit is not on the main line: the baseline moves when the change is merged"}},
		"incorrect": {func(c *ratchet.Claim) { c.Correct = false }, []string{"the results were not shown to be correct"}},
		"own clock": {func(c *ratchet.Claim) { c.Trust = measure.SelfTimed }, []string{"the change was measured by its own harness, which is not trusted"}},
		"a file":    {func(c *ratchet.Claim) { c.Trust = measure.TrustImported }, []string{"the samples come from a file"}},
		"dirty":     {func(c *ratchet.Claim) { c.Dirty = true }, []string{"the build has uncommitted changes"}},
		"stale": {func(c *ratchet.Claim) { c.Fresh = c.Trigger }, []string{
			"the rounds are the ones that showed the gain: measure again, so that luck is not recorded",
		}},
		"nothing": {func(c *ratchet.Claim) { *c = ratchet.Claim{} }, []string{
			"the gain is 0.0 %, but a baseline moves only from 5.0 % on",
			"no fresh rounds were measured",
			"the run that showed the gain is not known",
			"the commit is not on the main line: the baseline moves when the change is merged",
			"the commit is not known",
			"the results were not shown to be correct",
		}},
	} {
		c := sound
		test.change(&c)
		move, reasons := ratchet.MayMove(ratchet.Default(), c)
		if test.says == nil {
			if move != ratchet.Moves || len(reasons) != 1 {
				t.Errorf("%s: %s %q", name, move, reasons)
			}
			continue
		}
		if diff := cmp.Diff(test.says, reasons); move != ratchet.Holds || diff != "" {
			t.Errorf("%s: %s %s", name, move, diff)
		}
	}
}

// A case may have a threshold of its own.
func TestMayMoveByTheCasesOwnLimit(t *testing.T) {
	p := ratchet.Default()
	p.Cases = []ratchet.CaseLimits{{Match: "attention/*", Moves: 0.2}}
	c := ratchet.Claim{
		Case: "attention/S512", Commit: commitNo(2), Main: true, Correct: true,
		Trigger: ratchet.RunRef{ID: "a"}, Fresh: ratchet.RunRef{ID: "b"}, Move: ratchet.Moves, Gain: 0.19,
	}
	if move, _ := ratchet.MayMove(p, c); move != ratchet.Holds {
		t.Error("a gain of 19 % moves what moves from 20 % on")
	}
	c.Case = "matmul/N512"
	if move, _ := ratchet.MayMove(p, c); move != ratchet.Moves {
		t.Error("the limit of attention holds matmul")
	}
}

// What is set aside no longer counts; the commit, its line and its kind stay.
func TestSetAside_KeepsTheCommit(t *testing.T) {
	b, err := ratchet.Fold(later())
	if err != nil {
		t.Fatal(err)
	}
	got, ok := b.Find("attention/S512", bed("570"))
	if !ok || got.Commit != commitNo(1) || got.Kind != ratchet.KindMeasured || len(got.Sessions) != 1 || got.Sessions[0].Run.ID != "run2" {
		t.Errorf("the baseline is %+v", got)
	}
	if !b.Recorded("attention/S512", bed("570"), ratchet.RunRef{ID: "run1"}) {
		t.Error("a run that was set aside could be recorded again")
	}
}

// Only sessions of an older pawl, which still count and of which it is not certain that they are the
// candidate's, are doubtful.
func TestDoubtful(t *testing.T) {
	seq := func(list ...ratchet.Entry) []ratchet.Entry {
		for i := range list {
			list[i].Seq = i + 1
		}
		return list
	}
	entry := func(kind ratchet.Kind, commit int, run, recipe string) ratchet.Entry {
		e := life()[2]
		e.Kind, e.Commit, e.Session, e.Trigger = kind, commitNo(commit), session(run, 1000), &ratchet.RunRef{ID: "trigger of " + run}
		e.Session.Recipe, e.Actor = recipe, "ada"
		return e
	}
	carried := entry(ratchet.KindCarried, 1, "c", "")
	carried.Testbed, carried.From = bed("575"), bed("570").Key
	aside := entry(ratchet.KindMeasured, 1, "b", "").SetAside()
	aside.Time, aside.Reason, aside.Actor = noon, "another recipe", "ada"
	const measured, moved, accepted = ratchet.KindMeasured, ratchet.KindMoved, ratchet.KindAccepted
	for name, test := range map[string]struct {
		ledger []ratchet.Entry
		want   string // runs
	}{
		"the first":         {seq(entry(measured, 1, "a", "")), ""},
		"another session":   {seq(entry(measured, 1, "a", ""), entry(measured, 1, "b", "")), "b"},
		"with a recipe":     {seq(entry(measured, 1, "a", ""), entry(measured, 1, "b", "aa")), ""},
		"of a commit gone":  {seq(entry(measured, 1, "a", ""), entry(measured, 1, "b", ""), entry(moved, 2, "c", "")), ""},
		"after a move":      {seq(entry(measured, 1, "a", ""), entry(moved, 2, "b", ""), entry(measured, 2, "c", "")), "c"},
		"after an accept":   {seq(entry(accepted, 2, "b", ""), entry(measured, 2, "c", ""), entry(measured, 2, "d", "")), "c d"},
		"carried":           {seq(entry(measured, 1, "a", ""), carried), "c"},
		"already set aside": {seq(entry(measured, 1, "a", ""), entry(measured, 1, "b", ""), aside), ""},
	} {
		b, err := ratchet.Fold(test.ledger)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var runs []string
		for _, e := range b.SuspectEntries(test.ledger) {
			runs = append(runs, e.Session.Run.ID)
		}
		if got := strings.Join(runs, " "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
