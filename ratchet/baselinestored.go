package ratchet

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Against makes stored sessions the base of a candidate that was measured without
// one. It is the fallback where the baseline's commit cannot be built and measured
// again; the evidence is labelled so, and its unit is the session.
//
// now is the candidate's own session. A reference that it shares with stored sessions
// tells how the machine has changed since, and the stored numbers are put on the machine of
// today. Where at least the policy's least number of sessions can be corrected by one
// reference, the others are left out; otherwise all count as they are.
func (b Baseline) Against(p Policy, candidate Evidence, now Session) Evidence {
	alike := slices.DeleteFunc(slices.Clone(b.Sessions), func(s Session) bool {
		return s.Unit != now.Unit || direction(s.Better) != direction(now.Better)
	})
	reference, factors := sharedReference(alike, now, p.MinSessions)
	e := candidate
	e.Base, e.HasBase, e.BaseError = nil, len(alike) > 0, ""
	e.Paired, e.Stored, e.Reference = false, true, reference
	for i, s := range alike {
		factor := 1.0
		if reference != "" {
			if factor = factors[i]; factor == 0 {
				continue
			}
		}
		for _, median := range s.Rounds {
			v := median * factor
			e.Base = append(e.Base, Round{
				Index: len(e.Base), Session: s.Run.String(), Sorted: stats.Sort([]float64{v}), Median: v, Quantum: s.Quantum * factor,
			})
		}
	}
	return e
}

// sharedReference finds the reference that most stored sessions share with today's,
// and by which factor the machine takes longer now than in each; 0 where a session does
// not have it. Two versions of a reference are not the same reference.
func sharedReference(stored []Session, now Session, least int) (name string, factors []float64) {
	best := max(least, 1) - 1
	for _, today := range now.References {
		list := make([]float64, len(stored))
		found := 0
		for i, s := range stored {
			for _, then := range s.References {
				factor := center(today.Rounds) / center(then.Rounds)
				if then.Name == today.Name && then.Digest == today.Digest && factor > 0 && !math.IsInf(factor, 0) {
					list[i] = factor
					found++
					break
				}
			}
		}
		if found > best {
			best, name, factors = found, today.Name, list
		}
	}
	return name, factors
}

// center is the geometric mean: sessions are compared by the logarithms of their rounds.
func center(rounds []float64) float64 {
	var logs float64
	for _, v := range rounds {
		logs += math.Log(v)
	}
	return math.Exp(logs / float64(len(rounds)))
}

func direction(b measure.Better) measure.Better { return cmp.Or(b, measure.Lower) }
