package wake

import "time"

// Event is an input of Step: Delivery, Poll, Answer, Ended or Tick.
type Event interface{ event() }

// Delivery is a webhook's report about a job.
type Delivery struct{ Job Job }

// Poll is a complete listing of a repository's waiting and running jobs.
type Poll struct {
	Repo  string
	Began time.Time
	Jobs  []Job
}

// StatusResult is the result of a status command.
type StatusResult struct {
	Host  string
	Turn  int   // of the Ask
	Power Power // Unknown if it failed
	Why   string
	Busy  bool // a command of an earlier process was still running before the check
}

// Ended reports that a start or stop command has ended.
type Ended struct {
	Host  string
	Kind  Kind
	Why   string // empty if it succeeded
	Stays bool   // the host was not stopped, because a job has just come
}

// Tick only advances the time. One is needed about every second.
type Tick struct{}

func (Delivery) event()     {}
func (Poll) event()         {}
func (StatusResult) event() {}
func (Ended) event()        {}
func (Tick) event()         {}

// Action is an operation on a host, to run once the state is on disk.
type Action struct {
	Kind Kind
	Host string
	Turn int
}

// Step processes an event and returns the actions to run and the messages to log.
func (s *State) Step(c *Config, e Event, now time.Time) (actions []Action, said []string) {
	s.Note(c, e, now)
	actions = s.decide(c, now)
	said, s.said = s.said, nil
	return actions, said
}

// Note processes an event, and leaves what follows from it to the next step.
func (s *State) Note(c *Config, e Event, now time.Time) {
	s.account(now)
	switch e := e.(type) {
	case Delivery:
		s.observe(c, e.Job, false, now)
	case Poll:
		s.reconcile(c, e, now)
	case StatusResult:
		if hc := c.Host(e.Host); hc != nil {
			s.answered(hc, e, now)
		}
	case Ended:
		if hc := c.Host(e.Host); hc != nil {
			s.ended(hc, e, now)
		}
	case Tick:
	}
}

// answered processes a status. A status requested before a command is stale.
func (s *State) answered(hc *HostConfig, a StatusResult, now time.Time) {
	h := s.host(hc.Name)
	if a.Turn != h.turn || !h.asking {
		return
	}
	h.asking = false
	if h.inherited {
		if !a.Busy || now.Sub(h.Flight.Since) >= hc.Timeout {
			h.Flight, h.inherited = nil, false
		}
		return // the command's effect may not show yet; the next status counts
	}
	h.Seen, h.SeenAt = a.Power, now
	switch a.Power {
	case On:
		h.StopAgain = time.Time{}
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
			return // it is about to start
		}
		if !h.SettledUntil.IsZero() {
			s.settle(hc.Name, h, now)
			s.reason(hc.Name, h, "is off")
		}
		h.OffAt, h.Up, h.Stopped, h.StopAgain, h.StopFailures = now, time.Time{}, time.Time{}, time.Time{}, 0
	case Unknown:
		s.reason(hc.Name, h, "its status is unknown: %s", a.Why)
		if h.SettledUntil.IsZero() {
			h.NoStartBefore = later(h.NoStartBefore, now.Add(3*hc.Ask)) // another host may be usable
		}
	}
}

// ended processes the end of a command.
func (s *State) ended(hc *HostConfig, e Ended, now time.Time) {
	h := s.host(hc.Name)
	if h.Flight == nil || h.Flight.Kind != e.Kind || h.inherited {
		return
	}
	began := h.Flight.Since
	h.Flight = nil
	h.turn++
	h.Seen = Unknown
	h.asking, h.asked = false, now // its effect may not show at once
	switch {
	case e.Kind == Start && e.Why == "":
		h.Started = began
	case e.Stays:
		h.IdleSince = now
	case e.Kind == Start:
		s.startFailed(hc, h, now, "its start failed: "+e.Why)
	case e.Why == "":
		h.Stopped = now
	default:
		s.stopFailed(hc, h, now, "its stop failed: "+e.Why)
	}
}

const attempts = 5

// startFailed delays the next start, longer after each failure.
func (s *State) startFailed(hc *HostConfig, h *Host, now time.Time, why string) {
	h.Started = time.Time{}
	h.Failures++
	wait := 3 * hc.Ask << min(h.Failures-1, 5)
	if h.Failures >= attempts {
		wait = max(wait, hc.Retry)
		s.say("%s: giving up for %v after %d attempts", hc.Name, wait, h.Failures)
	}
	h.NoStartBefore = now.Add(wait)
	s.reason(hc.Name, h, "%s; retrying in %v", why, wait)
}

// stopFailed delays the next stop, but never for long: every minute costs.
func (s *State) stopFailed(hc *HostConfig, h *Host, now time.Time, why string) {
	h.Stopped, h.StopAgain = time.Time{}, now
	wait := hc.Ask << min(h.StopFailures, 4)
	h.StopFailures++
	h.NoStopBefore = now.Add(wait)
	s.say("%s: %s; retrying in %v", hc.Name, why, wait)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
