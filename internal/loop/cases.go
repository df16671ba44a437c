package loop

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/ratchet"
)

// gained are the cases in which the candidate beats the baseline by enough to move
// it.
func (s State) gained() []string { return moving(s.Gain) }

// confirmed are those that do so again in fresh rounds.
func (s State) confirmed() []string { return moving(s.Confirmed) }

func moving(r *ratchet.Result) []string {
	if r == nil {
		return nil
	}
	var names []string
	for _, c := range r.Cases {
		if c.Ratchet == ratchet.Moves {
			names = append(names, c.Name)
		}
	}
	return names
}

// changed are the cases worth a profile: slower, or faster by enough. The greatest
// loss comes first, then the greatest gain, and no more than the plan has time for.
func (s State) changed() []string {
	if s.Result == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(s.Result.Cases), func(c ratchet.Judgement) bool {
		slower, faster := c.Verdict == ratchet.Regression, c.Verdict == ratchet.Improvement || c.Ratchet == ratchet.Moves
		return c.Facts == nil || !slower && !faster
	})
	slices.SortStableFunc(list, func(a, b ratchet.Judgement) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(size(b), size(a)))
	})
	var names []string
	for _, c := range list {
		key := c.CaseKey
		key.Metric = "" // a metric is derived from the time: one profile tells of both
		if name := key.Name(); !slices.Contains(names, name) && len(names) < s.Plan.Profile {
			names = append(names, name)
		}
	}
	return names
}

// rank puts what fails the change before what is only watched, and losses before gains.
func rank(c ratchet.Judgement) int {
	switch {
	case c.Fails():
		return 0
	case c.Verdict == ratchet.Regression:
		return 1
	default:
		return 2
	}
}

// size is how large a change is, alike in both directions.
func size(c ratchet.Judgement) float64 { return math.Abs(math.Log(1 + c.Facts.Change)) }
