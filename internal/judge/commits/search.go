package commits

import (
	"context"
	"fmt"
	"math/bits"
)

// Answer is what is known about a commit.
type Answer string

// The answers.
const (
	Fine    Answer = "fine"    // not slower than the commit that it was measured beside
	Slower  Answer = "slower"  // slower
	Skipped Answer = "skipped" // no answer, or it could not be measured
)

// Case is a case that got slower. Changes are relative: 0.042 is 4.2 % more time.
type Case struct {
	Name   string  `json:"name"`
	Change float64 `json:"change"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Step is one commit measured beside another.
type Step struct {
	Commit  string `json:"commit"`
	Base    string `json:"base"`
	Confirm bool   `json:"confirm,omitempty"` // the last step, beside the parent
	Answer  Answer `json:"answer"`
	Why     string `json:"why,omitempty"` // why it was skipped
	Rounds  int    `json:"rounds"`
	Slower  []Case `json:"slower,omitempty"` // the worst first
}

// Judge measures a commit beside a base. cases limits it to some cases; nil means all.
type Judge func(ctx context.Context, commit, base string, cases []string) (Step, error)

// Search describes a bisection.
type Search struct {
	Commits []string // oldest first; the first is good, the last is slower
	Known   []Step   // steps of an earlier process, in order
	Judge   Judge
	Began   func(s Step, position string) // called before a step is measured
	Ended   func(Step) error              // called after it
}

// Result is the outcome of a bisection.
type Result struct {
	// Culprit is the commit that made Case slower; empty if it is one of several, or if the last commit is not slower.
	Culprit string   `json:"culprit,omitempty"`
	Certain bool     `json:"certain"` // confirmed in fresh rounds beside its parent
	Why     string   `json:"why,omitempty"`
	Case    string   `json:"case,omitempty"`    // the case that was followed: the one that got slower most
	Slower  *Case    `json:"slower,omitempty"`  // by how much, beside the parent
	Also    []string `json:"also,omitempty"`    // other cases that this commit made slower
	Other   []string `json:"other,omitempty"`   // cases that got slower by other commits
	Good    string   `json:"good,omitempty"`    // the last commit that is not slower
	Suspect []string `json:"suspect,omitempty"` // the commits after it, up to the first one that is slower
	Steps   []Step   `json:"steps"`
	Rounds  int      `json:"rounds"` // of all steps
}

// Gates returns how many gates a search among n commits takes, if none is skipped.
func Gates(n int) int { return 2 + bits.Len(uint(max(n-1, 0))) }

// Run searches. It returns what is known so far also with an error.
func (s Search) Run(ctx context.Context) (Result, error) {
	var r Result
	last := len(s.Commits) - 1
	if last < 1 {
		return r, fmt.Errorf("there is no commit between the good and the slower one")
	}
	first, err := s.step(ctx, &r, Step{Commit: s.Commits[last], Base: s.Commits[0]}, nil, "the last commit")
	if err != nil {
		return r, err
	}
	if first.Answer != Slower {
		r.Why = "the last commit is not slower than the good one"
		if first.Answer == Skipped {
			r.Why = "the last commit has no answer beside the good one: " + first.Why
		}
		return r, nil
	}
	r.Case = first.Slower[0].Name
	good, bad, err := s.narrow(ctx, &r)
	if err != nil {
		return r, err
	}
	r.Good, r.Suspect = s.Commits[good], s.Commits[good+1:bad+1]
	return r, s.confirm(ctx, &r, first)
}

// narrow measures commits until none between the last good and the first slower one can be measured.
func (s Search) narrow(ctx context.Context, r *Result) (good, bad int, err error) {
	answers := make([]Answer, len(s.Commits))
	answers[0], answers[len(answers)-1] = Fine, Slower
	for {
		good, bad = ends(answers)
		i, ok := next(answers, good, bad)
		if !ok {
			return good, bad, nil
		}
		position := fmt.Sprintf("commit %d of %d, %d left", i, len(answers)-1, bad-good)
		step, err := s.step(ctx, r, Step{Commit: s.Commits[i], Base: s.Commits[0]}, []string{r.Case}, position)
		if err != nil {
			return good, bad, err
		}
		answers[i] = step.Answer
	}
}

// confirm measures what is left beside the last good commit, in fresh rounds, with all cases that got slower.
func (s Search) confirm(ctx context.Context, r *Result, first Step) error {
	var names []string
	for _, c := range first.Slower {
		names = append(names, c.Name)
	}
	bad := r.Suspect[len(r.Suspect)-1]
	step, err := s.step(ctx, r, Step{Commit: bad, Base: r.Good, Confirm: true}, names, "confirming")
	if err != nil {
		return err
	}
	found := map[string]Case{}
	for _, c := range step.Slower {
		found[c.Name] = c
	}
	for _, name := range names {
		c, ok := found[name]
		switch {
		case name == r.Case && ok:
			r.Slower = &c
		case ok:
			r.Also = append(r.Also, name)
		case name != r.Case:
			r.Other = append(r.Other, name)
		}
	}
	if len(r.Suspect) == 1 {
		r.Culprit = bad
	}
	switch {
	case r.Slower == nil && step.Answer == Skipped:
		r.Why = "fresh rounds beside its parent have no answer: " + step.Why
	case r.Slower == nil:
		r.Why = "in fresh rounds it is not slower than its parent: the slowdown may be the sum of several commits"
	case r.Culprit == "":
		r.Why = "the commits between could not be measured"
	default:
		r.Certain = true
	}
	return nil
}

// step returns a known step, or measures it.
func (s Search) step(ctx context.Context, r *Result, want Step, cases []string, position string) (Step, error) {
	if n := len(r.Steps); n < len(s.Known) {
		if k := s.Known[n]; k.Commit == want.Commit && k.Base == want.Base && k.Confirm == want.Confirm {
			r.add(k)
			return k, nil
		}
	}
	s.Began(want, position)
	got, err := s.Judge(ctx, want.Commit, want.Base, cases)
	if err != nil {
		return got, err
	}
	got.Commit, got.Base, got.Confirm = want.Commit, want.Base, want.Confirm
	r.add(got)
	return got, s.Ended(got)
}

func (r *Result) add(s Step) {
	r.Steps = append(r.Steps, s)
	r.Rounds += s.Rounds
}

// ends returns the last good commit before the first slower one, and that one.
func ends(answers []Answer) (good, bad int) {
	for answers[bad] != Slower {
		if answers[bad] == Fine {
			good = bad
		}
		bad++
	}
	return good, bad
}

// next returns the commit without an answer that is nearest to the middle.
func next(answers []Answer, good, bad int) (int, bool) {
	best, found := 0, false
	distance := func(i int) int { return max(2*i-good-bad, good+bad-2*i) }
	for i := good + 1; i < bad; i++ {
		if answers[i] == "" && (!found || distance(i) < distance(best)) {
			best, found = i, true
		}
	}
	return best, found
}
