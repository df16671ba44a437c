package ratchet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// day is a measuring session on a machine that is slower by a factor than the first
// day's: rounds of the case and of a reference, with a little noise.
func day(rng *rand.Rand, name string, value, machine float64, references ...string) ratchet.Session {
	rounds := func(v float64) []float64 {
		list := make([]float64, 8)
		for i := range list {
			list[i] = v * machine * math.Exp(0.001*rng.NormFloat64())
		}
		return list
	}
	s := *session(name, rounds(value)...)
	s.Quantum, s.Recipe, s.Definition, s.Method = 1, "recipe", "definition", "v1 device hot trusted"
	for _, r := range references {
		s.References = append(s.References, ratchet.Reference{Name: r, Digest: "sha256:" + r, Rounds: rounds(3e6)})
	}
	return s
}

// today is a candidate that was measured without a base, as evidence and as a session.
func today(rng *rand.Rand, value, machine float64, references ...string) (ratchet.Evidence, ratchet.Session) {
	s := day(rng, "today", value, machine, references...)
	e := ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: "attention", Config: "S512", Implementation: measure.Candidate},
		Unit: "ns", Gate: true, HasCandidate: true,
	}
	for i, v := range s.Rounds {
		e.Candidate = append(e.Candidate, ratchet.NewRound(measure.CaseRound{Round: i, Quantum: 1, Samples: []float64{v}}, "today"))
	}
	return e, s
}

// A stored baseline decides only with enough sessions, and a reference tells a slow
// kernel from a slow machine.
func TestAgainstStoredSessions(t *testing.T) {
	const slow = 1.08
	for name, test := range map[string]struct {
		sessions  int
		effect    float64 // on the candidate
		machine   float64 // today's
		stored    []string
		now       []string
		want      ratchet.Verdict
		reference string
	}{
		"four sessions":             {4, 1.5, 1, nil, nil, ratchet.Inconclusive, ""},
		"one migrated":              {1, 0.5, 1, nil, nil, ratchet.Inconclusive, ""},
		"the same":                  {8, 1, 1, nil, nil, ratchet.Maintained, ""},
		"slower":                    {8, slow, 1, nil, nil, ratchet.Regression, ""},
		"the machine is slower":     {8, 1, slow, []string{"sdpa"}, []string{"sdpa"}, ratchet.Maintained, "sdpa"},
		"both are":                  {8, slow, slow, []string{"sdpa"}, []string{"sdpa"}, ratchet.Regression, "sdpa"},
		"the machine hides it":      {8, slow, 1 / slow, []string{"sdpa"}, []string{"sdpa"}, ratchet.Regression, "sdpa"},
		"no reference in common":    {8, 1, slow, []string{"sdpa"}, []string{"flash"}, ratchet.Regression, ""},
		"the one that is common":    {8, 1, slow, []string{"sdpa", "flash"}, []string{"xformers", "flash"}, ratchet.Maintained, "flash"},
		"a reference, few sessions": {4, 1, slow, []string{"sdpa"}, []string{"sdpa"}, ratchet.Inconclusive, ""},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		b := ratchet.Baseline{Case: "attention/S512", Commit: commitNo(1)}
		for i := range test.sessions {
			drift := 1.0
			if test.reference != "" { // it can explain what the machine did
				drift = math.Exp(0.03 * rng.NormFloat64())
			}
			b.Sessions = append(b.Sessions, day(rng, fmt.Sprint(i), 1e6, drift, test.stored...))
		}
		candidate, now := today(rng, 1e6*test.effect, test.machine, test.now...)
		e := b.AsBase(ratchet.Default(), candidate, now)
		if !e.Stored || e.Paired || e.Reference != test.reference || len(e.Base) != 8*test.sessions {
			t.Errorf("%s: stored %v, paired %v, reference %q, %d rounds", name, e.Stored, e.Paired, e.Reference, len(e.Base))
		}
		if got := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}); got.Cases[0].Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", name, got.Cases[0].Verdict, test.want, got.Cases[0].Sentence)
		}
	}
}

