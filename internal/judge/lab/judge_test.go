package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/ratchet"
)

const reached = "testdata/reached.json"

// small is how many trials are enough to see that something broke.
const small = 200

// TestJudgeIsNoWorse holds the judge to what it has reached: pawl ratchets its own
// judge. The data are the same every time, so the counts are too. Who makes the judge
// better, or changes its policy on purpose, writes them anew with -update.
func TestJudgeIsNoWorse(t *testing.T) {
	got := map[string]Tally{}
	for _, shape := range Shapes {
		for _, spread := range []float64{typical, noisy} {
			for _, effect := range []float64{0, 0.04, 0.06, gain} {
				s := NewScene(shape, spread, effect)
				tallies, err := trials(t.Context(), small, Methods(ratchet.Default())[:1], func(trial uint64) Comparison { return s.Compare(1, trial) })
				if err != nil {
					t.Fatal(err)
				}
				got[fmt.Sprintf("%s, spread %s, effect %s", shape, percent(spread), percent(effect))] = tallies[0]
			}
		}
		s := NewScene(shape, typical, 0)
		tallies, err := count(t.Context(), small/20, 1, func(trial uint64, all []Tally) {
			all[0].add(suiteOutcome(ratchet.Default(), s.suite(1, trial, suiteCases), 0))
		})
		if err != nil {
			t.Fatal(err)
		}
		got[fmt.Sprintf("%s, suite of %d cases", shape, suiteCases)] = tallies[0]
	}
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]Tally
	if err := json.Unmarshal([]byte(golden.Stored(t, reached, string(text)+"\n")), &want); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Errorf("%d scenes, %d are in %s: run with -update", len(got), len(want), reached)
	}
	for name, w := range want {
		for _, worse := range got[name].worse(w) {
			t.Errorf("%s: %s", name, worse)
		}
	}
}

// worse tells in what a tally is worse than another of the same scene. Other
// processors round the last bit in another way, so a trial may go astray.
func (t Tally) worse(than Tally) []string {
	const astray = 1
	var list []string
	note := func(bad bool, what string, now, before int) {
		if bad {
			list = append(list, fmt.Sprintf("%s: %d of %d, before %d", what, now, t.Trials, before))
		}
	}
	if t.Trials != than.Trials {
		return []string{fmt.Sprintf("%d trials, before %d", t.Trials, than.Trials)}
	}
	claims, before := t.Regression+t.Improvement, than.Regression+than.Improvement
	if than.Nothing > than.Regression && than.Nothing > than.Improvement { // same code
		note(claims > before, "false claims", claims, before)
	} else {
		note(t.Regression < than.Regression-astray, "found", t.Regression, than.Regression)
		note(t.Improvement < than.Improvement-astray, "improvements found", t.Improvement, than.Improvement)
	}
	note(t.Abstains > than.Abstains+astray, "without an answer", t.Abstains, than.Abstains)
	note(t.Rounds > than.Rounds+than.Rounds/50, "rounds", t.Rounds, than.Rounds)
	return list
}

// Every part runs and finds its way into the page, with hardly any trials.
func TestEveryPartIsMeasured(t *testing.T) {
	o := Options{Seed: 1, Quick: true, Say: func(string) {}}
	n := sizes{grid: 3, methods: 2, curve: 2, suites: 10, stress: 2, machines: 2, worlds: 1, gates: 2, histories: 2}
	r, err := measureJudge(t.Context(), o, n)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Claims) != 93 {
		t.Errorf("%d promises, want 93", len(r.Claims))
	}
	for name, text := range map[string]string{
		"claims": r.ClaimTable(), "grid": r.GridTable(), "suite": r.SuiteTable(), "curse": r.CurseTable(), "stress": r.StressTable(), "machines": r.MachineTable(dependent),
		"Gaussian": r.MethodTable(Gaussian), "t3": r.MethodTable(T3), "bimodal": r.MethodTable(Bimodal),
	} {
		if lines := strings.Count(text, "\n"); lines < 6 {
			t.Errorf("the table of %s has %d lines:\n%s", name, lines, text)
		}
	}
	again, err := measureJudge(t.Context(), o, sizes{grid: 3, methods: 2, curve: 2, suites: 10, stress: 2, machines: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Rows, again.Rows); diff != "" {
		t.Errorf("the same seed gives other figures:\n%s", diff)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := measureJudge(stopped, o, n); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// The smallest of many numbers is the luckiest, and a baseline that is measured again
// has no luck.
func TestWinnersCurse(t *testing.T) {
	l := &judgeLab{Options: Options{Seed: 1, Say: func(string) {}}, sizes: sizes{worlds: 2, gates: 30}, policy: ratchet.Default(), report: &Report{}}
	if err := l.curses(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range l.report.Curses {
		failed := float64(c.Gates.Regression) / float64(c.Gates.Trials)
		switch {
		case c.Baseline == "best ever" && (c.Bias < 0.03 || failed < 0.4):
			t.Errorf("%+v: the naive baseline is not cursed", c)
		case c.Baseline != "best ever" && (math.Abs(c.Bias) > 0.01 || failed > 0.03 || c.Moved > 0):
			t.Errorf("%+v: want no bias and no failures", c)
		}
	}
}

// A change of 2 % in every case is detected for the suite, not for any single case.
func TestSuiteOutcome(t *testing.T) {
	slow := NewScene(Gaussian, 0.008, 0.02)
	s, _ := gate(ratchet.Default(), slow.suite(1, 1, suiteCases))
	if got := suiteOutcome(ratchet.Default(), slow.suite(1, 1, suiteCases), 0); got.Answer != Slower || s.Result.Counts[ratchet.Regression] > 0 {
		t.Errorf("%s, %d cases regressed", got.Answer, s.Result.Counts[ratchet.Regression])
	}
}

// A ratchet that cannot fail holds nothing.
func TestWorse(t *testing.T) {
	same := Tally{Trials: 200, Nothing: 199, Abstains: 1, Rounds: 1700}
	slow := Tally{Trials: 200, Regression: 199, Abstains: 1, Rounds: 2000}
	for _, test := range []struct {
		name        string
		now, before Tally
		want        int
	}{
		{"the same", same, same, 0},
		{"one accused", Tally{Trials: 200, Regression: 1, Nothing: 198, Abstains: 1, Rounds: 1700}, same, 1},
		{"two missed", Tally{Trials: 200, Regression: 197, Nothing: 2, Abstains: 1, Rounds: 2000}, slow, 1},
		{"more without an answer", Tally{Trials: 200, Nothing: 190, Abstains: 10, Rounds: 1700}, same, 1},
		{"more rounds", Tally{Trials: 200, Nothing: 199, Abstains: 1, Rounds: 1800}, same, 1},
		{"gone", Tally{}, same, 1},
	} {
		if got := test.now.worse(test.before); len(got) != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}
