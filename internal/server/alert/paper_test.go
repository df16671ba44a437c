package alert_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/alert"
)

// paper is a memory on paper: what package store does, without a database.
type paper struct {
	reports map[int64]result
	series  map[int64]*sheet
	dirty   []int64
	events  map[int64]alert.Event
	groups  map[int64]alert.Group
	last    int64 // id given
	most    int   // reports that a scan takes at once, if above zero
}

// result is a report: one commit on one testbed.
type result struct {
	id, bed int64
	at      time.Time
	values  map[int64]float64 // by series
}

type sheet struct {
	bed    int64
	points []alert.Point
	known  alert.SeriesState
}

func newPaper() *paper {
	return &paper{reports: map[int64]result{}, series: map[int64]*sheet{}, events: map[int64]alert.Event{}, groups: map[int64]alert.Group{}}
}

func (p *paper) add(r result) {
	p.reports[r.id] = r
	p.dirty = append(p.dirty, r.id)
	for id, v := range r.values {
		s := p.series[id]
		if s == nil {
			s = &sheet{bed: r.bed}
			p.series[id] = s
		}
		point := alert.Point{At: r.at, Report: r.id, Value: v}
		i, _ := slices.BinarySearchFunc(s.points, point, func(a, b alert.Point) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Report, b.Report))
		})
		s.points = slices.Insert(s.points, i, point)
	}
}

// remove takes the points of a report away, as a move to another time begins.
func (p *paper) remove(id int64) {
	for sid := range p.reports[id].values {
		s := p.series[sid]
		s.points = slices.DeleteFunc(s.points, func(x alert.Point) bool { return x.Report == id })
	}
	delete(p.reports, id)
}

func (p *paper) WithScanLock(_ context.Context, _ int64, f func(alert.ScanTx) error) error {
	return f(p)
}

func (p *paper) TakeReports(_ context.Context, reports, _ int) (alert.Taken, error) {
	if p.most > 0 {
		reports = p.most
	}
	var t alert.Taken
	for ; len(p.dirty) > 0 && t.Reports < reports; p.dirty = p.dirty[1:] {
		t.Reports++
		t.Series = slices.AppendSeq(t.Series, maps.Keys(p.reports[p.dirty[0]].values))
	}
	t.More = len(p.dirty) > 0
	slices.Sort(t.Series)
	t.Series = slices.Compact(t.Series)
	return t, nil
}

// Histories returns three series at a time.
func (p *paper) Histories(_ context.Context, series []int64) iter.Seq2[[]alert.History, error] {
	return func(yield func([]alert.History, error) bool) {
		for some := range slices.Chunk(series, 3) {
			var list []alert.History
			for _, id := range some {
				s := p.series[id]
				list = append(list, alert.History{
					Series: id, Testbed: s.bed, Points: s.points, Known: s.known,
					Events: p.eventsWhere(func(e alert.Event) bool { return e.Series == id }),
				})
			}
			if !yield(list, nil) {
				return
			}
		}
	}
}

func (p *paper) eventsWhere(want func(alert.Event) bool) []alert.Event {
	var list []alert.Event
	for _, id := range slices.Sorted(maps.Keys(p.events)) {
		if want(p.events[id]) {
			list = append(list, p.events[id])
		}
	}
	return list
}

func (p *paper) Commits(_ context.Context, reports []int64) (map[int64]string, error) {
	commits := map[int64]string{}
	for _, id := range reports {
		commits[id] = fmt.Sprint("c", p.reports[id].at.Unix())
	}
	return commits, nil
}

func (p *paper) Keep(_ context.Context, outcomes []*alert.Outcome) error {
	for _, o := range outcomes {
		p.series[o.Series].known = o.Known
		for _, id := range o.Gone {
			delete(p.events, id)
		}
		for _, e := range o.Changed {
			if e.ID == 0 {
				p.last++
				e.ID = p.last
			}
			e.Group = p.events[e.ID].Group
			p.events[e.ID] = *e
		}
	}
	return nil
}

func (p *paper) EventsBetween(_ context.Context, from, to time.Time) ([]alert.Event, error) {
	return p.eventsWhere(func(e alert.Event) bool {
		lo := e.Since
		if before := e.At.Add(-time.Microsecond); lo.After(before) {
			lo = before
		}
		return e.At.After(from) && lo.Before(to)
	}), nil
}

func (p *paper) EventsOf(_ context.Context, groups []int64) ([]alert.Event, error) {
	return p.eventsWhere(func(e alert.Event) bool { return slices.Contains(groups, e.Group) }), nil
}

func (p *paper) Groups(_ context.Context, ids []int64) ([]alert.Group, error) {
	var list []alert.Group
	for _, id := range ids {
		if g, ok := p.groups[id]; ok {
			g.Events = nil
			for _, e := range p.eventsWhere(func(e alert.Event) bool { return e.Group == id }) {
				g.Events = append(g.Events, e.ID)
			}
			list = append(list, g)
		}
	}
	return list, nil
}

func (p *paper) Measured(_ context.Context, before, after time.Time) (map[int64]int, error) {
	counts := map[int64]int{}
	for _, s := range p.series {
		if s.known.Points > 0 && !s.known.First.After(before) && !s.known.Last.Before(after) {
			counts[s.bed]++
		}
	}
	return counts, nil
}

func (p *paper) KeepGroups(_ context.Context, groups []*alert.Group, gone []int64) error {
	for _, g := range groups {
		if g.ID == 0 {
			p.last++
			g.ID = p.last
		}
		p.groups[g.ID] = *g
		for _, id := range g.Events {
			e := p.events[id]
			e.Group = g.ID
			p.events[id] = e
		}
	}
	for _, id := range gone {
		delete(p.groups, id)
		for eid, e := range p.events {
			if e.Group == id {
				e.Group = 0
				p.events[eid] = e
			}
		}
	}
	return nil
}
