package watch

import (
	"slices"
	"sort"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/trend"
)

// near is by how many points a step may move, as more of them come, and still be the
// one that people spoke about.
const near = 10

// match finds out which of the events found are known already. Those keep their id and
// what people made of them. What is not found any more goes, unless somebody has
// spoken about it, or its points are no longer kept.
func match(h History, found []Event, m *moved) (changed []*Event, gone []int64) {
	old := slices.DeleteFunc(slices.Clone(h.Events), func(e Event) bool { return e.At.Before(h.Points[0].At) })
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
		if !taken[i] && old[i].State == client.New {
			gone = append(gone, old[i].ID)
			m.event(&old[i], nil)
		}
	}
	return changed, gone
}

// nearest is the kept event that another is a better view of; -1 if there is none.
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
			apart = 0 // it goes on, or began earlier than it seemed
		}
		if apart < least {
			best, least = i, apart
		}
	}
	return best
}

// index is that of the first point at a time or after it.
func (h History) index(at time.Time) int {
	return sort.Search(len(h.Points), func(i int) bool { return !h.Points[i].At.Before(at) })
}

// same tells that there is nothing to write.
func same(a, b *Event) bool {
	return a.FirstReport == b.FirstReport && inPlace(a, b) && a.From == b.From && a.To == b.To && (a.Commits == b.Commits || a.Commits == 0) &&
		a.Worse == b.Worse && a.Before == b.Before && a.After == b.After && a.P == b.P
}

// inPlace tells that two events have the same range of commits.
func inPlace(a, b *Event) bool { return a.Since.Equal(b.Since) && a.At.Equal(b.At) }
