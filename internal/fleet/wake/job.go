package wake

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Stage is the progress of a job. It only increases, so a duplicate, late or reordered delivery changes
// nothing.
type Stage string

// The stages. A job is Gone when the forge no longer lists it and its end was not reported. Unlike after
// Done, a later listing counts again.
const (
	Queued  Stage = "queued"
	Running Stage = "running"
	Gone    Stage = "gone"
	Done    Stage = "done"
)

func (s Stage) live() bool { return s == Queued || s == Running }

// Job is one job of a workflow.
type Job struct {
	Repo    string    `json:"repo"` // owner/name, in lower case
	ID      int64     `json:"id"`
	Labels  []string  `json:"labels,omitempty"`
	Stage   Stage     `json:"stage"`
	Runner  string    `json:"runner,omitempty"` // the runner that took it
	Created time.Time `json:"created,omitzero"`
	Seen    time.Time `json:"seen,omitzero"` // when it was first seen
	Misses  int       `json:"misses,omitempty"`
}

func (j *Job) key() string { return j.Repo + "#" + strconv.FormatInt(j.ID, 10) }

// fits reports whether a host has all labels of a job. A job without labels fits no host: deliveries of
// finished jobs have none.
func (j *Job) fits(h *HostConfig) bool {
	if len(j.Labels) == 0 {
		return false
	}
	for _, l := range j.Labels {
		if !slices.Contains(h.Labels, l) {
			return false
		}
	}
	return true
}

// runsOn reports whether a running job may be on a host. If the names of the runners are unknown, it may
// be on every host that fits.
func (j *Job) runsOn(c *Config, h *HostConfig) bool {
	if j.Stage != Running || !j.fits(h) {
		return false
	}
	if j.Runner == "" {
		return true
	}
	if len(h.Runners) > 0 {
		return h.owns(j.Runner)
	}
	for i := range c.Hosts {
		if other := &c.Hosts[i]; other.Name != h.Name && other.owns(j.Runner) {
			return false
		}
	}
	return true
}

func (h *HostConfig) owns(runner string) bool {
	for _, glob := range h.Runners {
		if ok, err := path.Match(glob, runner); ok && err == nil {
			return true
		}
	}
	return false
}

const (
	// maxAge is how long a job can wait: the forge gives up after 24 hours. A delivery of an older job is a
	// replay, and an older ended job can be forgotten.
	maxAge = 25 * time.Hour
	// maxJobs limits the number of remembered jobs.
	maxJobs = 10_000
	// missedPolls is how many polls in a row must lack a job before it is gone: a paged listing can miss
	// jobs that move between pages.
	missedPolls = 2
)

// observe processes what a delivery or a poll reports about a job.
func (s *State) observe(c *Config, told Job, polled bool, now time.Time) {
	if !slices.Contains(c.Forge.Repositories, told.Repo) {
		return
	}
	j := s.Jobs[told.key()]
	if j == nil {
		if !s.admit(c, &told, polled, now) {
			return
		}
		told.Seen, told.Misses = now, 0
		s.Jobs[told.key()] = &told
		s.confirmHosts(c, &told)
		return
	}
	if polled {
		j.Misses = 0
	}
	if told.Runner != "" {
		j.Runner = told.Runner
	}
	switch was := j.Stage; {
	case was == Done, was == told.Stage, was == Running && told.Stage == Queued:
		return
	case was == Gone && told.Stage == Queued && !polled:
		return
	default:
		s.move(c, j, told.Stage, now)
	}
}

// admit reports whether an unknown job is worth remembering.
func (s *State) admit(c *Config, told *Job, polled bool, now time.Time) bool {
	if !polled && !told.Created.IsZero() && now.Sub(told.Created) > maxAge {
		return false
	}
	if len(s.Jobs) >= maxJobs {
		s.forget(now)
		if len(s.Jobs) >= maxJobs {
			return false
		}
	}
	if told.Stage == Done && len(told.Labels) == 0 {
		return true // so that its queued delivery, if it arrives late, starts no host
	}
	return slices.ContainsFunc(c.Hosts, func(h HostConfig) bool { return told.fits(&h) })
}

// move sets the stage of a job. Hosts it ran on are idle from now.
func (s *State) move(c *Config, j *Job, to Stage, now time.Time) {
	for i := range c.Hosts {
		if h := &c.Hosts[i]; j.runsOn(c, h) {
			s.host(h.Name).IdleSince = now
		}
	}
	j.Stage = to
	s.confirmHosts(c, j)
}

// confirmHosts treats a running job as proof that its hosts work.
func (s *State) confirmHosts(c *Config, j *Job) {
	for i := range c.Hosts {
		if h := &c.Hosts[i]; j.runsOn(c, h) && s.host(h.Name).Seen == On {
			s.host(h.Name).Failures = 0
		}
	}
}

// reconcile processes a complete listing of a repository's jobs.
func (s *State) reconcile(c *Config, p Poll, now time.Time) {
	listed := map[string]bool{}
	for _, j := range p.Jobs {
		listed[j.key()] = true
		s.observe(c, j, true, now)
	}
	for key, j := range s.Jobs {
		if j.Repo != p.Repo || listed[key] || !j.Stage.live() || !j.Seen.Before(p.Began) {
			continue
		}
		if j.Misses++; j.Misses >= missedPolls {
			s.move(c, j, Gone, now)
		}
	}
	s.Polled[p.Repo] = p.Began
	s.forget(now)
}

// forget drops ended jobs that no delivery can refer to any more, and the oldest ended ones if there are
// too many.
func (s *State) forget(now time.Time) {
	var ended []*Job
	for key, j := range s.Jobs {
		switch {
		case j.Stage.live():
		case now.Sub(j.Seen) > maxAge:
			delete(s.Jobs, key)
		default:
			ended = append(ended, j)
		}
	}
	if spare := len(s.Jobs) - maxJobs*9/10; spare > 0 {
		slices.SortFunc(ended, func(a, b *Job) int {
			if d := a.Seen.Compare(b.Seen); d != 0 {
				return d
			}
			return strings.Compare(a.key(), b.key())
		})
		for _, j := range ended[:min(spare, len(ended))] {
			delete(s.Jobs, j.key())
		}
	}
}
