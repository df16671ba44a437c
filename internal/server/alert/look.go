package alert

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// Limits of one transaction. A scan reads each series whole, so it costs as much as its series are long, however
// many of their reports it takes: one transaction takes as many as possible.
const (
	reportsAtOnce = 50_000
	seriesAtOnce  = 10_000 // so that a job finishes in time even after an import
)

// ScanStats counts what a scan did.
type ScanStats struct {
	Reports, Series int
	Oldest          time.Time // when the oldest of the reports arrived; zero if there was none
	Anew            int       // series scanned from the start, because their state did not match their points
	Damaged         int       // series with unreadable points
	Events, Groups  int       // written or deleted
}

func (l *ScanStats) add(m ScanStats) {
	if l.Oldest.IsZero() {
		l.Oldest = m.Oldest
	}
	l.Reports += m.Reports
	l.Series += m.Series
	l.Anew += m.Anew
	l.Damaged += m.Damaged
	l.Events += m.Events
	l.Groups += m.Groups
}

// Scan scans the unscanned reports of a project until none are left, and records the changes in their
// series. It returns ErrBusy if another scan is running.
func Scan(ctx context.Context, s Store, project int64) (ScanStats, error) {
	var all ScanStats
	for {
		var part ScanStats
		var more bool
		err := s.WithScanLock(ctx, project, func(d ScanTx) (err error) {
			part, more, err = look(ctx, d)
			return err
		})
		if err != nil {
			return all, fmt.Errorf("cannot scan the history of project %d: %w", project, err)
		}
		all.add(part)
		if !more {
			return all, nil
		}
	}
}

// look runs one transaction of a scan.
func look(ctx context.Context, d ScanTx) (l ScanStats, more bool, err error) {
	taken, err := d.TakeReports(ctx, reportsAtOnce, seriesAtOnce)
	if err != nil {
		return l, false, err
	}
	l = ScanStats{Reports: taken.Reports, Series: len(taken.Series), Oldest: taken.Oldest}
	var m regroupPlan
	for histories, err := range d.Histories(ctx, taken.Series) {
		if err != nil {
			return l, false, err
		}
		readable := slices.DeleteFunc(histories, func(h History) bool {
			if h.Damaged != nil {
				l.Damaged++
			}
			return h.Damaged != nil
		})
		empty := slices.DeleteFunc(slices.Clone(readable), func(h History) bool { return len(h.Points) > 0 })
		readable = slices.DeleteFunc(readable, func(h History) bool { return len(h.Points) == 0 })
		outcomes, anew, err := examine(ctx, d, readable, &m)
		if err != nil {
			return l, false, err
		}
		outcomes = append(outcomes, forgetEmpty(empty, &m)...)
		if err := d.Keep(ctx, outcomes); err != nil {
			return l, false, err
		}
		l.Anew += anew
		for _, o := range outcomes {
			l.Events += len(o.Changed) + len(o.Gone)
		}
	}
	l.Groups, err = m.regroup(ctx, d)
	return l, taken.More, err
}

// forgetEmpty returns the outcomes of series whose runs were all excluded: no state, and no events.
func forgetEmpty(histories []History, m *regroupPlan) []*Outcome {
	var outcomes []*Outcome
	for _, h := range histories {
		if h.Known.Points == 0 && len(h.Events) == 0 {
			continue
		}
		o := &Outcome{Series: h.Series}
		for i := range h.Events {
			if h.Events[i].State != client.EventNew { // as in match
				continue
			}
			o.Gone = append(o.Gone, h.Events[i].ID)
			m.event(&h.Events[i], nil)
		}
		if h.Known.Points > 0 {
			m.spans = append(m.spans, span{h.Known.First, h.Known.Last})
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// examine finds the events of each history. Every history must have points.
func examine(ctx context.Context, d ScanTx, histories []History, m *regroupPlan) ([]*Outcome, int, error) {
	var outcomes []*Outcome
	var found [][]Event
	var reports []int64
	anew := 0
	for _, h := range histories {
		known, events, fits := find(h)
		if !fits && h.Known.Points > 0 {
			anew++
		}
		for _, e := range events {
			reports = append(reports, e.FromReport, e.ToReport)
		}
		outcomes = append(outcomes, &Outcome{Series: h.Series, Known: known})
		found = append(found, events)
	}
	commits := map[int64]string{}
	if len(reports) > 0 {
		slices.Sort(reports)
		var err error
		if commits, err = d.Commits(ctx, slices.Compact(reports)); err != nil {
			return nil, 0, err
		}
	}
	for i, h := range histories {
		for k := range found[i] {
			e := &found[i][k]
			e.From, e.To = commits[e.FromReport], commits[e.ToReport]
		}
		o := outcomes[i]
		o.Changed, o.Gone = match(h, found[i], m)
		m.measured(h.Known, o.Known)
	}
	return outcomes, anew, nil
}

// find returns the events of a history, and whether its stored state could be used.
func find(h History) (SeriesState, []Event, bool) {
	points := make([]float64, len(h.Points))
	for i, p := range h.Points {
		points[i] = p.Value
	}
	s := trend.Settings{Higher: h.Higher}
	st, fits := recall(h, s)
	f, next := trend.Find(points, s, st)
	first, last := h.Points[0], h.Points[len(h.Points)-1]
	known := SeriesState{
		Points: len(h.Points), First: first.At, Last: last.At, Value: last.Value, Noise: f.Noise, TwoSpeeds: f.TwoSpeeds,
		Version: trend.Version, State: remember(h, s, next),
	}
	events := make([]Event, len(f.Events))
	for i, e := range f.Events {
		from, to := h.Points[e.From], h.Points[e.To]
		events[i] = Event{
			Series: h.Series, Testbed: h.Testbed, Kind: string(e.Kind), FirstReport: h.Points[e.First].Report,
			FromReport: from.Report, ToReport: to.Report, Commits: commitsIn(h.Points[e.From : e.To+1]), Since: from.At, At: to.At,
			Worse: e.Worse, Before: e.Before, After: e.After, P: e.P, State: client.EventNew,
		}
	}
	return known, events, fits
}

// commitsIn counts the commits after the first point. Points of one commit have the same time.
func commitsIn(points []Point) int {
	n := 0
	for i := 1; i < len(points); i++ {
		if !points[i].At.Equal(points[i-1].At) {
			n++
		}
	}
	return n
}

// lo returns the time after which the cause of an event lies. It is before At even if both commits have
// the same time.
func (e *Event) lo() time.Time {
	if before := e.At.Add(-time.Microsecond); e.Since.After(before) {
		return before
	}
	return e.Since
}
