package wake

import (
	"fmt"
	"slices"
	"time"
)

// Power is what a host's status command says.
type Power string

// What a status command may print. Unknown is what it is before it was asked, and when
// it failed.
const (
	On       Power = "on"
	Off      Power = "off"
	Starting Power = "starting"
	Stopping Power = "stopping"
	Unknown  Power = ""
)

// Kind is what is to be done to a host.
type Kind string

// Ask runs the status command, Start and Stop those that move the host.
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
	Polled map[string]time.Time `json:"polled"` // by repository: when its last whole listing began
	Day    Day                  `json:"day"`

	said []string // what Step has to tell, until it returns
}

// Host is what is known of a host, and what was done to it.
type Host struct {
	Seen   Power     `json:"seen,omitempty"` // the last answer
	SeenAt time.Time `json:"seen_at,omitzero"`
	OffAt  time.Time `json:"off_at,omitzero"` // when it was last seen off

	Flight  *Flight   `json:"flight,omitempty"`    // the command that runs now
	Started time.Time `json:"started,omitzero"`    // its start went through, and it has not been on since
	Stopped time.Time `json:"stopped,omitzero"`    // its stop went through, and it has not been off since
	Up      time.Time `json:"up,omitzero"`         // when it was first seen on
	Quiet   time.Time `json:"quiet,omitzero"`      // when its last job ended
	Paid    time.Time `json:"paid,omitzero"`       // up to when its time is in the day's account; zero when it is off
	Later   time.Time `json:"not_before,omitzero"` // no start before this
	Wait    time.Time `json:"stop_wait,omitzero"`  // no stop before this

	Failures     int    `json:"failures,omitempty"` // starts in a row that came to nothing
	StopFailures int    `json:"stop_failures,omitempty"`
	Reason       string `json:"reason,omitempty"` // what was last said about it

	asking bool      // a status command runs
	asked  time.Time // when the last one was begun
	turn   int       // counts commands: an answer of before one is stale
	orphan bool      // the flight is of an earlier life of ours, and may go on without us
}

// Flight is a command on its way. It is on disk before the command runs.
type Flight struct {
	Kind  Kind      `json:"kind"`
	Since time.Time `json:"since"`
}

// schema names the format of the state file.
const schema = "pawl.wake/v1"

// NewState is the state of a first start.
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

// Recover makes a state that an earlier process left fit to go on: nothing it saw counts
// as seen, and a command it had begun may still run without it.
func (s *State) Recover(c *Config, now time.Time) {
	for name, h := range s.Hosts {
		if c.host(name) == nil {
			if !h.Paid.IsZero() {
				s.say("%s was on when it was taken out of the file: nobody puts it to sleep any more", name)
			}
			delete(s.Hosts, name)
			continue
		}
		h.Seen, h.orphan = Unknown, h.Flight != nil
		if !h.Paid.IsZero() {
			h.asked = now // what was done to it last may not show at once
		}
	}
	for key, j := range s.Jobs {
		if !slices.Contains(c.GitHub.Repositories, j.Repo) {
			delete(s.Jobs, key)
		}
	}
	clear(s.Polled) // nothing is idle before the forge was asked again
}

func (s *State) say(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

// reason says something about a host once, until there is something else to say.
func (s *State) reason(name string, h *Host, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text == h.Reason {
		return
	}
	h.Reason = text
	s.say("%s: %s", name, text)
}

// phase is what a host is doing as far as one can tell, with what was done to it.
func (h *Host) phase() Power {
	switch {
	case h.Flight != nil && h.Flight.Kind == Stop, !h.Stopped.IsZero(), h.Seen == Stopping:
		return Stopping
	case h.Flight != nil, !h.Started.IsZero(), h.Seen == Starting:
		return Starting
	}
	return h.Seen
}
