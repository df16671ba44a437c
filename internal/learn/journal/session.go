package journal

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Session is a journal as it is read.
type Session struct {
	Started
	Began   time.Time
	Entries []Entry // the first opened it
	Ended   *Ended  // nil while it is open
	Path    string  // of the file; empty if it was not read from one
}

// ErrNoSession says that no session is open here.
var ErrNoSession = errors.New("no session is open here: run `pawl session start`")

// BrokenError says that a journal was altered or cannot be read.
type BrokenError struct {
	Path string // empty if it was not read from a file
	Line int    // from 1
	Why  string
}

func (e *BrokenError) Error() string {
	path := e.Path
	if path == "" {
		path = "journal"
	}
	return fmt.Sprintf("%s:%d: %s", path, e.Line, e.Why)
}

// Last returns the time of the newest entry.
func (s *Session) Last() time.Time {
	if len(s.Entries) == 0 {
		return s.Began
	}
	return s.Entries[len(s.Entries)-1].Time
}

// Minutes returns how long the session took, or takes until now. A clock that was set back
// makes it 0, never less.
func (s *Session) Minutes(now time.Time) float64 {
	if s.Ended != nil {
		now = s.Last()
	}
	return max(0, now.Sub(s.Began).Minutes())
}

// Spent returns the seconds with the device held, and the dollars. With only, entries of other
// actors do not count.
func (s *Session) Spent(only ...ActorKind) (seconds, dollars float64) {
	for _, e := range s.Entries {
		if e.Did == nil || len(only) > 0 && e.Actor.Kind != only[0] {
			continue
		}
		seconds += e.Did.Device
		dollars += e.Did.Dollars
	}
	return seconds, dollars
}

// Measures reports whether a command measured the candidate in the working tree.
func (d *Did) Measures() bool {
	if d == nil || d.Measured == nil || d.Command != "bench" && d.Command != "run" {
		return false
	}
	for _, c := range d.Measured.Cases {
		if c.Candidate > 0 {
			return true
		}
	}
	return false
}

// Measurements returns the commands that measured the candidate, in order.
func (s *Session) Measurements() []*Did {
	var list []*Did
	for _, e := range s.Entries {
		if e.Did.Measures() {
			list = append(list, e.Did)
		}
	}
	return list
}

// Beginning returns the time of each case when the session started: that of the first base
// measured with it, or else of the first candidate. Later bases do not move it.
func (s *Session) Beginning() map[string]float64 {
	first := map[string]float64{}
	for _, m := range s.Measurements() {
		for _, c := range m.Measured.Cases {
			if _, there := first[c.Case]; there {
				continue
			}
			if c.Base > 0 {
				first[c.Case] = c.Base
			} else if c.Candidate > 0 {
				first[c.Case] = c.Candidate
			}
		}
	}
	return first
}

// Speedup returns how many times as fast as the reference a measurement is, as the geometric
// mean over its cases; without a reference, as the beginning of the session. It is 0 if unknown.
func (s *Session) Speedup(m *Measured) float64 {
	if m == nil {
		return 0
	}
	against := map[string]float64{}
	for _, c := range m.Cases {
		against[c.Case] = c.Reference
	}
	if x := ratio(m, against); x > 0 || s.Reference != "" {
		return x
	}
	return s.Gained(m)
}

// Gained returns how many times as fast as the beginning of the session a measurement is; 0 if
// unknown.
func (s *Session) Gained(m *Measured) float64 { return ratio(m, s.Beginning()) }

// ratio returns the geometric mean of other times over the candidate's; 0 without any.
func ratio(m *Measured, other map[string]float64) float64 {
	if m == nil {
		return 0
	}
	sum, n := 0.0, 0
	for _, c := range m.Cases {
		if o := other[c.Case]; o > 0 && c.Candidate > 0 {
			sum, n = sum+math.Log(o/c.Candidate), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / float64(n))
}
