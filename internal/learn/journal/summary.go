package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/keep"
)

// Summary is what lists, forecasts and models need of a session.
type Summary struct {
	Started
	Began    time.Time `json:"began"`
	By       Actor     `json:"by"`
	Open     bool      `json:"open,omitempty"`
	Ended    *Ended    `json:"ended,omitempty"`
	Minutes  float64   `json:"minutes"`
	Device   float64   `json:"device_seconds,omitempty"`
	Dollars  float64   `json:"dollars,omitempty"`
	Entries  int       `json:"entries"`
	Agents   int       `json:"agents,omitempty"` // entries by agents
	Refused  int       `json:"refused,omitempty"`
	Overrode int       `json:"overrode,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	Followed []Attempt `json:"followed,omitempty"` // of the attempts, those that followed a lesson
	Broken   string    `json:"broken,omitempty"`   // why it cannot be read to its end
	Path     string    `json:"-"`
}

// Sum is the summary of a session; now counts where it goes on.
func Sum(s *Session, now time.Time) Summary {
	sum := Summary{
		Started: s.Started, Began: s.Began, Open: s.Ended == nil, Ended: s.Ended, Minutes: s.Minutes(now),
		Entries: len(s.Entries), Path: s.Path,
	}
	for _, a := range Attempts(s) {
		sum.Attempts++
		if a.Lesson != "" {
			sum.Followed = append(sum.Followed, a)
		}
	}
	sum.Device, sum.Dollars = s.Spent()
	for i, e := range s.Entries {
		if i == 0 {
			sum.By = e.Actor
		}
		if e.Actor.Kind == Agent {
			sum.Agents++
		}
		switch e.Kind { //nolint:exhaustive // the others are not counted
		case KindRefused:
			sum.Refused++
		case KindOverrode:
			sum.Overrode++
		}
	}
	return sum
}

// Kept remembers what is made of the journals of sessions that ended, under a name beside
// the open one, where git does not see it: such a session does not change, and reading ten
// thousand takes seconds. pawl session verify reads the files.
func Kept[T any](f Folder, name string) *keep.Folder[T] {
	return &keep.Folder[T]{
		Dir: f.dir(), File: filepath.Join(f.openDir(), name),
		Names: func() ([]string, error) { return journalsIn(f.dir()) },
	}
}

func readSummary(path string) (Summary, bool) {
	s, err := ReadFile(path)
	if s == nil || s.ID == "" {
		s = &Session{Started: Started{ID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}}
	}
	sum := Sum(s, s.Last())
	sum.Open = false
	if err != nil {
		sum.Broken = err.Error()
	}
	return sum, true
}

// Summaries are those of all sessions, by their start; the open one is the last. A journal
// that cannot be read is told of by its summary's Broken.
func (f Folder) Summaries() ([]Summary, error) {
	kept := Kept[Summary](f, "summaries")
	kept.Form = "pawl summaries 5\n" // changes with Summary, or with how one is made
	kept.Read, kept.Pack, kept.Unpack = readSummary, packSummary, unpackSummary
	made, err := kept.All()
	if err != nil {
		return nil, fmt.Errorf("sum up sessions: %w", err)
	}
	list := make([]Summary, len(made), len(made)+1)
	for i := range made {
		list[i] = made[i].Value
		list[i].Path = filepath.Join(f.dir(), made[i].Name)
	}
	switch w, err := f.Open(); {
	case err == nil:
		list = append(list, Sum(w.session, f.now()))
	case !errors.Is(err, ErrNoSession):
		list = append(list, Summary{Started: Started{ID: "open"}, Open: true, Broken: err.Error(), Path: f.openDir()})
	}
	return list, nil
}
