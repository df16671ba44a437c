package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Fleet is the page of the devices that gates run on, and of the project's gates there.
type Fleet struct {
	Cards  []FleetCard
	Gates  []FleetGate // of the project, oldest first
	Others int         // waiting gates of other projects
	Tier   string      // of the project's code
	Away   bool        // the queues cannot be read now
	Spend  *FleetSpend // nil if the user does not work on the project; then hosts and prices are left out too
}

// FleetCard is a device and what it does now.
type FleetCard struct {
	client.FleetDevice
	Doing string // in use or calibrating; empty if it is idle
}

// FleetGate is a gate on one device model that has not ended.
type FleetGate struct {
	ID, Change, Model, Tier, State, Device, Reason string
	Phase                                          string // of the measurement; empty if its agent did not say it yet
	Rounds                                         int
	Since                                          time.Time
	Position                                       int        // in the queue; 0 if it is not known
	Start                                          *time.Time // latest
}

// FleetSpend is what the project has used today, and its limits; a limit of 0 means none.
type FleetSpend struct{ Hours, MaxHours, Money, MaxMoney float64 }

// Title returns the heading.
func (Fleet) Title() string { return "Fleet" }
func (Fleet) tab() string   { return "fleet" }

// maxCards is how many devices the page shows.
const maxCards = 200

// Shown returns the devices to show, those that need a look first.
func (f Fleet) Shown() []FleetCard {
	list := slices.Clone(f.Cards)
	slices.SortStableFunc(list, func(a, b FleetCard) int { return cmp.Compare(a.rank(), b.rank()) })
	return list[:min(len(list), maxCards)]
}

// Hidden returns how many devices are not shown.
func (f Fleet) Hidden() int { return max(0, len(f.Cards)-maxCards) }

// Figures returns the state of the fleet in numbers.
func (f Fleet) Figures() []Figure {
	count := func(state string) (n int) {
		for _, c := range f.Cards {
			if c.State() == state {
				n++
			}
		}
		return n
	}
	waiting := f.Others
	for _, g := range f.Gates {
		if g.State == "waiting" {
			waiting++
		}
	}
	return []Figure{
		{Name: "Ready", Value: count(cardReady) + count(cardUsed) + count(cardCalibrating), Unit: "of " + words.Plural(len(f.Cards), "card")},
		{Name: "In use", Value: count(cardUsed) + count(cardCalibrating), Unit: "now"},
		{Name: "In quarantine", Value: count(cardQuarantine), Unit: "now", Class: "regression"},
		{Name: "Waiting", Value: waiting, Unit: "gates"},
	}
}

// States of a card.
const (
	cardReady       = "ready"
	cardUsed        = "in use"
	cardCalibrating = "calibrating"
	cardQuarantine  = "quarantine"
)

// State returns the state of a card in a word.
func (c FleetCard) State() string {
	switch {
	case c.Power != cardReady:
		return c.Power
	case c.Doing == cardCalibrating:
		return c.Doing
	case c.Quarantine != "":
		return cardQuarantine
	case c.Doing != "":
		return cardUsed
	}
	return cardReady
}

// Class returns the class of the badge.
func (c FleetCard) Class() string {
	switch c.State() {
	case cardReady, cardUsed:
		return "pass"
	case cardQuarantine:
		return "fail"
	}
	return ""
}

// rank orders cards: in quarantine, closed, not calibrated, then the others.
func (c FleetCard) rank() int {
	switch {
	case c.Quarantine != "":
		return 0
	case c.Power == "closed":
		return 1
	case c.Calibration == nil:
		return 2
	}
	return 3
}

// Why returns why a card is not used.
func (c FleetCard) Why() string {
	if c.Quarantine != "" {
		return c.Quarantine
	}
	return c.Reason
}

// Noise returns what the latest calibration said about the card.
func (c FleetCard) Noise() string {
	if c.Calibration == nil {
		return "not calibrated"
	}
	return fmt.Sprintf("%.2g %%", 100*c.Calibration.Noise)
}

// Finds returns the smallest change that the card finds.
func (c FleetCard) Finds() string {
	if c.Calibration == nil {
		return ""
	}
	return fmt.Sprintf("%.2g %%", 100*c.Calibration.Smallest)
}

// Alarms returns how many calibrations called the same code a change.
func (c FleetCard) Alarms() string {
	if c.Calibrations == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", c.FalseAlarms, c.Calibrations)
}

// Heard returns when the agent of the card was last heard.
func (c FleetCard) Heard() string {
	if c.Seen == nil {
		return "never"
	}
	return minute(*c.Seen)
}

// tierName describes whose code a tier is for.
func tierName(tier string) string {
	switch tier {
	case "", "own":
		return "own code"
	case "checked":
		return "forks and agents"
	case "unknown":
		return "unknown code"
	}
	return words.Sanitize(tier)
}

// Waits says what a gate waits for, or what it does.
func (g FleetGate) Waits() string {
	if g.State != "waiting" {
		text := "measures on " + words.Sanitize(g.Device)
		if g.Phase != "" {
			text += fmt.Sprintf(" (%s, %s)", words.Sanitize(g.Phase), words.Plural(g.Rounds, "round"))
		}
		return text
	}
	text := cmp.Or(words.Sanitize(g.Reason), "waits for a device")
	if g.Start != nil {
		text += ", starts by " + minute(*g.Start) + " at the latest"
	}
	return text
}
