package lab

import (
	"github.com/goatnote-inc/pawl/internal/loop"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// paired is pawl's default, with the loop that pawl run drives.
func paired(p ratchet.Policy) Method {
	return Method{
		Name: "pawl",
		Rule: "paired rounds, 4 to 32 of them, both errors controlled",
		Ask: func(c Comparison) Outcome {
			if !c.Together() {
				return apart(p, c)
			}
			s, rounds := gate(p, []Comparison{c})
			return Outcome{answerOf(s.Verdict()), rounds}
		},
	}
}

// gate runs the loop on a suite of cases until it has its verdict.
func gate(p ratchet.Policy, cases []Comparison) (s loop.State, rounds int) {
	list := make([]ratchet.Evidence, len(cases))
	for i := range list {
		list[i] = sideBySide(i)
	}
	s = after(loop.Start(loop.Plan{Policy: p}), loop.Built{})
	measured := 0
	for {
		m, more := loop.Next(s).(loop.Measure)
		if !more {
			return s, rounds
		}
		for i, c := range cases {
			e := &list[i]
			if !wanted(m, *e) {
				continue
			}
			for r := measured; r < m.Rounds; r++ {
				e.Base, e.Candidate = append(e.Base, c.Median(Base, r)), append(e.Candidate, c.Median(Candidate, r))
			}
			rounds += m.Rounds - measured
		}
		measured = m.Rounds
		s = after(s, loop.Looked{Change: list})
	}
}

// after is the state behind an outcome. The lab hands over only what fits the step.
func after(s loop.State, o loop.Outcome) loop.State {
	next, err := loop.Apply(s, o)
	if err != nil {
		panic("lab: " + err.Error())
	}
	return next
}

func wanted(m loop.Measure, e ratchet.Evidence) bool {
	if len(m.Cases) == 0 {
		return true
	}
	for _, name := range m.Cases {
		if name == e.Case.Name() {
			return true
		}
	}
	return false
}

var caseNames = [...]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", "aa"}

// sideBySide is evidence of a case before its first round.
func sideBySide(i int) ratchet.Evidence {
	return ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: caseNames[i%len(caseNames)], Implementation: measure.Candidate},
		Unit: "ns", Gate: true, Paired: true, HasBase: true, HasCandidate: true,
	}
}

// apart judges sides that were recorded one after the other.
func apart(p ratchet.Policy, c Comparison) Outcome {
	e := sideBySide(0)
	e.Paired = false
	for i := range c.Most(Base) {
		e.Base = append(e.Base, c.Round(Base, i))
	}
	for i := range c.Most(Candidate) {
		e.Candidate = append(e.Candidate, c.Round(Candidate, i))
	}
	return Outcome{answerOf(ratchet.Judge(p, []ratchet.Evidence{e}).Verdict), e.Rounds()}
}

// stored is pawl's fallback, where the base cannot be built and measured again.
func stored(p ratchet.Policy, reference bool) Method {
	m := Method{Name: "pawl, stored", Rule: "one session against those that a ledger keeps"}
	if reference {
		m = Method{Name: "pawl, stored with reference", Rule: "the same, corrected by a kernel that was in all sessions"}
	}
	m.Ask = func(c Comparison) Outcome {
		baseline, now, rounds := c.Stored(reference)
		e := sideBySide(0)
		e.Candidate = rounds
		r := ratchet.Judge(p, []ratchet.Evidence{baseline.Against(p, e, now)})
		return Outcome{answerOf(r.Verdict), len(rounds)}
	}
	return m
}

// classic is the table that pawl's first user wrote down.
func classic(p ratchet.Policy) Method {
	p.Rule = ratchet.Classic
	return Method{
		Name: "classic",
		Rule: "intervals of the medians apart, more than 3 %",
		Ask: func(c Comparison) Outcome {
			e := sideBySide(0)
			e.Paired = false
			b, n := samples(c, Base), samples(c, Candidate)
			e.Base = []ratchet.Round{{Session: "one", Sorted: b, Median: b.Median()}}
			e.Candidate = []ratchet.Round{{Session: "two", Sorted: n, Median: n.Median()}}
			return Outcome{answerOf(ratchet.Judge(p, []ratchet.Evidence{e}).Verdict), 1}
		},
	}
}