// Two versions of a reference are not the same reference.
func TestSessionsThatDoNotCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b ratchet.Baseline
	for i := range 6 {
		s := day(rng, fmt.Sprint(i), 1e6, 1, "sdpa")
		s.References[0].Digest = "sha256:older"
		b.Sessions = append(b.Sessions, s)
	}
	candidate, now := today(rng, 1e6, 1, "sdpa")
	if e := b.AsBase(ratchet.Default(), candidate, now); e.Reference != "" || len(e.Base) != 48 {
		t.Errorf("corrected by %q, which was another version", e.Reference)
	}
	now.Better = measure.Lower // spelled out, the same
	if e := b.AsBase(ratchet.Default(), candidate, now); len(e.Base) != 48 {
		t.Error("lower is not lower")
	}
}

// Sessions that were not built, asked and timed as the candidate is are left out, and the verdict
// says why there are too few.
func TestAgainst_LeavesOutUnlikeSessions(t *testing.T) {
	const method = "v1 device hot trusted"
	change := func(n int, f func(*ratchet.Session)) func(int, *ratchet.Session) { // the newest n
		return func(age int, s *ratchet.Session) {
			if age < n {
				f(s)
			}
		}
	}
	for name, test := range map[string]struct {
		stored func(age int, s *ratchet.Session) // age 0 is the newest
		now    func(*ratchet.Session)
		used   int
		says   string // of the sentence; empty if there is an answer
	}{
		"all alike":   {nil, nil, 8, ""},
		"other units": {nil, func(s *ratchet.Session) { s.Unit = "cycles" }, 0, "0 of 8 stored sessions can be compared, but 5 are needed. Excluded: 8 measured in another unit"},
		"better the other way": {
			nil, func(s *ratchet.Session) { s.Better = measure.Higher }, 0, "Excluded: 8 measured in another unit or direction.",
		},
		"another method": {
			nil, func(s *ratchet.Session) { s.Method = "v2 device hot trusted" }, 0,
			"No answer: 0 of 8 stored sessions can be compared, but 5 are needed. Excluded: 8 timed with another method (v1 device hot trusted, now v2 device hot trusted).",
		},
		"a run without a method":     {nil, func(s *ratchet.Session) { s.Method = "" }, 0, "(v1 device hot trusted, now not recorded)"},
		"another definition":         {nil, func(s *ratchet.Session) { s.Definition = "other" }, 0, "8 measured with another definition"},
		"the candidate's own recipe": {nil, func(s *ratchet.Session) { s.Recipe = "other" }, 8, ""},
		"three of an older pawl": {
			change(3, func(s *ratchet.Session) { s.Recipe, s.Definition, s.Method = "", "", "" }), nil, 5, "",
		},
		"four of an older pawl": {
			change(4, func(s *ratchet.Session) { s.Recipe, s.Definition, s.Method = "", "", "" }), nil, 4,
			"4 of 8 stored sessions can be compared, but 5 are needed. Excluded: 4 from an older pawl",
		},
		"an older pawl on both sides": {
			change(8, func(s *ratchet.Session) { s.Recipe, s.Definition, s.Method = "", "", "" }),
			func(s *ratchet.Session) { s.Recipe, s.Definition, s.Method = "", "", "" }, 0, "8 from an older pawl",
		},
		"the newest built by another recipe": {
			change(2, func(s *ratchet.Session) { s.Recipe = "other" }), nil, 2, "Excluded: 6 built with a different recipe than the newest.",
		},
		"two reasons": {
			change(4, func(s *ratchet.Session) {
				if s.Method = "v0"; s.Run.ID == "7" {
					s.Definition, s.Method = "other", method
				}
			}), nil, 4, "Excluded: 1 measured with another definition (suite or definition files); 3 timed with another method (v0, now v1 device hot trusted).",
		},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var b ratchet.Baseline
		for i := range 8 {
			s := day(rng, fmt.Sprint(i), 1e6, 1)
			if test.stored != nil {
				test.stored(7-i, &s)
			}
			b.Sessions = append(b.Sessions, s)
		}
		candidate, now := today(rng, 1e6, 1)
		if test.now != nil {
			test.now(&now)
		}
		for _, rule := range []ratchet.Rule{ratchet.Default().Rule, ratchet.Classic} {
			p := ratchet.Default()
			p.Rule = rule
			e := b.AsBase(p, candidate, now)
			got := ratchet.Judge(p, []ratchet.Evidence{e}).Cases[0]
			if len(e.Base) != 8*test.used || !e.HasBase {
				t.Errorf("%s: %d rounds, want %d", name, len(e.Base), 8*test.used)
			}
			if none := got.Verdict == ratchet.Inconclusive && got.Facts == nil; none != (test.says != "") || !strings.Contains(got.Sentence, test.says) {
				t.Errorf("%s: %s: %s", name, got.Verdict, got.Sentence)
			}
		}
	}
	candidate, now := today(rand.New(rand.NewPCG(1, 2)), 1e6, 1)
	e := ratchet.Baseline{Commit: commitNo(1)}.AsBase(ratchet.Default(), candidate, now)
	if got := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0]; !strings.Contains(got.Sentence, "0 of 0 stored sessions can be compared") {
		t.Errorf("a baseline without sessions: %s", got.Sentence)
	}
}

