package suite

import "github.com/goatnote-inc/pawl/ratchet"

// JudgePolicy returns the policy in the judge's terms, for the looks that the suite plans.
func (s *Suite) JudgePolicy() ratchet.Policy {
	w := s.Policy
	p := ratchet.Default().WithLooks(s.Measure.Rounds)
	p.Rule = ratchet.Rule(w.Rule)
	p.Slower, p.MinSpeedup, p.MoveGain, p.Suite = w.Slower, w.Faster, w.Moves, w.Suite
	p.Alpha, p.Beta, p.Family, p.Undecided, p.Strict = w.Alpha, w.Beta, w.Family, w.Undecided, w.Strict
	for _, c := range w.Cases {
		p.Cases = append(p.Cases, ratchet.CaseLimits{Match: c.Match, Slower: c.Slower, Faster: c.Faster, Moves: c.Moves})
	}
	return p
}
