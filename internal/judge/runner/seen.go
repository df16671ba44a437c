package runner

import (
	"github.com/goatnote-inc/pawl/measure"
)

// see adds a round to the record that Decide gets. Derived metrics are included,
// because a gate may use one of them.
func (r *Setup) see(round measure.Round, results []measure.Result) {
	if r.seen == nil {
		r.seen = &measure.Run{Header: r.header}
	}
	r.seen.Rounds = append(r.seen.Rounds, round)
	// A plain command reports its cases only after it has run, so there may be new ones.
	r.seen.Cases = append(r.seen.Cases, r.declared[len(r.seen.Cases):]...)
	at := make(map[measure.CaseKey]int, len(r.seen.Cases))
	for i, c := range r.seen.Cases {
		at[c.CaseKey] = i
	}
	for _, res := range results {
		if i, ok := at[res.Case]; ok {
			r.seen.Cases[i].Rounds = append(r.seen.Cases[i].Rounds, res.Round)
		}
	}
}

// decider returns Decide as a function for the trial; nil if it is unset.
func (r *Setup) decider() func(bool) []string {
	if r.Decide == nil {
		return nil
	}
	return func(final bool) []string { return r.Decide(r.seen, final) }
}
