package wake

import (
	"slices"
	"time"
)

// decide returns what to do to each host now.
func (s *State) decide(c *Config, now time.Time) []Action {
	loads := s.assign(c, now)
	over := !s.bound(c, now).within(c.Budget)
	if over && s.Day.Ended.IsZero() {
		s.Day.Ended = now
		s.say("the budget of %s is used up", s.Day.Date)
	}
	var list []Action
	for i := range c.Hosts {
		hc := &c.Hosts[i]
		h := s.host(hc.Name)
		l := loads[hc.Name]
		switch {
		case l.waiting == 0 || l.running:
			h.WantedSince = time.Time{}
		case h.WantedSince.IsZero():
			h.WantedSince = now
		}
		kind := Kind("")
		switch {
		case h.Flight != nil: // one command at a time
		case h.asking && !over: // the answer is about a host that is not being stopped
		case s.mustStop(c, hc, h, l, over, now):
			kind = Stop
		case l.waiting > 0 && s.mayStart(c, hc, h, now):
			kind = Start
		}
		if h.SettledUntil.IsZero() && l.waiting == 0 && !now.Before(h.NoStartBefore) {
			h.Failures = 0 // no job needs it
		}
		if kind != "" {
			h.Flight = &RunningCommand{Kind: kind, Since: now}
			h.turn++
			h.asking = false
			if kind == Start {
				h.Up, h.Stopped = time.Time{}, time.Time{}
				h.meter(now, now)
				s.reason(hc.Name, h, "starting, waiting jobs: %d", l.waiting)
			}
			list = append(list, Action{kind, hc.Name, h.turn})
			continue
		}
		if s.mustAsk(hc, h, l, now) {
			h.asking, h.asked = true, now
			list = append(list, Action{Ask, hc.Name, h.turn})
		}
	}
	return list
}

// mustStop reports whether a host must be stopped now, and logs why.
func (s *State) mustStop(c *Config, hc *HostConfig, h *Host, l *load, over bool, now time.Time) bool {
	if h.SettledUntil.IsZero() {
		return false
	}
	if !h.Stopped.IsZero() {
		if now.Sub(h.Stopped) < hc.Halt {
			return false
		}
		s.stopFailed(hc, h, now, "it was stopped but is not off after "+hc.Halt.String())
	}
	if now.Before(h.NoStopBefore) {
		return false
	}
	switch {
	case over && (!l.running || now.Sub(s.Day.Ended) >= c.Budget.Grace):
		if l.running {
			s.reason(hc.Name, h, "stopping although a job is running, which is lost: the budget of %s is used up", s.Day.Date)
		} else {
			s.reason(hc.Name, h, "stopping: the budget of %s is used up", s.Day.Date)
		}
		return true
	case !h.Started.IsZero() && now.Sub(h.Started) > hc.Boot:
		s.startFailed(hc, h, now, "it was started but is not on after "+hc.Boot.String())
		return h.Seen != Off
	case !h.StopAgain.IsZero() && h.SeenAt.After(h.StopAgain) && !l.running:
		s.reason(hc.Name, h, "stopping again: the last stop had no effect")
		return true
	case h.Seen != On || !h.Started.IsZero() || l.running || !s.recentlyPolled(c, hc, now):
		return false
	}
	rest := later(later(h.Up, h.IdleSince), h.WantedSince)
	if now.Sub(rest) < hc.Idle {
		return false
	}
	if l.waiting > 0 {
		s.startFailed(hc, h, now, "it is on but takes none of the waiting jobs")
	} else {
		h.Failures = 0
		s.reason(hc.Name, h, "stopping after %v without a job", hc.Idle)
	}
	return true
}

// recentlyPolled reports whether all lists that may have jobs of a host were read recently. A host counts as idle only if it
// is known that no job runs.
func (s *State) recentlyPolled(c *Config, hc *HostConfig, now time.Time) bool {
	for _, r := range c.Forge.Repositories {
		if (hc.Lists == nil || slices.Contains(hc.Lists, r)) && now.Sub(s.Polled[r]) > max(5*time.Minute, 3*c.Poll) {
			return false
		}
	}
	return true
}

// mayStart reports whether a wanted host can be started now. It must have been seen off recently.
func (s *State) mayStart(c *Config, hc *HostConfig, h *Host, now time.Time) bool {
	if h.Seen != Off || !h.Started.IsZero() || !h.SettledUntil.IsZero() || now.Sub(h.SeenAt) > hc.Ask {
		return false
	}
	return !now.Before(h.NoStartBefore) && s.affords(c, hc, now)
}

// mustAsk reports whether a status check is due. Checks are frequent while a change is expected.
func (s *State) mustAsk(hc *HostConfig, h *Host, l *load, now time.Time) bool {
	if h.asking || h.Flight != nil && !h.inherited {
		return false
	}
	every := 6 * hc.Ask
	switch {
	case h.inherited, h.Seen == Unknown, h.phase() == Starting, h.phase() == Stopping:
		every = hc.Ask
	case h.Seen == Off && l.waiting > 0 && !now.Before(h.NoStartBefore):
		every = hc.Ask
	}
	return now.Sub(h.asked) >= every
}
