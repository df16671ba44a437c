// Package trend finds changes in the history of a series: where its level changed for good, where it
// drifted, and where a machine has two speeds. It is pure: the same points give the same answer, however
// often and in whatever portions they arrive. It must not know where points are kept, nor anything about
// notifications.
package trend

import "time"

// Version changes when the same points may give a different answer. State from another version is
// computed again.
const Version = 2

// Point is one result of a series. Points are in commit order.
type Point struct {
	Commit string
	Time   time.Time
	Value  float64 // above zero; other values are skipped
}

// Settings says how a series is read.
type Settings struct {
	Window int  // values examined together; 0 means 50
	Higher bool // higher is better; default: lower is better
}

const (
	least = 0.02   // min change to report, as a fraction
	maxP  = 0.0001 // max probability that a change is noise
)

// Kind is the way a series changed.
type Kind string

// The kinds.
const (
	Step  Kind = "step"  // from one point to the next
	Drift Kind = "drift" // too slowly for any pair of points to show it
)

// Event is a lasting change.
type Event struct {
	Kind Kind `json:"kind"`
	// First is the index of the first point of the new level, and Last that of the point before the next
	// change. A drift lasts from First to Last.
	First int `json:"first"`
	Last  int `json:"last"`
	// FromIndex and End are the indexes of the points of From and To.
	FromIndex int `json:"begin"`
	ToIndex   int `json:"end"`
	// From is the last commit known to have the old level, To the first known to have the new one. The cause is
	// between them.
	From   string  `json:"from"`
	To     string  `json:"to"`
	Before float64 `json:"before"` // levels
	After  float64 `json:"after"`
	P      float64 `json:"p"` // probability that it is noise
	Worse  bool    `json:"worse"`
}

// Change returns the change as a fraction of the level before.
func (e Event) Change() float64 { return e.After/e.Before - 1 }

// Result is the result for a series.
type Result struct {
	Events []Event
	// TwoSpeeds reports that the series switches between two levels. These switches are not events, because
	// no commit caused them.
	TwoSpeeds bool
	Noise     float64 // how much neighbors differ, as a fraction of the level
	Passed    int     // skipped points: not a number above zero
	Outliers  int     // isolated points
}
