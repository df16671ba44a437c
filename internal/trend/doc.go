// Package trend tells what happened in the history of a series: where its level
// changed for good, where it crept, where a machine has two speeds. It is pure: the same
// points give the same answer, however often and in whatever portions they came. It
// must not know where points are kept, nor whom an answer is told.
package trend

import "time"

// Version changes when the same points may get another answer than before. What was
// remembered by another version is found anew.
const Version = 2

// Point is one result of a series. Points stand in the order of their commits.
type Point struct {
	Commit string
	Time   time.Time
	Value  float64 // above zero; others are passed over
}

// Settings say what is worth telling. Zero takes the default.
type Settings struct {
	Least  float64 // the smallest change that is told, as a share: 0.02
	MaxP   float64 // chance that a change is none: 0.0001
	Window int     // values looked at together: 50
	Higher bool    // whether more is better; less is, otherwise
}

func (s Settings) filled() Settings {
	if s.Least == 0 {
		s.Least = 0.02
	}
	if s.MaxP == 0 {
		s.MaxP = 0.0001
	}
	if s.Window == 0 {
		s.Window = 50
	}
	return s
}

// Kind is how a series changed.
type Kind string

// The kinds.
const (
	Step  Kind = "step"  // from one point to the next
	Drift Kind = "drift" // too slowly for any pair of points to show it
)

// Event is a change that lasts.
type Event struct {
	Kind Kind `json:"kind"`
	// First is the index of the first point of the new level, Last that of the point before
	// the next change; a drift goes on from First to Last.
	First int `json:"first"`
	Last  int `json:"last"`
	// Begin and End are the indexes of the points of From and To.
	Begin int `json:"begin"`
	End   int `json:"end"`
	// From is the last commit known to be as before, To the first known to be as after:
	// the cause is in between.
	From   string  `json:"from"`
	To     string  `json:"to"`
	Before float64 `json:"before"` // levels
	After  float64 `json:"after"`
	P      float64 `json:"p"` // chance that it is none
	Worse  bool    `json:"worse"`
}

// Change is the event as a share of the level before.
func (e Event) Change() float64 { return e.After/e.Before - 1 }

// Found is what is known of a series.
type Found struct {
	Events []Event
	// TwoSpeeds tells that the series goes back and forth between two levels. Those are
	// no events: nobody did anything.
	TwoSpeeds bool
	Noise     float64 // how much neighbours differ, as a share of the level
	Passed    int     // points that are no number above zero
	Outliers  int     // points that stand alone
}
