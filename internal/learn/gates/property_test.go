package gates

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// anySession draws a session from everything that can happen, in any order.
func anySession(t *rapid.T) (*journal.Session, Now) {
	sources := rapid.SampledFrom([]string{"s1", "s2", "s3", ""})
	started := journal.Started{
		Reference: rapid.SampledFrom([]string{"sdpa", ""}).Draw(t, "reference"),
		Target:    rapid.SampledFrom([]float64{0, 1.2, 50}).Draw(t, "target"),
		GPU:       rapid.SampledFrom([]string{"sm_89", "cpu", ""}).Draw(t, "gpu"),
		Commit:    rapid.SampledFrom([]string{"abc123", ""}).Draw(t, "commit"),
	}
	if rapid.Bool().Draw(t, "budget") {
		started.Budget = &journal.Budget{Seconds: 100}
	}
	var list []any
	for range rapid.IntRange(0, 12).Draw(t, "entries") {
		list = append(list, anyEntry(t, sources))
	}
	s := sessionOf(started, list...)
	now := Now{Committed: rapid.Bool().Draw(t, "committed")}
	if rapid.Bool().Draw(t, "later") {
		now.Time = s.Last().Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "minutes")) * time.Minute)
	}
	if rapid.Bool().Draw(t, "suite") {
		now.Configs = []string{"attention/S128", "attention/S512", "attention/S1024"}
	}
	if rapid.Bool().Draw(t, "present") {
		changes := []journal.Change{blockM, threads, {What: journal.Code, File: "k.cu", Name: "kernel"}}
		now.Did = changed(changes[:rapid.IntRange(0, 3).Draw(t, "changes")]...)
		now.Did.Host = rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "host")
		now.Did.Definition = rapid.SampledFrom([]string{"d", "e", ""}).Draw(t, "definition")
	}
	return s, now
}

func anyEntry(t *rapid.T, sources *rapid.Generator[string]) any {
	source := sources.Draw(t, "source")
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		return doctor(rapid.Bool().Draw(t, "ok"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "where"))
	case 1:
		return built(rapid.SampledFrom([]string{"", "abi", "missing file", "instantiation", "other"}).Draw(t, "class"))
	case 2:
		return limits(rapid.Bool().Draw(t, "fits"), 41472, rapid.SampledFrom([]float64{49152, 1024, 0}).Draw(t, "limit"))
	case 3:
		return checked(source, rapid.SampledFrom([]int{0, 3}).Draw(t, "failed"), "S65", rapid.SampledFrom([]float64{0, 65.0 / 64, 9}).Draw(t, "tiles"), 1)
	case 4, 5:
		us := rapid.SampledFrom([][]float64{{25, 30}, {25, 300}, {25, 10, 100, 40}, {25, 30, 100, 900}, {0, 30}}).Draw(t, "times")
		return timed(source, us...)
	case 6:
		return profiled(source)
	case 7:
		return journal.Did{Command: "fuzz", Exit: 2}
	case 8:
		return time.Duration(rapid.IntRange(1, 90).Draw(t, "silence")) * time.Minute
	}
	return journal.Overrode{Gate: rapid.SampledFrom(ids()).Draw(t, "overridden"), Reason: "because"}
}

func ids() (all []string) {
	for _, p := range All().Phases {
		for _, g := range p.Gates {
			all = append(all, g.ID)
		}
	}
	return all
}

// Whatever happened, there is a next step, it says what to do and why, and its command is
// not refused.
func TestNextIsNeverRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := anySession(t)
		all := All().Look(LearnNow(s, now), s.Entries)
		step := Next(all)
		if step.Do == "" || step.Why == "" || step.Command == "" || step.Phase == "" {
			t.Fatalf("a step without words: %+v", step)
		}
		if strings.ContainsAny(step.Do+step.Command, "{}[]") {
			t.Fatalf("something was not filled in: %+v", step)
		}
		command, args, ours := commandOf(step.Command)
		if !ours {
			if !strings.HasPrefix(step.Command, "git ") {
				t.Fatalf("whose command is %q?", step.Command)
			}
			return
		}
		if by := Stopped(all, command, args...); by != nil {
			t.Fatalf("next names %q, which %s refuses: %s", step.Command, by.Gate.ID, by.Sentence)
		}
		if step.Stop && !slices.ContainsFunc(all, func(st Status) bool { return st.Answer == Failed && st.Gate.ID == step.Gate }) {
			t.Fatalf("a stop by %s, whose answer is not no", step.Gate)
		}
	})
}

