package runner

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Policy returns the suite's policy in the judge's terms, for the looks that the suite plans.
func Policy(s *suite.Suite) ratchet.Policy {
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

// applyQuarantine keeps cases that the base quarantines from failing the run. They are still measured, so
// that their results stay visible.
func (r *Setup) applyQuarantine(cases []measure.Case) {
	if r.baseSuite == nil {
		return
	}
	for i := range cases {
		c := &cases[i]
		if q, ok := r.baseSuite.Quarantined(timed(c.CaseKey), c.Benchmark, r.Now()); ok {
			c.Gate, c.Quarantine = false, q.String()
		}
	}
}

// timed returns the name of the case that a metric is computed from.
func timed(key measure.CaseKey) string {
	key.Metric = ""
	return key.Name()
}

// noticeQuarantine reports quarantines that have ended, and those that have no effect yet because
// only the change has them.
func (r *Setup) noticeQuarantine() {
	if r.baseSuite == nil {
		return
	}
	for _, q := range r.baseSuite.Quarantine {
		if q.Ended(r.Now()) {
			r.Notice(device.Notice{
				Code: "quarantine_ended", Message: fmt.Sprintf("the quarantine of %s has ended (%s): the case can fail a change again", q.Case, q),
				Fix: "remove the quarantine from the suite",
			})
		}
	}
	for _, q := range r.Suite.Quarantine {
		if !slices.Contains(r.baseSuite.Quarantine, q) && !q.Ended(r.Now()) {
			r.Notice(device.Notice{
				Code:    "quarantine_own",
				Message: fmt.Sprintf("the change quarantines %s: this takes effect once it is on the base", q.Case),
			})
		}
	}
}
