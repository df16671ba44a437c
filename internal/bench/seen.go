package bench

import (
	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/measure"
)

// see keeps a round for whoever decides: as a record, with the metrics that were
// computed, because a gate may be on one of them.
func (r *run) see(round measure.Round, results []measure.Result) {
	if r.seen == nil {
		r.seen = &measure.Run{Header: r.header}
	}
	r.seen.Rounds = append(r.seen.Rounds, round)
	// A plain command tells its cases when it has run, so there may be new ones.
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

// decider asks the user of this package.
func (r *run) decider() func(trial.Look) []string {
	if r.Decide == nil {
		return nil
	}
	return func(l trial.Look) []string { return r.Decide(r.seen, l.Final) }
}
