package loop

import "github.com/goatnote-inc/pawl/ratchet"

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

// changed are the cases worth a profile: slower, or faster by enough.
func (s State) changed() []string {
	if s.Result == nil {
		return nil
	}
	var names []string
	for _, c := range s.Result.Cases {
		if c.Verdict == ratchet.Regression || c.Verdict == ratchet.Improvement || c.Ratchet == ratchet.Moves {
			names = append(names, c.Name)
		}
	}
	return names
}
