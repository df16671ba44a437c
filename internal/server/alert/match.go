package alert

import (
	"slices"
	"sort"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// near is the number of points by which a step may move, as more points arrive, and still be the same event.
const near = 10

// match determines which of the found events are already stored. Those keep their id, state and note.
// Stored events that are no longer found are deleted, unless a user has reviewed them or their points
// are no longer kept. Version 0 means that points were removed or moved on purpose: then their events go too.
func match(h History, found []Event, m *regroupPlan) (changed []*Event, gone []int64) {
	old := slices.DeleteFunc(slices.Clone(h.Events), func(e Event) bool { return e.At.Before(h.Points[0].At) && h.Known.Version != 0 })
	of := make([]int, len(found)) // index in old
	taken := make([]bool, len(old))
	for i := range found {
		of[i] = slices.IndexFunc(old, func(e Event) bool { return e.Kind == found[i].Kind && e.FirstReport == found[i].FirstReport })
		if of[i] >= 0 {
			taken[of[i]] = true
		}
	}
	for i := range found {
		if of[i] < 0 {
			if of[i] = h.nearest(found[i], old, taken); of[i] >= 0 {
				taken[of[i]] = true
			}
		}
		e := &found[i]
		if of[i] < 0 {
			changed = append(changed, e)
			m.event(nil, e)
			continue
		}
		was := &old[of[i]]
		e.ID, e.State, e.Group = was.ID, was.State, was.Group
		if !same(was, e) {
			changed = append(changed, e)
			m.event(was, e)
		}
	}
	for i := range old {
		if !taken[i] && old[i].State == client.EventNew {
			gone = append(gone, old[i].ID)
			m.event(&old[i], nil)
		}
	}
	return changed, gone
}

// nearest returns the index of the stored event that e refines; -1 if there is none.
func (h History) nearest(e Event, old []Event, taken []bool) int {
	best, least := -1, near+1
	for i := range old {
		o := &old[i]
		if taken[i] || o.Kind != e.Kind || o.Worse != e.Worse {
			continue
		}
		apart := h.index(o.At) - h.index(e.At)
		if apart < 0 {
			apart = -apart
		}
		if e.Kind == string(trend.Drift) && o.Since.Before(e.At) && e.Since.Before(o.At) {
			apart = 0 // the drift continues, or started earlier than it seemed
		}
		if apart < least {
			best, least = i, apart
		}
	}
	return best
}

// index returns the index of the first point at or after a time.
func (h History) index(at time.Time) int {
	return sort.Search(len(h.Points), func(i int) bool { return !h.Points[i].At.Before(at) })
}

// same reports whether there is nothing to write.
func same(a, b *Event) bool {
	return a.FirstReport == b.FirstReport && inPlace(a, b) && a.From == b.From && a.To == b.To && (a.Commits == b.Commits || a.Commits == 0) &&
		a.Worse == b.Worse && a.Before == b.Before && a.After == b.After && a.P == b.P
}

// inPlace reports whether two events have the same commit range.
func inPlace(a, b *Event) bool { return a.Since.Equal(b.Since) && a.At.Equal(b.At) }
