package alert

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// regroupPlan records what a scan must regroup: the parts of the branch where an event appeared, disappeared
// or moved, or where a testbed was measured.
type regroupPlan struct {
	spans  []span
	groups map[int64]bool // groups that lost an event, or whose events changed in size
}

type span struct{ from, to time.Time }

// event records a change from was to is; nil means none.
func (m *regroupPlan) event(was, is *Event) {
	if was != nil && was.Group != 0 {
		if m.groups == nil {
			m.groups = map[int64]bool{}
		}
		m.groups[was.Group] = true
	}
	if was != nil && is != nil && was.Group != 0 && inPlace(was, is) {
		return
	}
	for _, e := range []*Event{was, is} {
		switch {
		case e == nil:
		case e.Kind == string(trend.Drift): // alone in its group, so only it must be found
			m.spans = append(m.spans, span{e.At.Add(-time.Microsecond), e.At})
		default:
			m.spans = append(m.spans, span{e.lo(), e.At})
		}
	}
}

// measured records where a series has new points. They affect which fraction of a testbed changed.
func (m *regroupPlan) measured(was, is SeriesState) {
	if was.Points == 0 {
		m.spans = append(m.spans, span{is.First, is.Last})
		return
	}
	if is.Last.After(was.Last) {
		m.spans = append(m.spans, span{was.Last, is.Last})
	}
	if is.First.Before(was.First) {
		m.spans = append(m.spans, span{is.First, was.First})
	}
	if is.Last.Before(was.Last) || is.First.After(was.First) { // points were removed
		m.spans = append(m.spans, span{is.First, was.Last}, span{was.First, is.Last})
	}
}

// merged returns the sorted spans, with overlapping ones merged.
func (m *regroupPlan) merged() []span {
	slices.SortFunc(m.spans, func(a, b span) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
	var list []span
	for _, s := range m.spans {
		if n := len(list); n > 0 && !s.from.After(list[n-1].to) {
			if s.to.After(list[n-1].to) {
				list[n-1].to = s.to
			}
			continue
		}
		list = append(list, s)
	}
	return list
}

// regroup regroups the recorded parts and returns the number of groups written or deleted. Commit ranges
// that do not overlap never share a group, so a part of the branch can be grouped alone. The result
// equals grouping everything.
func (m *regroupPlan) regroup(ctx context.Context, d ScanTx) (int, error) {
	events := map[int64]Event{}
	for _, s := range m.merged() {
		if err := connected(ctx, d, s, events); err != nil {
			return 0, err
		}
	}
	ids := map[int64]bool{}
	maps.Copy(ids, m.groups)
	for _, e := range events {
		if e.Group != 0 {
			ids[e.Group] = true
		}
	}
	if len(ids) == 0 && len(events) == 0 {
		return 0, nil
	}
	sorted := slices.Sorted(maps.Keys(ids))
	kept, err := d.Groups(ctx, sorted)
	if err != nil {
		return 0, err
	}
	old := map[int64]Group{}
	for _, g := range kept {
		old[g.ID] = g
	}
	groups, err := together(ctx, d, events)
	if err != nil {
		return 0, err
	}
	inherit(groups, old, events)
	resized, err := m.resize(ctx, d, old, events)
	if err != nil {
		return 0, err
	}
	return m.keep(ctx, d, append(groups, resized...), old)
}

// connected adds the events whose ranges touch a span, then those that touch these events, and so on.
func connected(ctx context.Context, d ScanTx, s span, all map[int64]Event) error {
	for {
		list, err := d.EventsBetween(ctx, s.from, s.to)
		if err != nil {
			return err
		}
		wider := s
		for _, e := range list {
			all[e.ID] = e
			if e.Kind == string(trend.Drift) { // it shares a group with no other event
				continue
			}
			if lo := e.lo(); lo.Before(wider.from) {
				wider.from = lo
			}
			if e.At.After(wider.to) {
				wider.to = e.At
			}
		}
		if wider == s {
			return nil
		}
		s = wider
	}
}

// together builds the groups.
func together(ctx context.Context, d ScanTx, events map[int64]Event) ([]*Group, error) {
	located := make([]trend.Located, 0, len(events))
	for _, id := range slices.Sorted(maps.Keys(events)) {
		located = append(located, locate(events[id]))
	}
	var groups []*Group
	for _, t := range trend.GroupEvents(located, nil) {
		parts, err := splitByMachine(ctx, d, t)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			g := summary(part.Events, events)
			if part.Machine != "" {
				g.Machine = events[part.Events[0].ID].Testbed
			}
			groups = append(groups, g)
		}
	}
	return groups, nil
}

func locate(e Event) trend.Located {
	lo := e.lo()
	return trend.Located{
		Event: trend.Event{Kind: trend.Kind(e.Kind), Worse: e.Worse, Before: e.Before, After: e.After},
		ID:    e.ID, Series: strconv.FormatInt(e.Series, 10), Testbed: strconv.FormatInt(e.Testbed, 10),
		Lo: lo.UnixMicro(), Hi: e.At.UnixMicro(),
	}
}

// splitByMachine determines whether a machine is the cause, and splits off unrelated events. Counting the series
// of all testbeds is expensive, so it does that only if a machine could be the cause.
func splitByMachine(ctx context.Context, d ScanTx, t trend.Group) ([]trend.Group, error) {
	if !t.MayBeMachine() {
		return []trend.Group{t}, nil
	}
	counts, err := d.Measured(ctx, time.UnixMicro(t.Lo).UTC(), time.UnixMicro(t.Hi).UTC())
	if err != nil {
		return nil, err
	}
	series := make(map[string]int, len(counts))
	for bed, n := range counts {
		series[strconv.FormatInt(bed, 10)] = n
	}
	return trend.GroupEvents(t.Events, series), nil
}

// resize updates the groups whose events only changed in size.
func (m *regroupPlan) resize(ctx context.Context, d ScanTx, old map[int64]Group, done map[int64]Event) ([]*Group, error) {
	seen := map[int64]bool{}
	for _, e := range done {
		seen[e.Group] = true
	}
	var ids []int64
	for _, id := range slices.Sorted(maps.Keys(m.groups)) {
		if _, known := old[id]; known && !seen[id] {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := d.EventsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	events := map[int64]Event{}
	members := map[int64][]trend.Located{}
	for _, e := range list {
		events[e.ID] = e
		members[e.Group] = append(members[e.Group], locate(e))
	}
	var groups []*Group
	for _, id := range ids {
		if len(members[id]) == 0 {
			continue
		}
		was := old[id]
		g := summary(members[id], events)
		g.ID, g.Machine, g.Told = id, was.Machine, was.Told
		groups = append(groups, g)
	}
	return groups, nil
}
