package trend

import (
	"cmp"
	"slices"
)

// Located is an event of one series among many.
type Located struct {
	Event
	ID              int64 // the caller's
	Series, Testbed string
	// Lo and Hi are where its commits stand in the order of the branch: the cause is after
	// Lo and not after Hi.
	Lo, Hi int64
}

// Group is what happened at one place of a branch, in however many series.
type Group struct {
	Events []Located // the largest change first
	Lo, Hi int64     // the part that the ranges of all have in common
	// Machine names the testbed where nearly every series moved there, and next to none of
	// another: that is a driver, a clock or a fan, and no commit.
	Machine string
}

// Together gathers steps whose ranges of commits have a part in common. A drift has no
// place and stands alone. series says how many series a testbed has: a testbed with few
// is never called the cause. Where a machine was, what moved elsewhere at the same place
// by chance is a group of its own.
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
	var parts []Group
	for _, g := range groups {
		parts = append(parts, g.split(series)...)
	}
	for i := range parts {
		slices.SortStableFunc(parts[i].Events, func(a, b Located) int {
			return cmp.Or(cmp.Compare(share(b.Before, b.After), share(a.Before, a.After)), cmp.Compare(a.Series, b.Series))
		})
	}
	return parts
}

// How a machine is told from a commit: a testbed with at least leastSeries of which
// nearlyAll moved, while of each other testbed no more moved than a stray or two.
const (
	leastSeries = 5
	nearlyAll   = 0.8
	leastStray  = 10 // so many series may have one that moved by chance
	nearlyNone  = 0.05
)

// strays is how many series of a testbed may move by chance where another moved as a whole.
func strays(series int) int {
	if series < leastStray {
		return 0
	}
	return max(1, int(nearlyNone*float64(series)))
}

// MayBlame tells whether it could have been a machine: so many series moved on one testbed
// that they could be nearly all of it.
func (g Group) MayBlame() bool {
	for _, n := range g.moved() {
		if float64(n) >= nearlyAll*leastSeries {
			return true
		}
	}
	return false
}

// moved counts the series that moved on each testbed.
func (g Group) moved() map[string]int {
	moved := map[string]int{}
	seen := map[string]bool{}
	for _, e := range g.Events {
		if !seen[e.Series] {
			seen[e.Series] = true
			moved[e.Testbed]++
		}
	}
	return moved
}

// machine is the testbed that moved as a whole, alone but for strays; empty where none did.
func (g Group) machine(series map[string]int) string {
	moved := g.moved()
	var whole string
	for bed, n := range moved {
		switch all := series[bed]; {
		case all >= leastSeries && float64(n) >= nearlyAll*float64(all):
			if whole != "" {
				return "" // two of them: that is a commit
			}
			whole = bed
		case n > strays(all):
			return ""
		}
	}
	if len(series) < 2 { // nobody can tell a machine from a commit
		return ""
	}
	return whole
}

// split parts the events of a machine from those that stray.
func (g Group) split(series map[string]int) []Group {
	bed := g.machine(series)
	if bed == "" {
		return []Group{g}
	}
	var own, stray []Located
	for _, e := range g.Events {
		if e.Testbed == bed {
			own = append(own, e)
		} else {
			stray = append(stray, e)
		}
	}
	parts := []Group{common(own)}
	parts[0].Machine = bed
	if len(stray) > 0 {
		parts = append(parts, common(stray))
	}
	return parts
}

// common is a group of events whose ranges have a part in common.
func common(events []Located) Group {
	g := Group{Events: events, Lo: events[0].Lo, Hi: events[0].Hi}
	for _, e := range events {
		g.Lo, g.Hi = max(g.Lo, e.Lo), min(g.Hi, e.Hi)
	}
	return g
}
