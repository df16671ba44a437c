// Package placement decides which measurement gets which device next: by priority, fairly between projects, within their
// budgets. Its rules are pure. It must not know how a device is reached or where a budget is kept.
package placement

import (
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// Power says whether a device can be used.
type Power string

// Ready devices can be leased, Asleep ones after their host was woken, Closed ones not at all: they are draining or gone.
const (
	Ready  Power = "ready"
	Asleep Power = "asleep"
	Closed Power = "closed"
)

// A Device is what the table of devices says about one card.
type Device struct {
	ID    string    `json:"id"`
	Host  string    `json:"host"`
	Power Power     `json:"power"`
	Price float64   `json:"price,omitzero"` // money per hour
	Seen  time.Time `json:"seen,omitzero"`  // when its agent was last heard

	Quarantine string    `json:"quarantine,omitzero"` // why only calibrations may use it; empty if all may
	Tier       tier.Tier `json:"tier,omitzero"`       // of code that its host serves
}

// A Request asks for one device.
type Request struct {
	Lease    string    `json:"lease"` // name of the lease, unique
	Gate     string    `json:"gate"`  // workflow that waits for it
	Project  string    `json:"project"`
	Tier     tier.Tier `json:"tier,omitzero"` // of the code
	Only     string    `json:"only,omitzero"` // the device that a calibration is for, in quarantine or not; empty for any
	Priority int       `json:"priority"`      // 1 is the most urgent, 5 the least; 0 means 3
	Seconds  int       `json:"seconds"`       // longest time of the measurement
	At       time.Time `json:"at"`            // when it was first asked for
	Held     time.Time `json:"held,omitzero"`
}

// A Lease is the right to use one device until a time.
type Lease struct {
	Request
	Device string    `json:"device"`
	Host   string    `json:"host"`
	Price  float64   `json:"price,omitzero"`
	Start  time.Time `json:"start"`
	Until  time.Time `json:"until"`
}

// Cost returns what the lease costs at worst.
func (l Lease) Cost() Cost {
	return Cost{Seconds: float64(l.Seconds), Money: l.Price * float64(l.Seconds) / 3600}
}

// State is everything that a placer of one device model knows. Only Step changes it. It holds lists, no maps, so that
// every replay reads it in the same order.
type State struct {
	Devices  []Device  `json:"devices"`
	Failed   []Failure `json:"failed,omitzero"`
	Requests []Request `json:"requests"` // in the order of arrival
	Leases   []Lease   `json:"leases"`
	Shares   []Share   `json:"shares"`
	Floor    int64     `json:"floor"` // share at which a project that comes back starts
}

// A Share is how much of the model a project has used or reserved, in seconds. The project with the lowest is next.
type Share struct {
	Project string    `json:"project"`
	Used    int64     `json:"used"`
	Served  time.Time `json:"served,omitzero"` // when it last got a lease
}

// A Failure says when a device last lost a lease.
type Failure struct {
	Device string    `json:"device"`
	At     time.Time `json:"at"`
	Lost   bool      `json:"lost,omitzero"` // its agent is gone
}

// grace is how much longer than its measurement a lease is kept if the gate never gives it back.
const grace = 10 * time.Minute

// retryLost is when a device whose agent is gone is tried again, even if the agent was not heard.
const retryLost = 10 * time.Minute

// aging is how long a project waits without a lease until its requests are one priority more urgent. It has no end, so
// that urgent requests of others cannot starve a project.
const aging = 10 * time.Minute
