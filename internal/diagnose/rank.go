package diagnose

import (
	"cmp"
	"slices"
)

// firmShare is the least estimate of the tool that goes before all of pawl's own. The
// tool has seen the instructions one by one; pawl has sums.
const firmShare = 0.05

// found is a finding with what its rank depends on.
type found struct {
	Finding
	rule   *Rule
	firm   bool   // the tool estimates it
	clause string // its sentence, as the rule has it
}

func (f found) size() float64 {
	if f.Share == nil {
		return 0
	}
	return *f.Share
}

// rank puts the most promising first: what the tool estimates, then what pawl does,
// each by its share; what is intended last. Then a cause goes before what it explains.
func rank(list []found) []found {
	slices.SortStableFunc(list, func(a, b found) int {
		return cmp.Or(
			order(b.Intended, a.Intended),
			order(a.firm, b.firm),
			cmp.Compare(b.size(), a.size()),
			cmp.Compare(a.Rule, b.Rule),
		)
	})
	out := make([]found, 0, len(list))
	placed := make([]bool, len(list))
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true // before its causes: rules of users may explain each other in a circle
		for j := range list {
			if !placed[j] && causes(list[j], list[i]) {
				place(j)
			}
		}
		out = append(out, list[i])
	}
	for i := range list {
		place(i)
	}
	return out
}

// causes tells whether one finding is what another comes from: its rule says so, and
// it is large enough to be.
func causes(cause, symptom found) bool {
	return slices.Contains(cause.rule.Explains, symptom.Rule) &&
		!cause.Intended && (cause.firm || !symptom.firm) &&
		cause.size() >= symptom.size()/2
}

// order puts true before false.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
