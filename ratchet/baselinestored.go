package ratchet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// AsBase returns evidence that uses stored sessions as the base of a candidate measured without one. It
// is the fallback if the baseline's commit cannot be built and measured again. The evidence is marked as
// stored, and its unit is the session.
//
// now is the candidate's own session. A reference that it shares with stored sessions shows how the
// machine has changed since then, and the stored numbers are corrected for it. If at least
// Policy.MinSessions sessions can be corrected by one reference, the others are left out; otherwise all
// are used uncorrected.
//
// Sessions with a different recipe, definition or method are left out. If too few remain, the evidence
// says why, and the verdict is inconclusive.
func (b Baseline) AsBase(p Policy, candidate Evidence, now Session) Evidence {
	alike, unlike := b.Comparable(now)
	reference, factors := sharedReference(alike, now, p.MinSessions)
	e := candidate
	e.Base, e.HasBase, e.BaseError = nil, true, ""
	if len(alike) < p.MinSessions && (unlike != "" || len(alike) == 0) {
		e.Unlike = fmt.Sprintf("%d of %s can be compared, but %d are needed.", len(alike), words.Plural(len(b.Sessions), "stored session"), p.MinSessions)
		if unlike != "" {
			e.Unlike += " Excluded: " + unlike + "."
		}
	}
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

// Comparable returns the stored sessions that can be compared with the session now, and why the others
// cannot: "2 timed by another method (v1 wall hot trusted, now v2 wall hot trusted)".
//
// All sessions are of one commit, so all should have the recipe of the newest. One that differs was built
// from other instructions, such as those of a change.
func (b Baseline) Comparable(now Session) (alike []Session, unlike string) {
	recipe := ""
	for _, s := range b.Sessions {
		recipe = cmp.Or(s.Recipe, recipe)
	}
	var reasons []string
	count := map[string]int{}
	for _, s := range slices.Backward(b.Sessions) { // so that the newest reason comes first
		why := s.incomparableReason(now, recipe)
		if why == "" {
			alike = append(alike, s)
			continue
		}
		if count[why]++; count[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	for i, why := range reasons {
		reasons[i] = fmt.Sprintf("%d %s", count[why], why)
	}
	slices.Reverse(alike)
	return alike, strings.Join(reasons, "; ")
}

// incomparableReason returns why a stored session cannot be compared with the session now, or "" if it can.
func (s Session) incomparableReason(now Session, recipe string) string {
	switch {
	case s.Unit != now.Unit || direction(s.Better) != direction(now.Better):
		return "measured in another unit or direction"
	case s.Recipe == "" || s.Definition == "" || s.Method == "":
		return "from an older pawl, which did not record recipe, definition and method"
	case s.Method != now.Method:
		return fmt.Sprintf("timed with another method (%s, now %s)", s.Method, cmp.Or(now.Method, "not recorded"))
	case s.Definition != now.Definition:
		return "measured with another definition (suite or definition files)"
	case s.Recipe != recipe:
		return "built with a different recipe than the newest"
	default:
		return ""
	}
}

// sharedReference returns the reference of now that most stored sessions share. For each session, factors
// holds how many times as long the machine takes now, or 0 if the session lacks the reference. Two
// versions of a reference count as different references.
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

// center returns the geometric mean: sessions are compared by the logarithms of their rounds.
func center(rounds []float64) float64 {
	var logs float64
	for _, v := range rounds {
		logs += math.Log(v)
	}
	return math.Exp(logs / float64(len(rounds)))
}

func direction(b measure.Better) measure.Better { return cmp.Or(b, measure.Lower) }
