package loop

import "slices"

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
