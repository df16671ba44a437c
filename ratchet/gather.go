package ratchet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet/integrity"
)

// Gather returns the evidence for every case of two sides. The sides may be in one record, measured together,
// or in several.
func Gather(base, candidate []*measure.Run, baseSide, candidateSide string) []Evidence {
	left, right := collect(base, baseSide), collect(candidate, candidateSide)
	paired := together(base, candidate) || interleaved(base, candidate)
	var list []Evidence
	for _, name := range right.names {
		list = append(list, evidence(left.cases[name], right.cases[name], paired))
	}
	for _, name := range left.names {
		if right.cases[name] == nil {
			list = append(list, evidence(left.cases[name], nil, paired))
		}
	}
	return list
}

// together reports whether both sides were measured in the same run, so that rounds with the same index
// belong together.
func together(base, candidate []*measure.Run) bool {
	return len(base) == 1 && len(candidate) == 1 && base[0] == candidate[0]
}

// interleaved reports whether single rounds, each in its own file, were taken in turn: first one of each
// side, then the second of each, and so on. Only then did both sides see the same machine. Files without a
// creation time do not count as interleaved.
func interleaved(base, candidate []*measure.Run) bool {
	if len(base) != len(candidate) || len(base) < 2 {
		return false
	}
	var last time.Time
	for i := range base {
		b, c := base[i], candidate[i]
		if len(b.Rounds) > 1 || len(c.Rounds) > 1 || b.Created.IsZero() || c.Created.IsZero() {
			return false
		}
		first, second := b.Created, c.Created
		if second.Before(first) {
			first, second = second, first
		}
		if !first.After(last) {
			return false
		}
		last = second
	}
	return true
}

// sides holds the cases of one side by name, in the order of the records.
type sides struct {
	names []string
	cases map[string]*sideCase
}

// sideCase is a case with the rounds that count.
type sideCase struct {
	measure.Case // with its rounds as recorded
	run          *measure.Run
	rounds       []Round
	err          string
}

func collect(runs []*measure.Run, side string) sides {
	out := sides{cases: map[string]*sideCase{}}
	for i, run := range runs {
		dropped := map[int]bool{}
		for _, r := range run.Rounds {
			dropped[r.Index] = r.Dropped != ""
		}
		session := cmp.Or(run.ID, "session "+string(rune('A'+i%26)))
		for _, c := range run.Cases {
			if c.Implementation != side {
				continue
			}
			s := out.cases[c.Name()]
			if s == nil {
				s = &sideCase{Case: c, run: run}
				s.Rounds = nil
				out.cases[c.Name()] = s
				out.names = append(out.names, c.Name())
			}
			for _, r := range c.Rounds {
				switch {
				case r.Error != "":
					s.err = r.Error
				case !dropped[r.Round] && len(r.Samples) > 0:
					round := NewRound(r, session)
					if len(runs) > 1 { // each record is one round, numbered by its position
						round.Index = i
					}
					s.rounds = append(s.rounds, round)
					s.Rounds = append(s.Rounds, r)
				}
			}
			s.NoSamples = s.NoSamples || c.NoSamples
		}
	}
	return out
}

func evidence(base, candidate *sideCase, paired bool) Evidence {
	e := Evidence{Paired: paired, HasBase: base != nil, HasCandidate: candidate != nil}
	if base != nil {
		e.describe(base)
		e.Case.Implementation = measure.Candidate
		e.Base, e.BaseError = base.rounds, cmp.Or(base.err, base.distrustReason(nil))
	}
	if candidate != nil {
		e.describe(candidate)
		e.Candidate, e.CandidateError = candidate.rounds, cmp.Or(candidate.err, candidate.distrustReason(base))
		e.Redefined, e.Accepted = candidate.redefined(), candidate.run.Accepted != ""
		e.SecondClock = slices.ContainsFunc(candidate.Rounds, func(r measure.CaseRound) bool { return r.Outside != nil })
	}
	return e
}

// distrustReason returns why the numbers of a side cannot be trusted, or "" if they can. The base ran with the same
// harness, so what both sides show is not caused by the change.
func (s *sideCase) distrustReason(base *sideCase) string {
	if s.Metric != "" || s.run.Source == measure.Imported {
		return ""
	}
	var beside []measure.CaseRound
	if base != nil {
		beside = base.Rounds
	}
	if s.run.Trust == measure.SelfTimed {
		return cmp.Or(integrity.CheckOutsideClock(s.Rounds), integrity.Implausible(s.run.Device, s.Case))
	}
	clocks := ""
	if s.Implementation == measure.Candidate { // other implementations have no reason to cheat
		clocks = integrity.CheckSampleClock(s.Rounds, beside)
	}
	return cmp.Or(clocks, integrity.Implausible(s.run.Device, s.Case))
}

// redefined returns the parts of the case's definition that differ from the base's.
func (s *sideCase) redefined() string {
	d := s.run.Definition
	timed := s.CaseKey
	timed.Metric = "" // a definition names cases, and a metric belongs to one
	if d == nil || len(d.Cases) > 0 && !slices.Contains(d.Cases, timed.Name()) {
		return ""
	}
	return strings.Join(d.Changed, ", ")
}

func (e *Evidence) describe(s *sideCase) {
	e.Case, e.Unit, e.Better, e.Timer, e.Gate = s.CaseKey, s.Unit, s.Better, s.Timer, s.Gate && s.Quarantine == ""
	e.Reported, e.Limit, e.Quarantine = s.Reported, s.Limit, s.Quarantine
	e.Unchanged = s.Unchanged
	if s.Unchanged == measure.Skipped && len(s.rounds) > 0 {
		e.Unchanged = "" // it was measured after all
	}
	e.NoSamples = e.NoSamples || (s.NoSamples || s.Unchanged == measure.Skipped) && len(s.rounds) == 0
}

// Mismatch describes why runs must not be compared, or returns nil if they may.
func Mismatch(runs []*measure.Run) []string {
	var list []string
	for _, run := range runs[min(1, len(runs)):] {
		for _, d := range runs[0].Testbed.Differs(run.Testbed) {
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
	}
	return list
}
