package diagnose

import (
	"cmp"
	"slices"
)

// firmShare is the min estimate of the tool that ranks before all of pawl's own. The tool saw
// single instructions; pawl has only sums.
const firmShare = 0.05

// rankedFinding is a finding with the data for its rank.
type rankedFinding struct {
	Finding
	rule   *Rule
	firm   bool   // the tool estimates at least firmShare
	clause string // its sentence as written in the rule
}

func (f rankedFinding) size() float64 {
	if f.Share == nil {
		return 0
	}
	return *f.Share
}

// rank sorts the most promising first: estimates of the tool, then those of pawl, each by share;
// intended findings last. Then it moves a cause before what it explains.
func rank(list []rankedFinding) []rankedFinding {
	slices.SortStableFunc(list, func(a, b rankedFinding) int {
		return cmp.Or(
			order(b.Intended, a.Intended),
			order(a.firm, b.firm),
			cmp.Compare(b.size(), a.size()),
			cmp.Compare(a.Rule, b.Rule),
		)
	})
	out := make([]rankedFinding, 0, len(list))
	placed := make([]bool, len(list))
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true // before its causes: rules of users may form a cycle
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

// causes reports whether one finding explains another: its rule says so, and it is large enough.
func causes(cause, symptom rankedFinding) bool {
	return slices.Contains(cause.rule.Explains, symptom.Rule) &&
		!cause.Intended && (cause.firm || !symptom.firm) &&
		cause.size() >= symptom.size()/2
}

// order compares booleans, true first.
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
