package doctor

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// Gate is the judge's verdict on the same code on both sides, measured on this machine, and on a
// side that was slowed down: it ran 17 times for every 16 runs that were counted.
type Gate struct {
	Rounds   int        `json:"rounds"`
	Slowdown float64    `json:"slowdown"`
	Cases    []GateCase `json:"cases"`
	// SameCodePasses means that no case of the same code was called a regression; Fails that the slowdown
	// was called one in every gated case.
	SameCodePasses bool `json:"passes"`
	SlowdownFails  bool `json:"fails"`
}

// GateCase is one case of a Gate.
type GateCase struct {
	Case    string          `json:"case"`
	Same    ratchet.Verdict `json:"same_code"`
	Slow    ratchet.Verdict `json:"slowed_down"`
	Planted bool            `json:"planted"` // the slowdown was run, not computed
	Rounds  int             `json:"rounds"`
	Spread  float64         `json:"spread"`
	// Detectable is the smallest change that so many rounds find 19 times in 20.
	Detectable float64 `json:"detectable"`
	Sentence   string  `json:"sentence"`
}

// GateEvidence returns the evidence of a run of the candidate against itself: unchanged, and of the
// side that was slowed down.
func GateEvidence(run *measure.Run) (same, slow []ratchet.Evidence) {
	runs := []*measure.Run{run}
	same = ratchet.Gather(runs, runs, suite.Base, suite.Candidate)
	same = slices.DeleteFunc(same, func(e ratchet.Evidence) bool { return !e.Gate })
	planted := map[string]ratchet.Evidence{}
	for _, e := range ratchet.Gather(runs, runs, suite.Base, runner.SlowedSide) {
		planted[e.Case.Name()] = e
	}
	for _, e := range same {
		if p, ok := planted[e.Case.Name()]; ok && p.HasCandidate && p.CandidateError == "" {
			slow = append(slow, p)
			continue
		}
		e.Candidate = slowed(e.Candidate, e.Better)
		slow = append(slow, e)
	}
	return same, slow
}

// slowed multiplies samples, for a harness that cannot do more runs than are counted.
func slowed(rounds []ratchet.Round, better measure.Better) []ratchet.Round {
	factor := 1 + trial.Slowdown
	if better == measure.Higher {
		factor = 1 / factor
	}
	var out []ratchet.Round
	for _, r := range rounds {
		r.Sorted = slices.Clone(r.Sorted)
		for i := range r.Sorted {
			r.Sorted[i] *= factor
		}
		r.Turns = slices.Clone(r.Turns)
		for i := range r.Turns {
			r.Turns[i] *= factor
		}
		r.Median *= factor
		r.Cycles *= factor
		out = append(out, r)
	}
	return out
}

// Undecided returns the cases that need more rounds for either question.
func Undecided(p ratchet.Policy, run *measure.Run) []string {
	same, slow := GateEvidence(run)
	return ratchet.MoreRounds(p, same, slow)
}

// NewGate judges the same code and the slowdown of a run.
func NewGate(p ratchet.Policy, run *measure.Run) Gate {
	same, slow := GateEvidence(run)
	pass, fail := ratchet.Judge(p, same), ratchet.Judge(p, slow)
	g := Gate{Slowdown: trial.Slowdown, SameCodePasses: len(same) > 0, SlowdownFails: len(same) > 0}
	for i, c := range pass.Cases {
		gc := GateCase{Case: c.Name, Same: c.Verdict, Slow: fail.Cases[i].Verdict, Planted: slow[i].Case.Implementation == runner.SlowedSide, Sentence: c.Sentence}
		if c.Facts != nil {
			gc.Rounds, gc.Spread, gc.Detectable = c.Facts.Rounds, c.Facts.Spread, c.Facts.Detectable
		}
		g.Rounds = max(g.Rounds, gc.Rounds)
		g.SameCodePasses = g.SameCodePasses && c.Verdict != ratchet.Regression
		g.SlowdownFails = g.SlowdownFails && fail.Cases[i].Verdict == ratchet.Regression
		g.Cases = append(g.Cases, gc)
	}
	if pass.Suite != nil && pass.Suite.Verdict == ratchet.Regression {
		g.SameCodePasses = false
	}
	return g
}

// Words explains the verdicts in plain words.
func (g Gate) Words() []string {
	var list []string
	missed, open, computed := 0, 0, 0
	spreads := []float64{}
	for _, c := range g.Cases {
		if c.Slow != ratchet.Regression {
			missed++
		}
		if c.Same == ratchet.Inconclusive {
			open++
		}
		if !c.Planted {
			computed++
		}
		spreads = append(spreads, c.Spread)
	}
	if g.SameCodePasses {
		list = append(list, fmt.Sprintf("it can pass: the same code on both sides is not a regression, in %d rounds", g.Rounds))
	} else {
		list = append(list, "it cannot be trusted here: the same code on both sides was called a regression; run it again, and if that repeats, something on this machine favors one side")
	}
	if g.SlowdownFails {
		list = append(list, fmt.Sprintf("it can fail: a slowdown of %.0f %% is found in every case", 100*g.Slowdown))
	} else {
		list = append(list, fmt.Sprintf("it cannot fail here: a slowdown of %.0f %% is missed in %d of %d cases; rounds differ by %.1f %% (median); lock the clocks or use a quieter machine", 100*g.Slowdown, missed, len(g.Cases), 100*stats.Median(spreads)))
	}
	if computed > 0 {
		list = append(list, fmt.Sprintf("in %d of %d cases the slowdown was computed, not run: their harness decides how many runs a sample has", computed, len(g.Cases)))
	}
	if open > 0 {
		list = append(list, fmt.Sprintf("%d of %d cases have no answer for the same code: such changes would end with exit code 2", open, len(g.Cases)))
	}
	return list
}
