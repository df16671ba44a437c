package alert

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// ErrBusy means that another scan of the project is running.
var ErrBusy = errors.New("another scan of this project is running")

// Store is the storage that scans use.
type Store interface {
	// WithScanLock runs f in one transaction, with an exclusive lock on scans of the project. The transaction is
	// committed if f returns nil, and rolled back otherwise. It returns ErrBusy if another scan is running.
	WithScanLock(ctx context.Context, project int64, f func(ScanTx) error) error
}

// ScanTx provides the data of one scan.
type ScanTx interface {
	// TakeReports removes reports from the list of unscanned ones, oldest first, and returns their main-lane series,
	// each once, in order. It looks at no more than the given number of reports. It takes all of them whose series
	// are among the first ones, up to the given number of series, and at least the oldest.
	TakeReports(ctx context.Context, reports, series int) (Taken, error)
	// Histories returns the points of series in commit order, with their stored state, as many series at a time as
	// fit in memory. A series without points has none. A portion is valid until the next one.
	Histories(ctx context.Context, series []int64) iter.Seq2[[]History, error]
	// Commits returns the commit of each report.
	Commits(ctx context.Context, reports []int64) (map[int64]string, error)
	// Keep writes the outcomes and sets the ids of new events.
	Keep(ctx context.Context, outcomes []*Outcome) error

	// EventsBetween returns all events whose commit range overlaps the time between from and to, in id order.
	EventsBetween(ctx context.Context, from, to time.Time) ([]Event, error)
	// EventsOf returns all events of groups, in id order.
	EventsOf(ctx context.Context, groups []int64) ([]Event, error)
	// Groups returns the groups with these ids.
	Groups(ctx context.Context, ids []int64) ([]Group, error)
	// Measured counts the series of each testbed that have points at or before one time, and at or after the
	// other.
	Measured(ctx context.Context, before, after time.Time) (map[int64]int, error)
	// KeepGroups writes groups, sets the ids of new ones, and records which events they contain. It deletes
	// the groups listed in gone.
	KeepGroups(ctx context.Context, groups []*Group, gone []int64) error
}

// Taken is the work that a scan took.
type Taken struct {
	Reports int
	Oldest  time.Time // when the oldest of them arrived
	Series  []int64
	More    bool // more reports are left
}

// Point is one result of a series.
type Point struct {
	At     time.Time
	Report int64
	Value  float64
}

// History is a series with its points and stored state.
type History struct {
	Series  int64
	Testbed int64
	Higher  bool // higher is better
	Points  []Point
	Known   SeriesState
	Events  []Event // in id order
	// Damaged is set if the points cannot be read. The series is then skipped, so that it does not block others.
	Damaged error
}

// SeriesState is the stored state of a series between two scans.
type SeriesState struct {
	Points      int
	First, Last time.Time // of the scanned points
	Value       float64   // the last value
	Noise       float64
	TwoSpeeds   bool
	Version     int
	State       []byte // the finder's state
}

// Event is a stored change in one series.
type Event struct {
	ID          int64
	Series      int64
	Testbed     int64
	Kind        string
	FirstReport int64 // of the first point of the new level
	FromReport  int64 // reports at the ends of the commit range; set only in newly found events
	ToReport    int64
	Worse       bool
	From, To    string // commits
	Commits     int    // measured after From up to To; 0 if stored before they were counted
	Since, At   time.Time
	Before      float64
	After       float64
	P           float64
	State       client.EventState
	Group       int64
}

// Outcome is the result of scanning one series. A series without points has no state: Known is zero.
type Outcome struct {
	Series  int64
	Known   SeriesState
	Changed []*Event // new ones have no id yet
	Gone    []int64
}

// Group is a set of events at one place of the branch.
type Group struct {
	ID       int64
	From, To string
	At       time.Time
	Worst    float64 // the largest change; above zero means worse
	Series   int
	Worse    int
	Machine  int64 // the testbed, if it was the cause
	Told     time.Time
	Events   []int64
}
