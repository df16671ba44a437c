package commits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// accepted is why changed definitions do not stop a bisect: an old commit may have had others, and its
// author is not the one who asks.
const accepted = "a bisect measures both commits with the definitions of the later one"

// Gate judges commits of a repository with the loop of pawl run.
type Gate struct {
	Repo    *build.Repository
	Inside  string // folder of the suite in the repository
	Options runner.Options
}

// Judge measures a commit beside a base, once more if there was no answer.
func (g Gate) Judge(ctx context.Context, commit, base string, cases []string) (Step, error) {
	s, retry, err := g.judge(ctx, commit, base, cases)
	if err != nil || !retry {
		return s, err
	}
	rounds := s.Rounds
	s, _, err = g.judge(ctx, commit, base, cases)
	s.Rounds += rounds
	return s, err
}

// judge runs one gate. retry means that more rounds may find an answer.
func (g Gate) judge(ctx context.Context, commit, base string, cases []string) (s Step, retry bool, err error) {
	o, remove, err := g.checkout(ctx, commit)
	if err != nil {
		return s, false, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if o.Suite, err = suite.Load(filepath.Join(o.Dir, o.Path)); err != nil {
		return Step{Answer: Skipped, Why: sentence("its suite cannot be read: " + err.Error())}, false, nil
	}
	o.Base, o.Names, o.Accepted = base, cases, accepted
	out, err := runner.RunGate(ctx, runner.Gate{Options: o, Plan: loop.Plan{Policy: o.Suite.JudgePolicy()}, Report: func(runner.Outcome) error { return nil }})
	if err != nil {
		return s, false, err
	}
	s, retry = conclude(out.State, cases)
	if out.Run != nil {
		s.Rounds = len(out.Run.Rounds)
	}
	return s, retry, nil
}

// checkout returns the options for measuring a commit, which is checked out until remove is called.
func (g Gate) checkout(ctx context.Context, commit string) (o runner.Options, remove func() error, err error) {
	tree, err := g.Repo.Checkout(ctx, commit)
	if err != nil {
		return o, nil, err
	}
	o = g.Options
	o.Dir, o.Seed = filepath.Join(tree.Dir, g.Inside), runner.RandomSeed()
	return o, func() error { return tree.Remove(ctx) }, nil
}

// conclude makes an answer of a gate: slower if any of the cases is, fine if all are. cases may be empty for all.
func conclude(state loop.State, cases []string) (s Step, retry bool) {
	if state.Result == nil {
		s = Step{Answer: Skipped, Why: "the run ended before anything was judged"}
		if state.Stopped != nil {
			s.Why = sentence(state.Stopped.Why)
		}
		return s, false
	}
	s.Answer = Fine
	seen := 0
	for _, j := range state.Result.Cases {
		wanted := len(cases) == 0 || slices.Contains(cases, j.Name) || j.Verdict == ratchet.Identical
		if !wanted || j.Metric != "" || !j.Gate && len(cases) == 0 {
			continue
		}
		seen++
		switch j.Verdict {
		case ratchet.Regression:
			s.Slower = append(s.Slower, slowdown(j))
		case ratchet.Inconclusive, ratchet.New, ratchet.Missing, ratchet.Broken:
			s.Why = cmp.Or(s.Why, sentence(j.Name+": "+j.Sentence))
			retry = retry || j.Verdict == ratchet.Inconclusive
		case ratchet.Maintained, ratchet.Improvement, ratchet.Identical:
		}
	}
	slices.SortStableFunc(s.Slower, func(a, b Case) int { return cmp.Compare(b.Change, a.Change) })
	switch {
	case len(s.Slower) > 0:
		s.Answer, s.Why, retry = Slower, "", false
	case seen == 0:
		s.Answer, s.Why = Skipped, fmt.Sprintf("it does not have the case %s", strings.Join(cases, ", "))
	case s.Why != "":
		s.Answer = Skipped
	}
	return s, retry
}

func slowdown(j ratchet.Judgment) Case {
	c := Case{Name: j.Name}
	if j.Facts == nil {
		return c
	}
	c.Change = j.Facts.Change
	c.Low, c.High = c.Change, c.Change
	if j.Facts.Interval != nil {
		c.Low, c.High = j.Facts.Interval.Low, j.Facts.Interval.High
	}
	if j.Facts.Better == measure.Higher { // for a rate, slower is less of it
		c.Change, c.Low, c.High = 1/(1+c.Change)-1, 1/(1+c.High)-1, 1/(1+c.Low)-1
	}
	return c
}

// sentence returns the first line of a text that may contain anything.
func sentence(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return words.Sanitize(line)
}
