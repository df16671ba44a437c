package simulate

import (
	"slices"

	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// Step is a session as it was played.
type Step struct {
	Top    string  // recommended first, before anything was tried
	Best   string  // truly best
	Gain   float64 // what Top truly gains
	Most   float64 // what Best truly gains
	Place  int     // of the fix with the poisoned lesson in the recommendation, from 0; -1 where it is no candidate
	Poison string  // that fix
	Below  bool    // it stands below the truly best one; also where it is no candidate

	Attempts []Attempt
}

// Attempt is a fix that was tried, with what had been expected of it.
type Attempt struct {
	Expected model.Ranked
	Outcome  model.Outcome
	Truth    float64
}

// Play lets an engineer work through sessions with the recommendations of a ranker: up to
// three attempts each, the first of what is left in four of five cases and another one
// otherwise. The ranker learns from each outcome at once.
func Play(w *World, ranker model.Ranker, sessions int) []Step {
	steps := make([]Step, 0, sessions)
	for range sessions {
		steps = append(steps, play(w.Session(), ranker))
	}
	return steps
}

func play(s Session, ranker model.Ranker) Step {
	step := ask(s, ranker)
	left := append([]model.Candidate(nil), s.Candidates...)
	for _, whim := range s.whims {
		if len(left) == 0 {
			break
		}
		ranked := ranker.Rank(left)
		choice := 0
		if others := len(ranked) - 1; !whim.follows && others > 0 {
			choice = 1 + int(whim.other*float64(others))
		}
		chosen := ranked[choice]
		outcome := s.Try(chosen.Fix)
		ranker.Learn(outcome)
		step.Attempts = append(step.Attempts, Attempt{chosen, outcome, s.truth[chosen.Fix]})
		left = without(left, chosen.Fix)
	}
	return step
}

// ask is what a ranker recommends in a session, without trying anything.
func ask(s Session, ranker model.Ranker) Step {
	ranked := ranker.Rank(s.Candidates)
	step := Step{Top: ranked[0].Fix, Best: s.Best(), Place: -1, Below: true}
	step.Gain, step.Most = s.truth[step.Top], s.truth[step.Best]
	best := false
	for i, r := range ranked {
		best = best || r.Fix == step.Best
		if Poisoned(r.Candidate) {
			step.Place, step.Poison, step.Below = i, r.Fix, best && r.Fix != step.Best
		}
	}
	return step
}

// Poisoned tells of a candidate that the poisoned lesson speaks for.
func Poisoned(c model.Candidate) bool {
	return slices.ContainsFunc(c.Claims, func(c model.Claim) bool { return c.Lesson == PoisonedLesson })
}

func without(all []model.Candidate, fix string) []model.Candidate {
	var left []model.Candidate
	for _, c := range all {
		if c.Fix != fix {
			left = append(left, c)
		}
	}
	return left
}

// Examine asks a ranker about sessions that it does not learn from. What it expects of
// every candidate counts as an attempt.
func Examine(w *World, ranker model.Ranker, questions int) []Step {
	steps := make([]Step, 0, questions)
	for n := range questions {
		s := w.Probe(n)
		step := ask(s, ranker)
		for _, r := range ranker.Rank(s.Candidates) {
			step.Attempts = append(step.Attempts, Attempt{r, s.Try(r.Fix), s.truth[r.Fix]})
		}
		steps = append(steps, step)
	}
	return steps
}

// Score is how good recommendations were.
type Score struct {
	Sessions int     `json:"sessions"`
	Right    float64 `json:"right"`    // share in which the top is the truly best
	Regret   float64 `json:"regret"`   // mean of what the best would have gained more
	Tries    int     `json:"tries"`    // attempts
	Coverage float64 `json:"coverage"` // share of attempts whose true gain lay in the interval
}

// Judge scores steps.
func Judge(steps []Step) Score {
	s := Score{Sessions: len(steps)}
	inside := 0
	for _, step := range steps {
		if step.Top == step.Best {
			s.Right++
		}
		s.Regret += step.Most - step.Gain
		for _, a := range step.Attempts {
			s.Tries++
			if a.Expected.Low <= a.Truth && a.Truth <= a.Expected.High {
				inside++
			}
		}
	}
	if s.Sessions > 0 {
		s.Right /= float64(s.Sessions)
		s.Regret /= float64(s.Sessions)
	}
	if s.Tries > 0 {
		s.Coverage = float64(inside) / float64(s.Tries)
	}
	return s
}
