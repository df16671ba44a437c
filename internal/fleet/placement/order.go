package placement

import (
	"cmp"
	"slices"
	"time"
)

// byProject returns the shares by project. It is only looked up in: the order of a map differs between replays.
func (s *State) byProject() map[string]Share {
	shares := make(map[string]Share, len(s.Shares))
	for _, p := range s.Shares {
		shares[p.Project] = p
	}
	return shares
}

// used returns the share that a project has used; a project that has none starts at the floor.
func (s *State) used(project string, shares map[string]Share) int64 {
	if p, ok := shares[project]; ok {
		return p.Used
	}
	return s.Floor
}

// before reports whether a request is served before another: urgent ones are first, then those of the project with the
// lowest share, then the oldest.
func (s *State) before(a, b Request, shares map[string]Share, now time.Time) bool {
	return cmp.Or(
		cmp.Compare(urgency(a, shares, now), urgency(b, shares, now)),
		cmp.Compare(s.used(a.Project, shares), s.used(b.Project, shares)),
		a.At.Compare(b.At),
	) < 0
}

// urgency is the priority of a request, more urgent the longer its project has waited for any lease.
func urgency(r Request, shares map[string]Share, now time.Time) int {
	since := r.At
	if served := shares[r.Project].Served; served.After(since) {
		since = served
	}
	return r.Priority - int(now.Sub(since)/aging)
}

// order returns the waiting requests in the order in which they would start, and how many of them have budget. The others
// are last. It is what repeated calls of before would give, without comparing all with all: a queue has thousands. The
// priorities become urgencies.
func (s *State) order(now time.Time) (list []Request, funded int) {
	shares := s.byProject()
	used := map[string]int64{}
	var ready, held []Request
	for _, r := range s.Requests {
		if now.Before(r.Held) {
			held = append(held, r)
			continue
		}
		used[r.Project] = s.used(r.Project, shares)
		r.Priority = urgency(r, shares, now)
		ready = append(ready, r)
	}
	slices.SortStableFunc(ready, func(a, b Request) int { return cmp.Compare(a.Priority, b.Priority) })
	for len(ready) > 0 {
		n := 1
		for n < len(ready) && ready[n].Priority == ready[0].Priority {
			n++
		}
		list = append(list, turns(ready[:n], used)...)
		ready = ready[n:]
	}
	return append(list, held...), len(list)
}

// turns orders requests of the same urgency: the next one is of the project that has used the least. It adds them to used.
func turns(requests []Request, used map[string]int64) []Request {
	var projects []string
	waiting := map[string][]Request{}
	for _, r := range requests {
		if waiting[r.Project] == nil {
			projects = append(projects, r.Project)
		}
		waiting[r.Project] = append(waiting[r.Project], r)
	}
	list := make([]Request, 0, len(requests))
	for range requests {
		best := 0
		for i, p := range projects {
			b := projects[best]
			if cmp.Or(cmp.Compare(used[p], used[b]), waiting[p][0].At.Compare(waiting[b][0].At)) < 0 {
				best = i
			}
		}
		p := projects[best]
		r := waiting[p][0]
		list = append(list, r)
		used[p] += int64(r.Seconds)
		if waiting[p] = waiting[p][1:]; len(waiting[p]) == 0 {
			projects = slices.Delete(projects, best, best+1)
		}
	}
	return list
}
