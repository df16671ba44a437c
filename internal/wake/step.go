package wake

import "time"

// Event is something that happened: Delivery, Poll, Answer, Ended or Tick.
type Event interface{ event() }

// Delivery is what a webhook says of a job.
type Delivery struct{ Job Job }

// Poll is a whole listing of a repository's jobs that wait or run.
type Poll struct {
	Repo  string
	Began time.Time
	Jobs  []Job
}

// Answer is what a status command said.
type Answer struct {
	Host  string
	Turn  int   // of the Ask
	Power Power // Unknown when it failed
	Why   string
	Busy  bool // before it was asked, a command of an earlier life of ours still ran
}

// Ended tells that a start or a stop command has ended.
type Ended struct {
	Host string
	Kind Kind
	Why  string // empty when it went through
}

// Tick is nothing but the time. There must be one a second or so.
type Tick struct{}

func (Delivery) event() {}
func (Poll) event()     {}
func (Answer) event()   {}
func (Ended) event()    {}
func (Tick) event()     {}

// Action is something to do to a host, when the state is on disk.
type Action struct {
	Kind Kind
	Host string
	Turn int
}

// Step takes in an event and says what is to be done and told.
func (s *State) Step(c *Config, e Event, now time.Time) (actions []Action, said []string) {
	s.account(now)
	switch e := e.(type) {
	case Delivery:
		s.observe(c, e.Job, false, now)
	case Poll:
		s.reconcile(c, e, now)
	case Answer:
		if hc := c.host(e.Host); hc != nil {
			s.answered(hc, e, now)
		}
	case Ended:
		if hc := c.host(e.Host); hc != nil {
			s.ended(hc, e, now)
		}
	case Tick:
	}
	actions = s.decide(c, now)
	said, s.said = s.said, nil
	return actions, said
}

// answered takes in a status. One that was asked for before a command is stale.
func (s *State) answered(hc *HostConfig, a Answer, now time.Time) {
	h := s.host(hc.Name)
	if a.Turn != h.turn || !h.asking {
		return
	}
	h.asking = false
	if h.orphan {
		if !a.Busy || now.Sub(h.Flight.Since) >= hc.Timeout {
			h.Flight, h.orphan = nil, false
		}
		return // what the command did may not show yet: the next answer counts
	}
	h.Seen, h.SeenAt = a.Power, now
	switch a.Power {
	case On:
		h.meter(h.OffAt, now)
		if !h.Started.IsZero() || h.Up.IsZero() {
			h.Up = now
			s.reason(hc.Name, h, "is on")
		}
		h.Started = time.Time{}
	case Starting, Stopping:
		h.meter(h.OffAt, now)
	case Off:
		if h.Flight != nil || !h.Started.IsZero() {
			return // it is about to come
		}
		if !h.Paid.IsZero() {
			s.settle(hc.Name, h, now)
			s.reason(hc.Name, h, "is off")
		}
		h.OffAt, h.Up, h.Stopped, h.StopFailures = now, time.Time{}, time.Time{}, 0
	case Unknown:
		s.reason(hc.Name, h, "its status is not known: %s", a.Why)
		if h.Paid.IsZero() {
			h.Later = later(h.Later, now.Add(3*hc.Ask)) // another host may do
		}
	}
}

// ended takes in the end of a command.
func (s *State) ended(hc *HostConfig, e Ended, now time.Time) {
	h := s.host(hc.Name)
	if h.Flight == nil || h.Flight.Kind != e.Kind || h.orphan {
		return
	}
	began := h.Flight.Since
	h.Flight = nil
	h.turn++
	h.Seen = Unknown
	h.asking, h.asked = false, now // what it did may not show at once
	switch {
	case e.Kind == Start && e.Why == "":
		h.Started = began
	case e.Kind == Start:
		s.failed(hc, h, now, "its start failed: "+e.Why)
	case e.Why == "":
		h.Stopped = now
	default:
		s.unstopped(hc, h, now, "its stop failed: "+e.Why)
	}
}

const attempts = 5

// failed puts the next start off, the longer the more have failed.
func (s *State) failed(hc *HostConfig, h *Host, now time.Time, why string) {
	h.Started = time.Time{}
	h.Failures++
	wait := 3 * hc.Ask << min(h.Failures-1, 5)
	if h.Failures >= attempts {
		wait = max(wait, hc.Retry)
		s.say("%s: given up for %v after %d tries", hc.Name, wait, h.Failures)
	}
	h.Later = now.Add(wait)
	s.reason(hc.Name, h, "%s; tried again in %v", why, wait)
}

// unstopped puts the next stop off, but never for long: every minute costs.
func (s *State) unstopped(hc *HostConfig, h *Host, now time.Time, why string) {
	h.Stopped = time.Time{}
	wait := hc.Ask << min(h.StopFailures, 4)
	h.StopFailures++
	h.Wait = now.Add(wait)
	s.say("%s: %s; tried again in %v", hc.Name, why, wait)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
