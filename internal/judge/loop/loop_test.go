package loop_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// sides makes evidence of rounds in which the candidate takes so much longer; the
// rounds wobble by the spread, up and down in turn.
func sides(name string, rounds int, effect, spread float64) ratchet.Evidence {
	e := ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: name, Implementation: measure.Candidate}, Unit: "ns", Gate: true,
		Paired: true, HasBase: true, HasCandidate: true,
	}
	for i := range rounds {
		wobble := spread * float64(1-2*(i%2))
		round := func(median float64) ratchet.Round {
			return ratchet.NewRound(measure.CaseRound{Round: i, Quantum: 1, Samples: measure.Samples{median * 0.99, median, median * 1.01}}, "one")
		}
		e.Base = append(e.Base, round(1e5))
		e.Candidate = append(e.Candidate, round(1e5*(1+effect)*(1+wobble)))
	}
	return e
}

// drive runs the machine with a driver that has made-up rounds, and tells what it
// did.
func drive(t *testing.T, p loop.Plan, effect, spread, gain float64) (loop.State, []string) {
	t.Helper()
	s := loop.Start(p)
	var did []string
	for range 50 {
		a := loop.Next(s)
		if a == nil {
			return s, did
		}
		var o loop.Outcome = loop.Finished{}
		word := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", a), "loop."))
		switch a := a.(type) {
		case loop.Build:
			o = loop.Built{}
		case loop.Preflight, loop.Check:
			o = loop.Staged{}
		case loop.Measure:
			word += fmt.Sprint(a.Rounds)
			l := loop.Looked{Change: []ratchet.Evidence{sides("k", a.Rounds, effect, spread)}}
			if gain != 0 {
				l.Gain = []ratchet.Evidence{sides("k", a.Rounds, -gain, spread)}
			}
			o = l
		case loop.Confirm:
			word += fmt.Sprint(a.Rounds, a.Cases)
			o = loop.Confirmed{Gain: []ratchet.Evidence{sides("k", a.Rounds, -gain, spread)}}
		case loop.UpdateLedger:
			word += fmt.Sprint(a.Move)
		}
		did = append(did, word)
		var err error
		if s, err = loop.Apply(s, o); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the loop does not end")
	return s, nil
}

func TestPaths(t *testing.T) {
	plain := loop.Plan{Policy: ratchet.Default()}
	kept := loop.Plan{Policy: ratchet.Default(), Ledger: true, Main: true}
	everything := loop.Plan{Policy: ratchet.Default(), Ledger: true, Main: true, Preflight: true, Check: true, Profile: 3}
	for _, test := range []struct {
		name                 string
		plan                 loop.Plan
		effect, spread, gain float64
		want                 string
		verdict              ratchet.Verdict
	}{
		{"same code is decided at the first look", plain, -0.01, 0.001, 0, "build measure4 report", ratchet.Maintained},
		{"a clear slowdown soon", plain, 0.2, 0.001, 0, "build measure4 measure6 report", ratchet.Regression},
		{"noise asks for more", plain, 0, 0.03, 0, "build measure4 measure6 measure8 measure12 report", ratchet.Maintained},
		{"much noise is no answer", plain, 0, 0.2, 0, "build measure4 measure6 measure8 measure12 measure16 measure24 measure32 measure48 measure64 report", ratchet.Inconclusive},
		{"a gain on a branch is not recorded", plain, -0.2, 0.001, 0.2, "build measure4 measure6 report", ratchet.Improvement},
		{"on main it is confirmed by fresh rounds", kept, -0.2, 0.001, 0.2, "build measure4 measure6 confirm6 [k] updateledger[k] report", ratchet.Improvement},
		{"without a gain the baseline's session is kept", kept, -0.01, 0.001, 0.001, "build measure4 measure6 updateledger[] report", ratchet.Maintained},
		{"checks alone", loop.Plan{Policy: ratchet.Default(), Preflight: true, Check: true, CheckOnly: true}, 0, 0, 0, "build preflight check report", ratchet.Inconclusive},
		{"all steps", everything, -0.2, 0.001, 0.2, "build preflight check measure4 measure6 confirm6 [k] updateledger[k] profile report", ratchet.Improvement},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, did := drive(t, test.plan, test.effect, test.spread, test.gain)
			if diff := cmp.Diff(test.want, strings.Join(did, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if s.Verdict() != test.verdict {
				t.Errorf("%s, want %s: %s", s.Verdict(), test.verdict, s.Result.Sentence)
			}
		})
	}
}

// A stop before measuring is the answer: nothing is measured any more.
func TestStagesStop(t *testing.T) {
	plan := loop.Plan{Policy: ratchet.Default(), Preflight: true, Check: true}
	stop := func(step loop.Step) loop.Stage {
		return loop.Stage{Step: step, Answer: loop.Stop, Line: "no", Detail: []string{"element 3 is off by 0.2"}}
	}
	for _, outcomes := range [][]loop.Outcome{
		{loop.Built{}, loop.Staged{Stage: stop(loop.Examining)}},
		{loop.Built{}, loop.Staged{}, loop.Staged{Stage: stop(loop.Checking)}},
	} {
		s := loop.Start(plan)
		for _, o := range outcomes {
			var err error
			if s, err = loop.Apply(s, o); err != nil {
				t.Fatal(err)
			}
		}
		if s.Verdict() != ratchet.Broken || s.Step != loop.Reporting || !strings.Contains(s.Stopped.Why, "off by 0.2") {
			t.Errorf("%s at %s: %+v", s.Verdict(), s.Step, s.Stopped)
		}
	}
}

func TestFailures(t *testing.T) {
	for side, want := range map[string]ratchet.Verdict{
		measure.Candidate: ratchet.Broken, measure.Base: ratchet.Inconclusive, "": ratchet.Inconclusive,
	} {
		s, err := loop.Apply(loop.Start(loop.Plan{Policy: ratchet.Default()}), loop.Failed{Side: side, Why: "cc: error"})
		if err != nil || s.Verdict() != want || s.Step != loop.Reporting {
			t.Errorf("%q failed: %s at %s, %v; want %s, and a report", side, s.Verdict(), s.Step, err, want)
		}
	}
}

func TestDriftFailsOnlyStrictly(t *testing.T) {
	for strict, want := range map[bool]ratchet.Verdict{false: ratchet.Maintained, true: ratchet.Regression} {
		p := ratchet.Default()
		p.Strict = strict
		s := loop.State{Plan: loop.Plan{Policy: p}, Step: loop.Measuring}
		s, err := loop.Apply(s, loop.Looked{
			Change: []ratchet.Evidence{sides("k", 8, -0.01, 0.001)}, Drift: []ratchet.Evidence{sides("k", 8, 0.2, 0.001)}, Over: true,
		})
		if err != nil || s.Verdict() != want || s.Drift.Verdict != ratchet.Regression {
			t.Errorf("strict %t: %s, %v; want %s", strict, s.Verdict(), err, want)
		}
	}
}

// On main, losses that add up to the limit fail; on a branch they are told. What was measured in other sessions
// fails nothing.
func TestDriftOnMain(t *testing.T) {
	apart := sides("k", 8, 0.2, 0.001)
	apart.Paired, apart.Stored = false, true
	for _, test := range []struct {
		name string
		main bool
		gain ratchet.Evidence
		want ratchet.Verdict
	}{
		{"slower than the baseline", true, sides("k", 8, 0.2, 0.001), ratchet.Regression},
		{"on a branch", false, sides("k", 8, 0.2, 0.001), ratchet.Maintained},
		{"not slower than the baseline", true, sides("k", 8, 0, 0.001), ratchet.Maintained},
		{"slower than stored sessions", true, apart, ratchet.Maintained},
	} {
		s := loop.State{Plan: loop.Plan{Policy: ratchet.Default(), Main: test.main}, Step: loop.Measuring}
		s, err := loop.Apply(s, loop.Looked{Change: []ratchet.Evidence{sides("k", 8, 0.005, 0.001)}, Gain: []ratchet.Evidence{test.gain}, Over: true})
		if err != nil || s.Verdict() != test.want || (s.Drifted() != nil) != (test.want == ratchet.Regression) {
			t.Errorf("%s: %s, %v; want %s", test.name, s.Verdict(), err, test.want)
		}
	}
}

// Whatever happens, a run ends, refuses what does not fit, and survives being
// written down at any moment.
func TestEveryRunEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := loop.Start(loop.Plan{
			Policy: ratchet.Default(), Main: rapid.Bool().Draw(t, "main"), Ledger: rapid.Bool().Draw(t, "ledger"),
			Preflight: rapid.Bool().Draw(t, "preflight"), Check: rapid.Bool().Draw(t, "check"), Profile: rapid.IntRange(0, 4).Draw(t, "profile"),
		})
		steps := 0
		for loop.Next(s) != nil {
			if steps++; steps > 20 {
				t.Fatalf("still at %s after %d steps", s.Step, steps)
			}
			effect := rapid.Float64Range(-0.3, 0.3).Draw(t, "effect")
			spread := math.Abs(rapid.Float64Range(-0.1, 0.1).Draw(t, "spread"))
			answer := rapid.SampledFrom([]loop.StageStatus{loop.Pass, loop.Warn, loop.Stop, loop.Skipped}).Draw(t, "answer")
			stage := loop.Stage{Step: s.Step, Answer: answer}
			var fits loop.Outcome = loop.Finished{}
			switch a := loop.Next(s).(type) {
			case loop.Build:
				fits = loop.Built{}
			case loop.Preflight, loop.Check:
				fits = loop.Staged{Stage: stage}
			case loop.Measure:
				fits = loop.Looked{
					Change: []ratchet.Evidence{sides("k", a.Rounds, effect, spread)},
					Gain:   []ratchet.Evidence{sides("k", a.Rounds, effect, spread)}, Over: rapid.Bool().Draw(t, "over"),
				}
			case loop.Confirm:
				fits = loop.Confirmed{Gain: []ratchet.Evidence{sides("k", a.Rounds, effect, spread)}}
			}
			if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
				fits = loop.Failed{Why: "no reason"}
			}
			data, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var back loop.State
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s, back); diff != "" {
				t.Fatalf("written down and read again (-before +after)\n%s", diff)
			}
			if s, err = loop.Apply(back, fits); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := loop.Apply(s, loop.Finished{}); err == nil {
			t.Fatal("a run that is over took another outcome")
		}
	})
}

