package comment

import (
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Judgement is a record judged by the base's suite.
type Judgement struct {
	Result      *ratchet.Result
	Drift       *ratchet.Result             // the base compared with the baseline; nil if not measured
	Quarantined map[string]suite.Quarantine // by case name
	Released    map[string]suite.Quarantine // expired quarantines, by case name
}

// Judge judges the samples of a record again. The base's suite decides which of its cases
// are gated, quarantined and required, not the record. Accepted reports whether a user
// accepted what needs a human decision.
func Judge(run *measure.Run, base *suite.Suite, p ratchet.Policy, accepted bool, now time.Time) Judgement {
	j := Judgement{Quarantined: map[string]suite.Quarantine{}, Released: map[string]suite.Quarantine{}}
	terms := termsOf(base)
	list := gather(run, measure.Base, measure.Candidate)
	seen, compared := map[string]bool{}, false
	for i := range list {
		e := &list[i]
		seen[e.Case.Name()] = true
		compared = compared || e.HasBase && e.HasCandidate
		e.Accepted, e.Quarantine = accepted, ""
		if t, known := terms[e.Case.Name()]; known {
			e.Gate, e.Limit = t.gate, t.limit
		}
		j.applyQuarantine(e, base, now)
	}
	for _, c := range base.Cases() {
		if c.Implementation == suite.Candidate && !seen[c.Name()] {
			e := ratchet.Evidence{Case: c.CaseKey, Unit: "ns", Better: measure.Lower, Timer: c.Timer, Gate: c.Gate, HasBase: true}
			j.applyQuarantine(&e, base, now)
			list = append(list, e)
		}
	}
	r := ratchet.Judge(p, list)
	if !compared && r.Severity() == ratchet.SeverityPass {
		r.Verdict, r.Sentence = ratchet.Inconclusive, "Nothing was compared: the record has no case with both sides."
	}
	j.Result = &r
	j.drift(run, p)
	return j
}

func gather(run *measure.Run, base, candidate string) []ratchet.Evidence {
	same := []*measure.Run{run}
	return ratchet.Gather(same, same, base, candidate)
}

// baselineSide is the side of a record that measured the baseline's commit.
const baselineSide = "baseline"

// drift compares the base with the baseline. Under a strict policy, drift fails the change
// measured on top of it.
func (j *Judgement) drift(run *measure.Run, p ratchet.Policy) {
	list := slices.DeleteFunc(gather(run, baselineSide, measure.Base), func(e ratchet.Evidence) bool {
		return !e.HasBase || !e.HasCandidate || e.Case.Metric != ""
	})
	if len(list) == 0 {
		return
	}
	for i := range list {
		if _, excused := j.Quarantined[list[i].Case.Name()]; excused {
			list[i].Gate = false
		}
	}
	drift := ratchet.Judge(p, list)
	j.Drift = &drift
	if p.Strict && drift.Verdict == ratchet.Regression && j.Result.Severity() != ratchet.SeverityFail {
		j.Result.Verdict, j.Result.Sentence = drift.Verdict, "Drift: "+drift.Sentence
	}
}

// term is what a suite says of a case or one of its metrics.
type term struct {
	gate  bool // it may fail a change
	limit *float64
}

// termsOf returns the terms of every case of a suite and its metrics, by name.
func termsOf(s *suite.Suite) map[string]term {
	m := map[string]term{}
	for _, c := range s.Cases() {
		if c.Implementation != suite.Candidate {
			continue
		}
		m[c.Name()] = term{gate: c.Gate}
		for _, metric := range c.Metrics {
			key := c.CaseKey
			key.Metric = metric.Name
			m[key.Name()] = term{metric.Gate, metric.Limit}
		}
	}
	return m
}

// applyQuarantine keeps a quarantined case from failing the change.
func (j *Judgement) applyQuarantine(e *ratchet.Evidence, s *suite.Suite, now time.Time) {
	key := e.Case
	key.Metric = "" // a metric is quarantined with its case
	name := key.Name()
	if q, ok := s.Released(name, key.Benchmark, now); ok {
		j.Released[name] = q
	}
	if q, ok := s.Quarantined(name, key.Benchmark, now); ok {
		j.Quarantined[name] = q
		e.Gate, e.Quarantine = false, q.String()
	}
}
