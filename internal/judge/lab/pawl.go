package lab

import (
	"math"
	"slices"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Names of pawl as a method: on an unknown testbed, on one whose dependence was measured, and against
// stored sessions.
const (
	onUnknown = "pawl"
	onKnown   = "pawl, testbed known"
	onStored  = "pawl, stored"
)

// paired returns pawl's default method, with the loop that pawl run drives.
func paired(p ratchet.Policy) Method {
	return Method{
		Name: onUnknown,
		Rule: "paired rounds, 4 to 64 of them, both errors controlled",
		Ask: func(c Comparison) Outcome {
			if !c.Together() {
				return judgeUnpaired(p, c)
			}
			s, rounds := gate(p, []Comparison{c})
			return Outcome{answerOf(s.Verdict()), rounds}
		},
	}
}

// knownTestbed returns pawl on a testbed whose dependence between rounds was measured, with as many same-code
// comparisons of the scene as pawl doctor --noise would make. It alternates between several such testbeds,
// because an estimate is itself uncertain.
func knownTestbed(p ratchet.Policy, s Scene, seed uint64, testbeds int) Method {
	const comparisons, rounds = 50, 32
	methods := make([]Method, testbeds)
	for i := range methods {
		var list []float64
		for k := range comparisons {
			c := s.Compare(seed+1, uint64(i*comparisons+k))
			for r := range rounds {
				list = append(list, math.Log(c.Median(Candidate, r).Median/c.Median(Base, r).Median))
			}
		}
		p.Dependence = ratchet.NewDependence([][]float64{list})
		methods[i] = paired(p)
	}
	return Method{
		Name: onKnown,
		Rule: "the same, with the dependence of rounds estimated from 50 same-code comparisons",
		Ask: func(c Comparison) Outcome {
			g, ok := c.(*generated)
			if !ok {
				return methods[0].Ask(c)
			}
			return methods[g.trial%uint64(testbeds)].Ask(c)
		},
	}
}

// firstEdition returns the judge as it was before editions were counted.
func firstEdition() Method {
	m := paired(ratchet.ForEdition(1))
	m.Name, m.Rule = "pawl, first edition", "Student's t on medians of rounds, 4 to 32 of them"
	return m
}

// waldTest returns Wald's sequential probability ratio test with a known spread. No test of zero against the
// limit with these error rates needs fewer rounds. It cannot be used in practice; it shows the cost of not
// knowing the spread.
func waldTest(p ratchet.Policy, spread float64) Method {
	limit, variance := math.Log1p(p.Slower), 2*spread*spread
	return Method{
		Name: "Wald's test, spread known",
		Rule: "a likelihood ratio after every round, of 0 against 3 %",
		Ask: func(c Comparison) Outcome {
			var ratio float64
			for i := range c.Most(Base) {
				d := math.Log(c.Median(Candidate, i).Median / c.Median(Base, i).Median)
				ratio += limit * (d - limit/2) / variance
				switch {
				case ratio >= math.Log((1-p.Beta)/p.Alpha):
					return Outcome{Slower, i + 1}
				case ratio <= math.Log(p.Beta/(1-p.Alpha)):
					return Outcome{Nothing, i + 1}
				}
			}
			return Outcome{Abstains, c.Most(Base)}
		},
	}
}

// gate runs the loop on a suite of cases until it reaches a verdict.
func gate(p ratchet.Policy, cases []Comparison) (s loop.State, rounds int) {
	list := make([]ratchet.Evidence, len(cases))
	for i := range list {
		list[i] = sideBySide(i)
	}
	s = mustApply(loop.Start(loop.Plan{Policy: p}), loop.Built{})
	measured := 0
	for {
		m, more := loop.Next(s).(loop.Measure)
		if !more {
			return s, rounds
		}
		most := cases[0].Most(Base)
		for i, c := range cases {
			e := &list[i]
			if !wanted(m, *e) {
				continue
			}
			for r := measured; r < min(m.Rounds, most); r++ {
				e.Base, e.Candidate = append(e.Base, c.Median(Base, r)), append(e.Candidate, c.Median(Candidate, r))
			}
			rounds += min(m.Rounds, most) - measured
		}
		measured = min(m.Rounds, most)
		s = mustApply(s, loop.Looked{Change: list, Over: m.Rounds > most})
	}
}

// mustApply returns the state after an outcome. The lab passes only outcomes that fit the step.
func mustApply(s loop.State, o loop.Outcome) loop.State {
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
	return slices.Contains(m.Cases, e.Case.Name())
}

// sideBySide returns the evidence of a case before its first round.
func sideBySide(i int) ratchet.Evidence {
	return ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: "k" + strconv.Itoa(i), Implementation: measure.Candidate},
		Unit: "ns", Gate: true, Paired: true, HasBase: true, HasCandidate: true,
	}
}

// judgeUnpaired judges sides that were recorded one after the other.
func judgeUnpaired(p ratchet.Policy, c Comparison) Outcome {
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

// stored returns pawl's fallback for a base that cannot be built and measured again.
func stored(p ratchet.Policy, reference bool) Method {
	m := Method{Name: onStored, Rule: "one session against those that a ledger keeps"}
	if reference {
		m = Method{Name: "pawl, stored with reference", Rule: "the same, corrected by a kernel that was in all sessions"}
	}
	m.Ask = func(c Comparison) Outcome {
		baseline, now, rounds := c.Stored(reference)
		e := sideBySide(0)
		e.Candidate = rounds
		r := ratchet.Judge(p, []ratchet.Evidence{baseline.AsBase(p, e, now)})
		return Outcome{answerOf(r.Verdict), len(rounds)}
	}
	return m
}

// classic returns the decision table of pawl's first user.
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
