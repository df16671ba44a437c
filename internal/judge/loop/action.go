package loop

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Action is the next step that a driver must take: one of the types below. Its outcome goes to Apply.
type Action any

type (
	// Build makes all sides runnable.
	Build struct{}
	// Preflight checks the candidate without running it.
	Preflight struct{}
	// Check compares the candidate's results with an oracle's.
	Check struct{}
	// Measure measures until there are this many rounds per side of the named cases, or of
	// all cases if none are named.
	Measure struct {
		Rounds int
		Cases  []string
	}
	// Confirm measures fresh rounds of cases that gained. The rounds that showed the gain
	// are the luckiest of many, and are never recorded.
	Confirm struct {
		Rounds int
		Cases  []string
	}
	// UpdateLedger writes the baseline's measurements to the ledger, and moves the baseline in the
	// named cases.
	UpdateLedger struct{ Move []string }
	// Profile looks for the cause in cases that changed, largest loss first.
	Profile struct{ Cases []string }
	// Report writes the report.
	Report struct{}
)

// Next returns the action for a state; nil if the run is over.
func Next(s State) Action {
	looks := s.Plan.Policy.Looks
	switch s.Step {
	case Building:
		return Build{}
	case Examining:
		return Preflight{}
	case Checking:
		return Check{}
	case Measuring:
		return Measure{Rounds: looks[s.Look], Cases: s.Undecided}
	case Confirming:
		return Confirm{Rounds: s.confirmRounds(), Cases: s.gained()}
	case UpdatingLedger:
		return UpdateLedger{Move: s.confirmed()}
	case Profiling:
		return Profile{Cases: s.changed()}
	case Reporting:
		return Report{}
	case Done:
	}
	return nil
}

// confirmRounds returns as many rounds as it took to see the gain.
func (s State) confirmRounds() int {
	most := 0
	for _, c := range s.Gain.Cases {
		if c.Facts != nil && slices.Contains(s.gained(), c.Name) {
			most = max(most, c.Facts.Rounds)
		}
	}
	return max(most, s.Plan.Policy.Looks[0])
}

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
