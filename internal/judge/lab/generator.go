package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Spreads are the spreads between rounds that are measured, as standard deviations.
var Spreads = []float64{0.003, 0.008, 0.015, 0.025}

// typical is the spread at which methods are compared; noisy is that of a bad machine.
const (
	typical = 0.015
	noisy   = 0.025
	gain    = -0.12 // effect of a change that is large enough for a claim
)

// generator measures corpus c.
func (l *judgeLab) generator(ctx context.Context) error {
	for _, part := range []func(context.Context) error{l.grid, l.machineNoise, l.sideBySide, l.suiteRuns, l.stresses, l.storedSides, l.curses, l.creeps, l.speed} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// grid measures pawl alone, with the full number of trials.
func (l *judgeLab) grid(ctx context.Context) error {
	for _, shape := range Shapes {
		for _, spread := range Spreads {
			for _, effect := range []float64{0, 0.04, 0.06} {
				if err := l.scene(ctx, Generated, "", NewScene(shape, spread, effect), l.sizes.grid, Methods(l.policy)[:1]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sideBySide measures all other methods on the typical machine. The same seeds give the same data.
func (l *judgeLab) sideBySide(ctx context.Context) error {
	for _, shape := range Shapes {
		for _, effect := range []float64{gain, 0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.10} {
			methods, n := Methods(l.policy), l.methods
			if effect == 0 || effect == 0.04 || effect == 0.06 {
				methods = methods[1:] // the grid already has pawl's row
			} else if n = l.curve; shape != Gaussian {
				continue
			}
			if err := l.scene(ctx, Generated, "", NewScene(shape, typical, effect), n, methods); err != nil {
				return err
			}
		}
	}
	for _, spread := range []float64{0.003, 0.008, noisy} { // how the rounds grow with the effect
		for _, effect := range []float64{0.01, 0.02, 0.03, 0.05, 0.08, 0.10} {
			if err := l.scene(ctx, Generated, "", NewScene(Gaussian, spread, effect), l.curve, Methods(l.policy)[:1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *judgeLab) scene(ctx context.Context, corpus, note string, s Scene, n int, methods []Method) error {
	like := Row{Corpus: corpus, Note: note, Shape: s.Shape, Spread: s.Spread, Effect: s.Effect}
	return l.add(ctx, like, n, methods, func(trial uint64) Comparison { return s.Compare(l.Seed, trial) })
}

// suiteCases is the number of cases in a suite run: three values of three parameters. largeSuite is that
// of a large run, in some of which slowCases are slowed down.
const (
	suiteCases = 27
	largeSuite = 1000
	slowCases  = 5
)

// suiteRun is a kind of run of a whole suite.
type suiteRun struct {
	Scene
	cases, slow int           // number of cases, and how many of them are 5 % slower
	share       int           // the number of trials is divided by this
	pledge      *suitePromise // nil if nothing is promised
}

// suiteKinds are the kinds of suite runs that are measured.
var suiteKinds = []suiteRun{
	{NewScene(Gaussian, typical, 0), suiteCases, 0, 1, noFalseAlarm},
	{NewScene(T3, typical, 0), suiteCases, 0, 1, noFalseAlarm},
	{NewScene(Bimodal, typical, 0), suiteCases, 0, 1, noFalseAlarm},
	{NewScene(Gaussian, typical, 0.02), suiteCases, 0, 10, nil}, // below the limit of each case, above that of the suite
	{correlatedScene, suiteCases, 0, 2, passes(0.01)},
	{correlatedScene, largeSuite, 0, 20, passes(0.05)},
	{correlatedScene, largeSuite, slowCases, 20, &suitePromise{"%s: all of them named", 0.95, true, func(t Tally) int { return t.Regression }}},
}

// correlatedScene is a machine whose noise largely affects all cases at once.
var correlatedScene = func() Scene {
	s := NewScene(Gaussian, noisy, 0)
	s.Alike = 0.5
	return s
}()

var noFalseAlarm = &suitePromise{"any false alarm in %s", 0.01, false, func(t Tally) int { return t.Regression + t.Improvement }}

func passes(most float64) *suitePromise {
	return &suitePromise{"%s: fails, or has no answer", most, false, func(t Tally) int { return t.Trials - t.Nothing }}
}

func (r suiteRun) note() string {
	text := thousands(r.cases) + " cases"
	if r.Alike > 0 {
		text += fmt.Sprintf(" alike by %g", r.Alike)
	}
	if r.slow > 0 {
		text += fmt.Sprintf(", %d of them 5 %% slower", r.slow)
	}
	return text
}

// compare generates the cases of a run.
func (r suiteRun) compare(seed, trial uint64) []Comparison {
	list := r.suite(seed, trial, r.cases)
	for _, c := range list[:r.slow] {
		if g, ok := c.(*generated); ok {
			g.Effect = 0.05
		}
	}
	return list
}

// suiteRuns measures runs of a whole suite. A false alarm in any case counts.
func (l *judgeLab) suiteRuns(ctx context.Context) error {
	for _, run := range suiteKinds {
		n := max(l.suites/run.share, 1)
		like := Row{Corpus: Suite, Method: onUnknown, Note: run.note(), Shape: run.Shape, Spread: run.Spread, Effect: run.Effect}
		l.Say(fmt.Sprintf("suite of %s, %s %s, effect %s: %d runs", like.Note, run.Shape, percent(run.Spread), percent(run.Effect), n))
		tallies, err := count(ctx, n, 1, func(trial uint64, t []Tally) {
			t[0].add(suiteOutcome(l.policy, run.compare(l.Seed, trial), run.slow))
		})
		if err != nil {
			return err
		}
		like.Tally = tallies[0]
		l.report.Rows = append(l.report.Rows, like)
	}
	return nil
}

// suiteOutcome returns the worst answer of a run about any case or the whole suite, with the mean number
// of rounds per case. If cases are slowed down, a regression counts only if all of them are named: as a
// regression, or as a case without an answer that keeps the run from passing.
func suiteOutcome(p ratchet.Policy, cases []Comparison, slow int) Outcome {
	s, rounds := gate(p, cases)
	out := Outcome{Nothing, (rounds + len(cases)/2) / len(cases)}
	said := func(v ratchet.Verdict) bool {
		return s.Result.Counts[v] > 0 || s.Result.Suite != nil && s.Result.Suite.Verdict == v
	}
	all := true
	for _, c := range s.Result.Cases[:slow] {
		all = all && (c.Verdict == ratchet.Regression || c.Verdict == ratchet.Inconclusive && !slices.Contains(s.Result.Undecided, c.Name))
	}
	switch {
	case said(ratchet.Regression) && all:
		out.Answer = Slower
	case said(ratchet.Improvement):
		out.Answer = Faster
	case s.Result.Verdict == ratchet.Inconclusive || slow > 0 && s.Result.Verdict == ratchet.Regression:
		out.Answer = Abstains
	}
	return out
}

// stresses measures machines that violate the judge's assumptions.
func (l *judgeLab) stresses(ctx context.Context) error {
	for _, stress := range []struct {
		note   string
		change func(*Scene)
	}{
		{"the machine slows down by 10 % over the run", func(s *Scene) { s.Drift = 0.10 }},
		{"a kernel of 60 us and a timer of 1 us", func(s *Scene) { s.Value = 60e3; s.Spread = 0.003 }},
		{"rounds that hardly differ, on the same timer", func(s *Scene) { s.Value = 60e3; s.Spread, s.Machine = 0.0005, 0 }},
		{"two speeds 12 % apart, chosen at every start", func(s *Scene) { s.Shape, s.Spread = Bimodal, 0.06 }},
	} {
		for _, effect := range []float64{0, 0.06} {
			s := NewScene(Gaussian, typical, effect)
			stress.change(&s)
			if err := l.scene(ctx, Stress, stress.note, s, l.stress, Methods(l.policy)[:1]); err != nil {
				return err
			}
		}
	}
	// As far apart as recorded sessions: stored baselines must cope with that.
	for _, effect := range []float64{0, 0.06, 0.20} {
		s := NewScene(Gaussian, typical, effect)
		s.Session = 0.05
		if err := l.scene(ctx, Stress, "sessions 5 % apart, as recorded", s, l.stress/2, Methods(l.policy)[1:3]); err != nil {
			return err
		}
	}
	return nil
}
