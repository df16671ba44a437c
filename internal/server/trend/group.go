package trend

import (
	"cmp"
	"slices"
)

// Located is an event of one series among many.
type Located struct {
	Event
	ID              int64 // chosen by the caller
	Series, Testbed string
	// Lo and Hi are the positions of its commits on the branch. The cause is after Lo and at or before Hi.
	Lo, Hi int64
}

// Group is a set of events at one place of a branch, in any number of series.
type Group struct {
	Events []Located // largest change first
	Lo, Hi int64     // intersection of the ranges of all events
	// Machine names the testbed on which nearly every series changed, while next to none changed on another. The
	// cause is then a driver, a clock or a fan, not a commit.
	Machine string
}

// GroupEvents groups steps whose commit ranges overlap. A drift has no single place and forms its own
// group. series is the number of series per testbed: a testbed with few is never named as the cause. If
// a machine is the cause, changes elsewhere that coincide by chance form a separate group.
func GroupEvents(events []Located, series map[string]int) []Group {
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

// A machine is distinguished from a commit as follows: on a testbed with at least minSeries, the
// fraction nearlyAll changed, while on each other testbed only a stray or two did.
const (
	minSeries   = 5
	nearlyAll   = 0.8
	minForStray = 10 // from this many series on, one may change by chance
	nearlyNone  = 0.05
)

// strays returns how many series of a testbed may change by chance when another testbed changed as a whole.
func strays(series int) int {
	if series < minForStray {
		return 0
	}
	return max(1, int(nearlyNone*float64(series)))
}

// MayBeMachine reports whether a machine could be the cause: so many series changed on one testbed that they
// could be nearly all of it.
func (g Group) MayBeMachine() bool {
	for _, n := range g.moved() {
		if float64(n) >= nearlyAll*minSeries {
			return true
		}
	}
	return false
}

// moved counts the series that changed on each testbed.
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

// machine returns the only testbed that changed as a whole, ignoring strays; empty if there is none.
func (g Group) machine(series map[string]int) string {
	moved := g.moved()
	var whole string
	for bed, n := range moved {
		switch all := series[bed]; {
		case all >= minSeries && float64(n) >= nearlyAll*float64(all):
			if whole != "" {
				return "" // two testbeds: a commit is the cause
			}
			whole = bed
		case n > strays(all):
			return ""
		}
	}
	if len(series) < 2 { // with one testbed, a machine cannot be distinguished from a commit
		return ""
	}
	return whole
}

// split separates the events of a machine from strays.
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

// common returns a group of events whose ranges overlap.
func common(events []Located) Group {
	g := Group{Events: events, Lo: events[0].Lo, Hi: events[0].Hi}
	for _, e := range events {
		g.Lo, g.Hi = max(g.Lo, e.Lo), min(g.Hi, e.Hi)
	}
	return g
}