// Whatever each day's machine was like, with a reference in every session the base is
// put on the machine of today.
func TestCorrectionUndoesTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.Float64Range(0.2, 5)
		exact := func(name string, machine float64) ratchet.Session {
			s := *session(name, 1e6*machine, 1.1e6*machine)
			s.Recipe, s.Definition, s.Method = "recipe", "definition", "method"
			s.References = []ratchet.Reference{{Name: "sdpa", Rounds: []float64{2e6 * machine, 3e6 * machine}}}
			return s
		}
		now := exact("today", factor.Draw(t, "today"))
		var b ratchet.Baseline
		for i := range 5 {
			b.Sessions = append(b.Sessions, exact(fmt.Sprint(i), factor.Draw(t, "machine")))
		}
		e := b.AsBase(ratchet.Default(), ratchet.Evidence{}, now)
		if e.Reference != "sdpa" {
			t.Fatal("not corrected")
		}
		for i, r := range e.Base {
			if want := now.Rounds[i%2]; math.Abs(r.Median/want-1) > 1e-9 {
				t.Fatalf("round %d is %v, want %v", i, r.Median, want)
			}
		}
	})
}

func TestSessionOf(t *testing.T) {
	round := func(n int, v ...float64) measure.CaseRound {
		return measure.CaseRound{Round: n, Quantum: 32, Samples: v}
	}
	of := func(implementation string, rounds ...measure.CaseRound) measure.Case {
		return measure.Case{
			CaseKey: measure.CaseKey{Benchmark: "attention", Config: "S512", Implementation: implementation},
			Unit:    "ns", Timer: measure.TimerDevice, Rounds: rounds, Definition: "bb of " + implementation, Method: "v1 device hot trusted",
		}
	}
	run := &measure.Run{
		Header: measure.Header{
			ID: "01J", Testbed: bed("570").Testbed,
			Implementations: []measure.Implementation{{Name: "candidate", Recipe: "aa"}, {Name: "base"}, {Name: "sdpa", Digest: "sha256:aa"}, {Name: "flash"}},
		},
		Rounds: []measure.Round{{Index: 0}, {Index: 1, Dropped: "throttled"}, {Index: 2}},
		Cases: []measure.Case{
			of("candidate", round(0, 10, 11, 12), round(1, 99), round(2, 20, 21, 22)),
			of("base", round(0, 30)),
			of("sdpa", round(0, 40), round(2, 41)),
		},
		Digest: "sha256:bb",
	}
	got, testbed, err := ratchet.SessionOf(run, "attention/S512", "candidate")
	if err != nil {
		t.Fatal(err)
	}
	want := ratchet.Session{
		Run: ratchet.RunRef{ID: "01J", Digest: "sha256:bb"}, Unit: "ns", Quantum: 32, Rounds: []float64{11, 21},
		References: []ratchet.Reference{{Name: "sdpa", Digest: "sha256:aa", Rounds: []float64{40, 41}}},
		Recipe:     "aa", Definition: "bb of candidate", Method: "v1 device hot trusted",
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if testbed.Key != bed("570").Key {
		t.Errorf("the testbed is %+v", testbed)
	}
	for _, missing := range [][2]string{{"attention/S512", "flash"}, {"attention/S1024", "candidate"}} {
		if _, _, err := ratchet.SessionOf(run, missing[0], missing[1]); err == nil {
			t.Errorf("%v has a session", missing)
		}
	}
}
