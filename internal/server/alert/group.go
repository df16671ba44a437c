package alert

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// summary builds a group from events that happened together.
func summary(members []trend.Located, events map[int64]Event) *Group {
	g := &Group{Worst: math.Inf(-1)}
	series, worse := map[int64]bool{}, map[int64]bool{}
	var from, to *Event // the latest start and the earliest end
	for _, t := range members {
		e := events[t.ID]
		g.Events = append(g.Events, e.ID)
		series[e.Series] = true
		if e.Worse {
			worse[e.Series] = true
		}
		g.Worst = max(g.Worst, changeForWorse(e))
		if from == nil || e.lo().After(from.lo()) || e.lo().Equal(from.lo()) && e.From < from.From {
			from = &e
		}
		if to == nil || e.At.Before(to.At) || e.At.Equal(to.At) && e.To < to.To {
			to = &e
		}
	}
	slices.Sort(g.Events)
	g.From, g.To, g.At = from.From, to.To, to.At
	g.Series, g.Worse = len(series), len(worse)
	if g.Worse == 0 { // among improvements, the largest counts
		g.Worst = math.Inf(1)
		for _, id := range g.Events {
			g.Worst = min(g.Worst, changeForWorse(events[id]))
		}
	}
	g.Worst = float64(float32(g.Worst)) // the stored precision
	return g
}

// changeForWorse returns how much an event changed a series; above zero means worse.
func changeForWorse(e Event) float64 {
	change := max(e.Before, e.After)/min(e.Before, e.After) - 1
	if e.Worse {
		return change
	}
	return -change
}

// inherit reuses the ids of existing groups: each group gets the id that most of its events had. If any
// part of a group was announced, the whole group counts as announced.
func inherit(groups []*Group, old map[int64]Group, events map[int64]Event) {
	type claim struct {
		group *Group
		at    int // index of the group in branch order
		id    int64
		votes int
	}
	var claims []claim
	for i, g := range groups {
		votes := map[int64]int{}
		for _, id := range g.Events {
			was := events[id].Group
			if o, known := old[was]; known {
				votes[was]++
				if o.Told.After(g.Told) {
					g.Told = o.Told
				}
			}
		}
		for id, n := range votes {
			claims = append(claims, claim{g, i, id, n})
		}
	}
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(b.votes, a.votes), cmp.Compare(a.id, b.id), cmp.Compare(a.at, b.at))
	})
	taken := map[int64]bool{}
	for _, c := range claims {
		if c.group.ID == 0 && !taken[c.id] {
			c.group.ID = c.id
			taken[c.id] = true
		}
	}
}

// keep writes the groups that changed and deletes those without events.
func (m *regroupPlan) keep(ctx context.Context, d ScanTx, groups []*Group, old map[int64]Group) (int, error) {
	gone := maps.Clone(old)
	var write []*Group
	for _, g := range groups {
		was, known := old[g.ID]
		delete(gone, g.ID)
		if known && g.equal(was) {
			continue
		}
		write = append(write, g)
	}
	if len(write) == 0 && len(gone) == 0 {
		return 0, nil
	}
	if err := d.KeepGroups(ctx, write, slices.Sorted(maps.Keys(gone))); err != nil {
		return 0, err
	}
	return len(write) + len(gone), nil
}

func (g *Group) equal(o Group) bool {
	return g.From == o.From && g.To == o.To && g.At.Equal(o.At) && g.Worst == o.Worst && g.Series == o.Series &&
		g.Worse == o.Worse && g.Machine == o.Machine && g.Told.Equal(o.Told) && slices.Equal(g.Events, o.Events)
}
