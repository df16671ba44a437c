// Package trend finds changes in the history of a series: where its level changed for good, where it
// drifted, and where a machine has two speeds. It is pure: the same points give the same answer, however
// often and in whatever portions they arrive. It must not know where points are kept, nor anything about
// notifications.
package trend

import "math"

// Version changes when the same points may give a different answer. State from another version is
// computed again.
const Version = 3

// Settings says how a series is read.
type Settings struct {
	Higher bool // higher is better; default: lower is better
}

// least is the min change to report, as a fraction.
const least = 0.02

// leastLog is least as a difference of logarithms. Histories are read as logarithms, because noise and
// changes are fractions of the level.
var leastLog = math.Log1p(least)

// Kind is the way a series changed.
type Kind string

// The kinds.
const (
	Step  Kind = "step"  // from one point to the next
	Drift Kind = "drift" // too slowly for any pair of points to show it
)

// Event is a lasting change.
type Event struct {
	Kind Kind
	// First is the index of the first point of the new level, and Last that of the point before the next
	// change. A drift lasts from First to Last.
	First, Last int
	// From is the index of the last point known to have the old level, To that of the first known to have the
	// new one. The cause is between them.
	From, To      int
	Before, After float64 // levels
	// P is the p-value of the one test that found the event. Many tests find nothing, so it is not the
	// chance that the event is noise, and no page shows it.
	P     float64
	Worse bool
}

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
