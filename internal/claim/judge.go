package claim

import (
	"cmp"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Judged is what a record means by the word of the base's suite.
type Judged struct {
	Run         *measure.Run // as it was judged
	Result      *ratchet.Result
	Drift       *ratchet.Result // the base against the baseline, where that was measured
	Quarantined map[string]suite.Quarantine
	Released    map[string]suite.Quarantine // of which the last day is over
}

// Judge decides again, from the samples. The record is believed in nothing else: which
// cases gate, which are quarantined, which have to be there and what is better is the
// base's word. Accepted is the reason of a person who may; the record's own is dropped.
func (c Claim) Judge(t Terms, p ratchet.Policy, accepted string, now time.Time) (Judged, error) {
	whole, err := t.whole(c.Run)
	if err != nil {
		return Judged{}, err
	}
	j := Judged{Run: hold(c.Run, terms(t.Suite, whole)), Quarantined: map[string]suite.Quarantine{}, Released: map[string]suite.Quarantine{}}
	j.Run.Accepted, j.Run.Definition = accepted, both(c.Run.Definition, t.Definition)
	j.addMissing(whole)
	for i := range j.Run.Cases {
		j.excuse(&j.Run.Cases[i], t.Suite, now)
	}
	same := []*measure.Run{j.Run}
	evidence := ratchet.Gather(same, same, measure.Base, measure.Candidate)
	result := ratchet.Judge(p, evidence)
	compared := slices.ContainsFunc(evidence, func(e ratchet.Evidence) bool { return e.HasBase && e.HasCandidate })
	if !compared && result.Severity() == ratchet.Yes {
		result.Verdict, result.Sentence = ratchet.Inconclusive, "Nothing was compared: the record has no case with both sides."
	}
	j.Result = &result
	j.drift(p)
	return j, nil
}

// hold makes the base's word count for every case of a record. A case that the base has
// cannot be new, nor be judged by nothing.
func hold(record *measure.Run, known map[string]term) *measure.Run {
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
			x.Gate, x.Better = term.gate, term.better
		case x.Metric == "" || x.Metric == measure.MetricTime:
			x.Gate, x.Better = true, measure.Lower
		default: // a metric that the base does not have is watched
			x.Gate = false
		}
	}
	for _, x := range run.Cases {
		if term, ok := known[x.Name()]; ok && !term.listed && !based[x.Name()] && x.Implementation == measure.Candidate {
			x.Implementation = measure.Base
			x.Rounds = []measure.CaseRound{{Error: "the record holds nothing of the base"}}
			run.Cases = append(run.Cases, x)
		}
	}
	return &run
}

// addMissing names the cases of the base that the record leaves out.
func (j *Judged) addMissing(whole *suite.Suite) {
	seen := map[string]bool{}
	for _, c := range j.Run.Cases {
		if c.Implementation == measure.Candidate || c.Implementation == measure.Base {
			seen[c.Name()] = true
		}
	}
	for _, c := range whole.Cases() {
		if c.Implementation == suite.Candidate && !seen[c.Name()] {
			key := c.CaseKey
			key.Implementation = measure.Base
			j.Run.Cases = append(j.Run.Cases, measure.Case{CaseKey: key, Unit: "ns", Better: measure.Lower, Gate: c.Gate, Timer: c.Timer})
		}
	}
}

// excuse lets a case that the base's suite has quarantined fail nobody.
func (j *Judged) excuse(c *measure.Case, s *suite.Suite, now time.Time) {
	key := c.CaseKey
	key.Metric = "" // a metric is computed from the time
	name := key.Name()
	if q, ok := s.Released(name, key.Benchmark, now); ok {
		j.Released[name] = q
	}
	if q, ok := s.Quarantined(name, key.Benchmark, now); ok {
		j.Quarantined[name] = q
		c.Quarantine = q.String()
	}
}

// baselineSide is the side of a record that is the baseline's commit.
const baselineSide = "baseline"

// drift judges the base against the baseline. Where the base's suite is strict, a base
// that is slower fails the change.
func (j *Judged) drift(p ratchet.Policy) {
	same := []*measure.Run{j.Run}
	list := ratchet.Gather(same, same, baselineSide, measure.Base)
	list = slices.DeleteFunc(list, func(e ratchet.Evidence) bool { return !e.HasBase || !e.HasCandidate || e.Case.Metric != "" })
	if len(list) == 0 {
		return
	}
	drift := ratchet.Judge(p, list)
	j.Drift = &drift
	if p.Strict && drift.Verdict == ratchet.Regression && j.Result.Severity() != ratchet.No {
		j.Result.Verdict, j.Result.Sentence = drift.Verdict, "Drift: "+drift.Sentence
	}
}

// both are two definitions as one.
func both(a, b *measure.Definition) *measure.Definition {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	d := measure.Definition{Changed: slices.Concat(a.Changed, b.Changed)}
	if len(a.Cases) > 0 && len(b.Cases) > 0 { // else one of them concerns all cases
		d.Cases = slices.Concat(a.Cases, b.Cases)
	}
	slices.Sort(d.Changed)
	d.Changed = slices.Compact(d.Changed)
	return &d
}
