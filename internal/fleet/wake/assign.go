package wake

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// load is the work of a host.
type load struct {
	running bool // a job runs on it, or may run on it
	taken   int  // slots used by running and waiting jobs
	waiting int  // jobs that wait for it
}

// assign decides which host should take which job. Running jobs come first, then the jobs that the
// fewest hosts fit, so that a job with few options is not left without a host.
func (s *State) assign(c *Config, now time.Time) map[string]*load {
	loads := map[string]*load{}
	for i := range c.Hosts {
		loads[c.Hosts[i].Name] = &load{}
	}
	type waiting struct {
		job  *Job
		fits []*HostConfig
	}
	var queue []waiting
	for _, key := range slices.Sorted(maps.Keys(s.Jobs)) { // always the same order: a workflow replays it
		switch j := s.Jobs[key]; j.Stage {
		case Running:
			s.place(c, j, loads)
		case Queued:
			if j.Misses > 0 {
				continue // missing from the last listing; the next one decides
			}
			w := waiting{job: j}
			for i := range c.Hosts {
				if h := &c.Hosts[i]; j.fits(h) {
					w.fits = append(w.fits, h)
				}
			}
			queue = append(queue, w)
		case Gone, Done:
		}
	}
	slices.SortFunc(queue, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(len(a.fits), len(b.fits)), a.job.Seen.Compare(b.job.Seen), cmp.Compare(a.job.key(), b.job.key()))
	})
	for _, w := range queue {
		h := s.choose(c, w.fits, loads, now)
		if h == nil {
			s.explain(c, w.job, w.fits, now)
			continue
		}
		l := loads[h.Name]
		l.taken++
		l.waiting++
	}
	return loads
}

// explain logs, once a day, that a job waits only because the budget does not suffice.
func (s *State) explain(c *Config, j *Job, fits []*HostConfig, now time.Time) {
	for _, hc := range fits {
		if h := s.host(hc.Name); !s.Day.Short && h.SettledUntil.IsZero() && !s.affords(c, hc, now) {
			s.Day.Short = true
			s.say("job %s waits: the budget of %s is too small for a start of %s", j.key(), s.Day.Date, hc.Name)
		}
	}
}

// place marks the hosts that a running job may be on, and takes a slot on one of them.
func (s *State) place(c *Config, j *Job, loads map[string]*load) {
	placed := false
	for i := range c.Hosts {
		h := &c.Hosts[i]
		if !j.runsOn(c, h) {
			continue
		}
		l := loads[h.Name]
		l.running = true
		if !placed && l.taken < h.Jobs && s.host(h.Name).phase() == On {
			l.taken++
			placed = true
		}
	}
}

// choose returns the best host with a free slot: one that is on, then one that is starting, then the
// cheapest that can be started.
func (s *State) choose(c *Config, fits []*HostConfig, loads map[string]*load, now time.Time) *HostConfig {
	var best *HostConfig
	bestRank := 0
	for _, h := range fits {
		if loads[h.Name].taken >= h.Jobs {
			continue
		}
		rank := s.rank(c, h, now)
		if rank < 0 {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(rank, bestRank), cmp.Compare(h.Price, best.Price), cmp.Compare(h.Name, best.Name)) < 0 {
			best, bestRank = h, rank
		}
	}
	return best
}

func (s *State) rank(c *Config, hc *HostConfig, now time.Time) int {
	h := s.host(hc.Name)
	switch h.phase() {
	case On:
		return 0
	case Starting:
		return 1
	case Stopping:
		return -1 // it can be started again only once it is off
	case Off, Unknown:
		if !h.SettledUntil.IsZero() {
			return 1 // it was on when it was last seen
		}
		if now.Before(h.NoStartBefore) || !s.affords(c, hc, now) {
			return -1
		}
		return 2
	}
	return -1
}
