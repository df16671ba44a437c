package wake

import (
	"fmt"
	"slices"
	"time"
)

// Power is the result of a host's status command.
type Power string

// What a status command may print. Unknown means that it has not run yet, or that it failed.
const (
	On       Power = "on"
	Off      Power = "off"
	Starting Power = "starting"
	Stopping Power = "stopping"
	Unknown  Power = ""
)

// Kind is the kind of an action on a host.
type Kind string

// Ask runs the status command; Start and Stop run the start and stop commands.
const (
	Ask   Kind = "ask"
	Start Kind = "start"
	Stop  Kind = "stop"
)

// State is everything that must survive the process. Only Step changes it.
type State struct {
	Schema string               `json:"schema"`
	Jobs   map[string]*Job      `json:"jobs"`
	Hosts  map[string]*Host     `json:"hosts"`
	Polled map[string]time.Time `json:"polled"` // by repository: when its last complete listing started
	Day    Day                  `json:"day"`

	said []string // log messages of the current Step
}

// Host is the known state of a host and of the commands run on it.
type Host struct {
	Seen   Power     `json:"seen,omitempty"` // the last status
	SeenAt time.Time `json:"seen_at,omitzero"`
	OffAt  time.Time `json:"off_at,omitzero"` // when it was last seen off

	Flight        *RunningCommand `json:"flight,omitempty"`    // the running command
	Started       time.Time       `json:"started,omitzero"`    // its start succeeded, and it has not been on since
	Stopped       time.Time       `json:"stopped,omitzero"`    // its stop succeeded, and it has not been off since
	Up            time.Time       `json:"up,omitzero"`         // when it was first seen on
	IdleSince     time.Time       `json:"quiet,omitzero"`      // when its last job ended
	WantedSince   time.Time       `json:"wanted,omitzero"`     // since when jobs have waited for it, while none runs on it
	SettledUntil  time.Time       `json:"paid,omitzero"`       // its time is settled up to here; zero when it is off
	NoStartBefore time.Time       `json:"not_before,omitzero"` // no start before this time
	NoStopBefore  time.Time       `json:"stop_wait,omitzero"`  // no stop before this time
	StopAgain     time.Time       `json:"stop_again,omitzero"` // when its last stop turned out to have no effect; zero once it was seen on or off

	Failures     int    `json:"failures,omitempty"` // failed starts in a row
	StopFailures int    `json:"stop_failures,omitempty"`
	Reason       string `json:"reason,omitempty"` // the last logged message about it

	asking    bool      // a status command is running
	asked     time.Time // when the last one started
	turn      int       // counts commands: a status requested before a command is stale
	inherited bool      // an earlier process started Flight, and it may still be running
}

// RunningCommand is a running command. It is on disk before the command starts.
type RunningCommand struct {
	Kind  Kind      `json:"kind"`
	Since time.Time `json:"since"`
}

// schema names the format of the state file.
const schema = "pawl.wake/v1"

// NewState returns the state of a first start.
func NewState() *State {
	return &State{Schema: schema, Jobs: map[string]*Job{}, Hosts: map[string]*Host{}, Polled: map[string]time.Time{}}
}

func (s *State) host(name string) *Host {
	h := s.Hosts[name]
	if h == nil {
		h = &Host{}
		s.Hosts[name] = h
	}
	return h
}

// Recover prepares a state that an earlier process left: its observations no longer count, and a command
// it started may still be running.
func (s *State) Recover(c *Config, now time.Time) {
	s.Adopt(c, now)
	for _, h := range s.Hosts {
		h.Seen, h.inherited = Unknown, h.Flight != nil
		if !h.SettledUntil.IsZero() {
			h.asked = now // the effect of its last command may not show at once
		}
	}
	clear(s.Polled) // no host counts as idle before the forge was polled again
}

// Adopt forgets the hosts and jobs that a changed file no longer has.
func (s *State) Adopt(c *Config, now time.Time) {
	for name, h := range s.Hosts {
		if c.Host(name) != nil {
			continue
		}
		if !h.SettledUntil.IsZero() {
			s.say("%s was running when it was removed from the file: it is no longer stopped automatically, stop it by hand", name)
			s.account(now)
			s.settle(name, h, now)
		}
		delete(s.Hosts, name)
	}
	for key, j := range s.Jobs {
		if !slices.Contains(c.Forge.Repositories, j.Repo) {
			delete(s.Jobs, key)
		}
	}
}

func (s *State) say(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

// reason logs a message about a host, unless it is the same as the last one.
func (s *State) reason(name string, h *Host, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text == h.Reason {
		return
	}
	h.Reason = text
	s.say("%s: %s", name, text)
}

// phase returns the probable power state of a host, from its status and the commands run on it.
func (h *Host) phase() Power {
	switch {
	case h.Flight != nil && h.Flight.Kind == Stop, !h.Stopped.IsZero(), h.Seen == Stopping:
		return Stopping
	case h.Flight != nil, !h.Started.IsZero(), h.Seen == Starting:
		return Starting
	}
	return h.Seen
}
