package trend

import (
	"cmp"
	"slices"
)

// Located is an event of one series among many.
type Located struct {
	Event
	Series, Testbed string
	// Lo and Hi are where its commits stand in the order of the branch: the cause is after
	// Lo and not after Hi.
	Lo, Hi int64
}

// Group is what happened at one place of a branch, in however many series.
type Group struct {
	Events []Located // the largest change first
	Lo, Hi int64     // the part that the ranges of all have in common
	// Machine names the testbed where nearly every series moved there, and in no other:
	// that is a driver, a clock or a fan, and no commit.
	Machine string
}

// Together gathers steps whose ranges of commits have a part in common. A drift has no
// place and stands alone. moving says how many series a testbed has: a testbed with few
// is never called the cause.
func Together(events []Located, series map[string]int) []Group {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b Located) int {
		return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Series, b.Series))
	})
	var groups []Group
	open := -1 // the group that the next step may join
	for _, e := range sorted {
		if e.Kind == Drift {
			groups = append(groups, Group{Events: []Located{e}, Lo: e.Lo, Hi: e.Hi})
			continue
		}
		if open >= 0 && e.Lo < groups[open].Hi {
			g := &groups[open]
			g.Events = append(g.Events, e)
			g.Lo = max(g.Lo, e.Lo)
			continue
		}
		groups = append(groups, Group{Events: []Located{e}, Lo: e.Lo, Hi: e.Hi})
		open = len(groups) - 1
	}
	for i := range groups {
		groups[i].finish(series)
	}
	return groups
}

// leastSeries is how many series a testbed has before it can be called the cause, and
// nearlyAll the share of them that moved.
const (
	leastSeries = 5
	nearlyAll   = 0.8
)

func (g *Group) finish(series map[string]int) {
	moved := map[string]int{}
	seen := map[string]bool{}
	for _, e := range g.Events {
		if !seen[e.Series] {
			seen[e.Series] = true
			moved[e.Testbed]++
		}
	}
	slices.SortStableFunc(g.Events, func(a, b Located) int {
		return cmp.Or(cmp.Compare(share(b.Before, b.After), share(a.Before, a.After)), cmp.Compare(a.Series, b.Series))
	})
	for bed, n := range moved {
		all := series[bed]
		if len(moved) == 1 && len(series) > 1 && all >= leastSeries && float64(n) >= nearlyAll*float64(all) {
			g.Machine = bed
		}
	}
}
