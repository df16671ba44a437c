package runner

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/measure"
)

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