// An override is of one gate: it never changes another's answer, and never makes a passed
// one anything else.
func TestOverrideIsOfOneGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := anySession(t)
		if now.Time.IsZero() {
			now.Time = s.Last().Add(time.Minute)
		}
		gate := rapid.SampledFrom(ids()).Draw(t, "gate")
		before := All().Look(LearnNow(s, now), s.Entries)
		entry := journal.Entry{
			Time: s.Last(), Kind: journal.KindOverrode, Actor: journal.Actor{Kind: journal.Person, Name: "A"},
			Overrode: &journal.Overrode{Gate: gate, Reason: "because"},
		}
		more := append(slices.Clone(s.Entries), entry)
		after := All().Look(LearnNow(s, now), more)
		for i, st := range after {
			was := before[i]
			switch {
			case st.Gate.ID != gate:
				if diff := cmp.Diff(was, st); diff != "" {
					t.Fatalf("overriding %s changed %s:\n%s", gate, st.Gate.ID, diff)
				}
			case st.Gate.Lasts == "" || was.Answer == Passed || was.Answer == Idle:
				if st.Answer != was.Answer {
					t.Fatalf("%s was %s and is %s", gate, was.Answer, st.Answer)
				}
			case st.Answer != Overridden || st.Reason == "" || st.By == "":
				t.Fatalf("%s is %s after its override", gate, st.Answer)
			}
		}
		overridden := slices.IndexFunc(after, func(st Status) bool { return st.Gate.ID == gate })
		for _, c := range []string{"build", "fuzz", "bench", "run", "sweep", "tune", "profile"} {
			if by := Stopped(after, c); by != nil && by.Gate.ID == after[overridden].Gate.ID && after[overridden].Answer == Overridden {
				t.Fatalf("%s is overridden and stops %s", gate, c)
			}
		}
	})
}

// What only looks is never stopped.
func TestLookingIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := anySession(t)
		all := All().Look(LearnNow(s, now), s.Entries)
		for _, c := range []string{"doctor", "suite check", "session status", "session note", "session end", "session gates", "session next", "lesson list", "diagnose", "report", "device show"} {
			if by := Stopped(all, c, "--json"); by != nil {
				t.Fatalf("%s stops %s", by.Gate.ID, c)
			}
		}
	})
}

// A session of which every command follows what pawl says comes to its end: nothing asks for
// the same thing for ever.
func TestFollowingNextComesToAnEnd(t *testing.T) {
	for _, started := range []journal.Started{onL4, onCPU, {GPU: "cpu"}} {
		follow(t, started)
	}
}

func follow(t *testing.T, started journal.Started) {
	t.Helper()
	var list []any
	var path []string
	source, speed, changes := "s1", 1.0, []journal.Change(nil)
	for range 60 {
		s := sessionOf(started, list...)
		all := All().Look(LearnNow(s, Now{Did: journal.Did{Source: source, Definition: "d", Host: "a", Changes: changes}, Configs: []string{"attention/S128", "attention/S512"}}), s.Entries)
		step := Next(all)
		path = append(path, step.Gate+": "+step.Command)
		command, args, _ := commandOf(step.Command)
		switch command {
		case "doctor":
			list = append(list, doctor(true, "a"))
		case "preflight":
			list = append(list, limits(true, 41472, 49152))
		case "build":
			list = append(list, built(""))
		case "fuzz":
			list = append(list, checked(source, 0, "", 0, 0))
		case "profile":
			list = append(list, profiled(source))
		case "bench":
			us := []float64{25, 100 / speed, 100, 400 / speed}
			if len(args) > 0 {
				us = us[:2]
			}
			list = append(list, timed(source, us...))
			changes = nil
		case "session":
			if slices.Equal(args, []string{"next", "--fixes"}) { // makes the change that it names
				source, speed, changes = source+"x", speed*1.5, []journal.Change{blockM}
				continue
			}
			if step.Gate != "" {
				t.Fatalf("%+v: it ends at %s\n%s", started, step.Gate, strings.Join(path, "\n"))
			}
			t.Log(strings.Join(path, "\n"))
			return
		}
	}
	t.Fatalf("no end after\n%s", strings.Join(path, "\n"))
}
