package watch

import (
	"context"
	"errors"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// ErrBusy says that somebody else is looking at the project right now.
var ErrBusy = errors.New("somebody else is looking at this project")

// Store is the memory that is looked at.
type Store interface {
	// Looking runs f while nobody else looks at the project, in one transaction: what f
	// wrote is kept if it returns nil, and nothing of it otherwise. ErrBusy where
	// somebody else is at it.
	Looking(ctx context.Context, project int64, f func(Desk) error) error
}

// Desk is what a look has before it.
type Desk interface {
	// Take takes away reports that nobody looked at, the oldest first, and names their
	// series of the main lane, each once, in order. It takes at most so many, and no more
	// once they have so many points.
	Take(ctx context.Context, reports, points int) (Taken, error)
	// Histories are the points of series in the order of their commits, with what was
	// known of them. A series without points has none.
	Histories(ctx context.Context, series []int64) ([]History, error)
	// Commits are those of reports.
	Commits(ctx context.Context, reports []int64) (map[int64]string, error)
	// Keep writes down what was found, and gives new events their ids.
	Keep(ctx context.Context, outcomes []*Outcome) error

	// EventsBetween are all events whose range of commits touches a time between the two, in the order of ids.
	EventsBetween(ctx context.Context, from, to time.Time) ([]Event, error)
	// EventsOf are all events of groups, in the order of ids.
	EventsOf(ctx context.Context, groups []int64) ([]Event, error)
	// Groups are those with the ids given.
	Groups(ctx context.Context, ids []int64) ([]Group, error)
	// Measured counts the series of each testbed that have points up to a time and from another on.
	Measured(ctx context.Context, before, after time.Time) (map[int64]int, error)
	// KeepGroups writes groups, gives new ones their ids, and says which events are in them.
	// Those that are gone are forgotten.
	KeepGroups(ctx context.Context, groups []*Group, gone []int64) error
}

// Taken is what a look took.
type Taken struct {
	Reports int
	Oldest  time.Time // since when the first of them waited
	Series  []int64
	More    bool // there were more than it was to take
}

// Point is one result of a series.
type Point struct {
	At     time.Time
	Report int64
	Value  float64
}

// History is a series, and what was known of it.
type History struct {
	Series  int64
	Testbed int64
	Higher  bool // more is better
	Points  []Point
	Known   Known
	Events  []Event // in the order of ids
	// Damaged says that the points cannot be read. The series is left as it is, so that it
	// does not keep others from being looked at.
	Damaged error
}

// Known is what is remembered of a series between two looks.
type Known struct {
	Points      int
	First, Last time.Time // of the points seen
	Value       float64   // the last
	Noise       float64
	TwoSpeeds   bool
	Version     int
	State       []byte // what the finder remembers
}

// Event is a change in one series, as it is kept.
type Event struct {
	ID          int64
	Series      int64
	Testbed     int64
	Kind        string
	FirstReport int64 // of the first point of the new level
	FromReport  int64 // reports whose commits the range is between; known only of what was just found
	ToReport    int64
	Worse       bool
	From, To    string // commits
	Commits     int    // measured after From and not after To; 0 in what was kept before they were counted
	Since, At   time.Time
	Before      float64
	After       float64
	P           float64
	State       client.EventState
	Group       int64
}

// Outcome is what a look at one series gave.
type Outcome struct {
	Series  int64
	Known   Known
	Changed []*Event // new ones have no id yet
	Gone    []int64
}

// Group is what happened at one place of the branch.
type Group struct {
	ID       int64
	From, To string
	At       time.Time
	Worst    float64 // the largest change, above zero for worse
	Series   int
	Worse    int
	Machine  int64 // the testbed, where that was the cause
	Told     time.Time
	Events   []int64
}
