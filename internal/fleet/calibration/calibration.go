// Package calibration decides from the calibrations of a card whether its verdicts can be trusted. A calibration measures
// the same code on both sides, and a side with a planted slowdown, as a gate would. The rules are pure. The package must
// not know how a card is measured or where calibrations are kept.
package calibration

import (
	"errors"
	"time"
)

// A Record is one calibration of a card.
type Record struct {
	At         time.Time `json:"at,omitzero"`
	Driver     string    `json:"driver,omitzero"`
	Seed       uint64    `json:"seed,omitzero"`
	Rounds     int       `json:"rounds,omitzero"`
	Noise      float64   `json:"noise,omitzero"`       // spread of the difference between two sides of the same code, of one round
	Smallest   float64   `json:"smallest,omitzero"`    // smallest change that so many rounds find 19 times in 20
	Planted    float64   `json:"planted,omitzero"`     // slowdown of the third side
	FalseAlarm bool      `json:"false_alarm,omitzero"` // the same code was called a regression or an improvement
	Found      bool      `json:"found,omitzero"`       // the planted slowdown was called a regression
	Error      string    `json:"error,omitzero"`       // why there is no result
}

// Limits of what an agent may report.
const (
	maxDriver = 100
	maxRounds = 100_000
	maxError  = 500
)

// Check returns what is wrong with a record, which comes from an agent.
func (r Record) Check() error {
	share := func(x float64) bool { return x >= 0 && x <= 1e6 } // false for NaN
	switch {
	case len(r.Driver) > maxDriver || len(r.Error) > maxError:
		return errors.New("its texts are too long")
	case r.Error != "":
		return nil
	case r.Rounds < 2 || r.Rounds > maxRounds:
		return errors.New("it has no number of rounds that shows a spread")
	case !share(r.Noise) || !share(r.Smallest) || !share(r.Planted) || r.Planted == 0:
		return errors.New("its numbers are not shares")
	}
	return nil
}

// The rule. Two of three, because one bad calibration can be chance; three good ones in a row, because a card that is
// bad every other time must not come back.
const (
	window     = 3   // calibrations that the rule looks at
	tooMany    = 2   // bad ones among them that quarantine a card
	usualOf    = 20  // good calibrations that the usual noise is the median of
	usualFrom  = 5   // good calibrations before there is a usual noise
	timesUsual = 2.5 // noise above this many times the usual is bad
)

// Kept is how many earlier calibrations with a result the rule looks at. Whether one was bad follows from those before it, so a card that is
// calibrated every hour in quarantine must not push out those from before: this is half a year of hours.
const Kept = 5000

// A State is whether a card may be used.
type State struct {
	Quarantine string    `json:"quarantine,omitzero"` // why it may not; empty if it may
	Since      time.Time `json:"since,omitzero"`      // of the quarantine
}

// Next returns the state after a calibration. earlier are the last [Kept] calibrations before it, oldest first.
func (s State) Next(earlier []Record, r Record) State {
	if r.Error != "" { // says nothing about the card
		return s
	}
	var grades []string // why a calibration was bad; empty for a good one
	var measured []Record
	for _, old := range earlier {
		if old.Error == "" {
			grades = append(grades, old.bad(usual(measured, grades, old.Driver)))
			measured = append(measured, old)
		}
	}
	now := r.bad(usual(measured, grades, r.Driver))
	grades = append(grades, now)
	recent := grades[max(0, len(grades)-window):]
	bad := 0
	for _, why := range recent {
		if why != "" {
			bad++
		}
	}
	switch {
	case s.Quarantine == "" && now != "" && bad >= tooMany:
		return State{Quarantine: now, Since: r.At}
	case s.Quarantine != "" && bad == 0 && len(recent) == window:
		return State{}
	}
	return s
}

// Reasons for which a calibration is bad.
const (
	FalseAlarm = "it called the same code a change"
	Missed     = "it missed a planted slowdown"
	Noisy      = "it is much noisier than usual"
)

// bad returns why a calibration is bad; empty for a good one. usual is the usual noise of the card; 0 if it is unknown.
func (r Record) bad(usual float64) string {
	switch {
	case r.FalseAlarm:
		return FalseAlarm
	case !r.Found:
		return Missed
	case usual > 0 && r.Noise > timesUsual*usual:
		return Noisy
	}
	return ""
}
