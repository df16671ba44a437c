package journal

import (
	"errors"
	"fmt"
	"time"
)

// Session is a journal as it is read.
type Session struct {
	Started
	Began   time.Time
	Entries []Entry // the first is the one that opened it
	Ended   *Ended  // nil while it goes on
	Path    string  // of the file; empty for one that was not read from a file
}

// ErrNoSession says that no session is open here.
var ErrNoSession = errors.New("no session is open here: pawl session start begins one")

// BrokenError says that a journal is not as it was written.
type BrokenError struct {
	Path string // empty for one that was not read from a file
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

// Last is the time of the newest entry.
func (s *Session) Last() time.Time {
	if len(s.Entries) == 0 {
		return s.Began
	}
	return s.Entries[len(s.Entries)-1].Time
}

// Minutes is how long the session took, or takes until now. A clock that was set back
// makes it 0, never less.
func (s *Session) Minutes(now time.Time) float64 {
	if s.Ended != nil {
		now = s.Last()
	}
	return max(0, now.Sub(s.Began).Minutes())
}

// Spent is what the session cost so far: seconds with the device taken, and dollars. Where
// only is given, entries of that kind of actor alone count.
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