// What is profiled is chosen by the loop: losses that fail the change, then those that
// are only watched, then gains; a case once, and no more than the plan allows.
func TestWhatIsProfiled(t *testing.T) {
	judged := func(name, metric string, v ratchet.Verdict, gate bool, change float64) ratchet.Judgment {
		key := measure.CaseKey{Benchmark: name, Metric: metric, Implementation: measure.Candidate}
		return ratchet.Judgment{Name: key.Name(), CaseKey: key, Verdict: v, Gate: gate, Facts: &ratchet.Facts{Change: change}}
	}
	s := loop.Start(loop.Plan{Policy: ratchet.Default(), Profile: 5})
	s.Step = loop.Profiling
	s.Result = &ratchet.Result{Cases: []ratchet.Judgment{
		judged("kept", "", ratchet.Maintained, true, 0.01),
		judged("gain", "", ratchet.Improvement, true, -0.5),
		judged("small", "", ratchet.Regression, true, 0.04),
		judged("watched", "", ratchet.Regression, false, 3),
		judged("large", "", ratchet.Regression, true, 0.4),
		judged("large", "gflops", ratchet.Regression, true, -0.3),
	}}
	for most, want := range [][]string{nil, {"large"}, {"large", "small"}, {"large", "small", "watched"}, {"large", "small", "watched", "gain"}, {"large", "small", "watched", "gain"}} {
		s.Plan.Profile = most
		got, _ := loop.Next(s).(loop.Profile)
		if diff := cmp.Diff(want, got.Cases); diff != "" {
			t.Errorf("at most %d (-want +got):\n%s", most, diff)
		}
	}
}
