package loop

import "slices"

// Action is what a driver has to do next. Its outcome goes to Apply.
type Action interface{ action() }

type (
	// Build makes all sides runnable.
	Build struct{}
	// Preflight asks what can be known of the candidate without running it.
	Preflight struct{}
	// Check compares the candidate's results with an oracle's.
	Check struct{}
	// Measure goes on until there are so many rounds a side of these cases; without
	// names, of all.
	Measure struct {
		Rounds int
		Cases  []string
		Final  bool // no look comes after this one
	}
	// Confirm measures fresh rounds of cases that gained: those that showed the gain
	// are the luckiest of many, and are never recorded.
	Confirm struct {
		Rounds int
		Cases  []string
	}
	// Keep writes to the ledger what was measured of the baseline, and lets it move
	// in the cases named.
	Keep struct{ Move []string }
	// Profile looks for the reason in cases that changed, those first that lost most.
	Profile struct{ Cases []string }
	// Report writes what people read.
	Report struct{}
	// Tell brings it to the pull request.
	Tell struct{}
)

func (Build) action()     {}
func (Preflight) action() {}
func (Check) action()     {}
func (Measure) action()   {}
func (Confirm) action()   {}
func (Keep) action()      {}
func (Profile) action()   {}
func (Report) action()    {}
func (Tell) action()      {}

// Next is what to do in a state; nil when the run is over.
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
		return Measure{Rounds: looks[s.Look], Cases: s.Undecided, Final: s.Look == len(looks)-1}
	case Confirming:
		return Confirm{Rounds: s.confirmRounds(), Cases: s.gained()}
	case Keeping:
		return Keep{Move: s.confirmed()}
	case Profiling:
		return Profile{Cases: s.changed()}
	case Reporting:
		return Report{}
	case Telling:
		return Tell{}
	case Done:
	}
	return nil
}

// confirmRounds is as many as it took to see the gain.
func (s State) confirmRounds() int {
	most := 0
	for _, c := range s.Gain.Cases {
		if c.Facts != nil && slices.Contains(s.gained(), c.Name) {
			most = max(most, c.Facts.Rounds)
		}
	}
	return max(most, s.Plan.Policy.Looks[0])
}
