package untrusted

import (
	"cmp"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// ApplyTerms returns a record that can be judged: its samples, with gating and direction from the
// base's suite, and without any acceptance. The returned suite is the base's, including the
// cases that it leaves to the harness.
func (c Claim) ApplyTerms(t Terms) (*measure.Run, *suite.Suite, error) {
	whole, err := t.fullSuite(c.Run)
	if err != nil {
		return nil, nil, err
	}
	run := applyTerms(c.Run, terms(t.Suite, whole))
	run.Accepted, run.Definition = "", mergeDefinitions(run.Definition, t.Definition)
	return run, whole, nil
}

// applyTerms applies the base's rules to every case of a record. A case that the base has cannot
// be new, nor be judged without a base.
func applyTerms(record *measure.Run, known map[string]term) *measure.Run {
	run := *record
	run.Cases = slices.Clone(run.Cases)
	based := map[string]bool{}
	for i := range run.Cases {
		x := &run.Cases[i]
		based[x.Name()] = based[x.Name()] || x.Implementation == measure.Base
		x.NoSamples = x.NoSamples || x.Implementation == measure.Candidate && len(x.Rounds) == 0
		x.Quarantine = ""
		switch term, ok := known[x.Name()]; {
		case ok:
			x.Gate, x.Better, x.Limit, x.Reported = term.gate, term.better, term.limit, term.reported
		case x.Metric == "" || x.Metric == measure.MetricTime:
			x.Gate, x.Better, x.Limit, x.Reported = true, measure.Lower, nil, false
		default: // a metric that the base does not have is only watched
			x.Gate, x.Limit, x.Reported = false, nil, true
		}
	}
	for _, x := range run.Cases {
		if term, ok := known[x.Name()]; ok && !term.listed && !based[x.Name()] && x.Implementation == measure.Candidate {
			x.Implementation = measure.Base
			x.Rounds = []measure.CaseRound{{Error: "the record has no results of the base"}}
			run.Cases = append(run.Cases, x)
		}
	}
	return &run
}

// mergeDefinitions merges two definitions.
func mergeDefinitions(a, b *measure.Definition) *measure.Definition {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	d := measure.Definition{Changed: slices.Concat(a.Changed, b.Changed)}
	if len(a.Cases) > 0 && len(b.Cases) > 0 { // otherwise one of them applies to all cases
		d.Cases = slices.Concat(a.Cases, b.Cases)
	}
	slices.Sort(d.Changed)
	d.Changed = slices.Compact(d.Changed)
	return &d
}
