package loop

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/ratchet"
)

// gained returns the cases in which the candidate beats the baseline by enough to move
// it.
func (s State) gained() []string { return moving(s.Gain) }

// confirmed returns the cases that do so again in fresh rounds.
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

// changed returns the cases worth a profile: slower, or faster by enough. Largest loss
// first, then largest gain, at most as many as the plan allows.
func (s State) changed() []string {
	if s.Result == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(s.Result.Cases), func(c ratchet.Judgment) bool {
		slower, faster := c.Verdict == ratchet.Regression, c.Verdict == ratchet.Improvement || c.Ratchet == ratchet.Moves
		return c.Facts == nil || !slower && !faster
	})
	slices.SortStableFunc(list, func(a, b ratchet.Judgment) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(size(b), size(a)))
	})
	var names []string
	for _, c := range list {
		key := c.CaseKey
		key.Metric = "" // a metric is derived from the time: one profile explains both
		if name := key.Name(); !slices.Contains(names, name) && len(names) < s.Plan.Profile {
			names = append(names, name)
		}
	}
	return names
}

// rank puts cases that fail the change before watched ones, and losses before gains.
func rank(c ratchet.Judgment) int {
	switch {
	case c.Fails():
		return 0
	case c.Verdict == ratchet.Regression:
		return 1
	default:
		return 2
	}
}

// size returns how large a change is, symmetric for losses and gains.
func size(c ratchet.Judgment) float64 { return math.Abs(math.Log(1 + c.Facts.Change)) }
