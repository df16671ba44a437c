// Package placer runs the rules of placement as a workflow, one for each device model. Leases exist only in it. It must
// not know what is measured.
package placer

import (
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
)

// Name is the name of the workflow.
const Name = "placer"

// ID returns the workflow ID of the placer of a model.
func ID(model string) string { return "placer/" + model }

// Server is the task queue of workflows and of pawld's own activities.
const Server = "pawld"

// Names of signals and queries.
const (
	Inbox   = "placer"  // signal to a placer, with a Message
	Granted = "lease"   // signal from a placer to the workflow that asked, with a placement.Lease
	Shown   = "placing" // query of a placer, answered with a View
)

// Names of the activities of pawld that a placer uses.
const (
	Devices = "devices" // the devices of a model: (model string) []placement.Device
	Reserve = "reserve" // takes the cost of a lease from a budget: (Reservation) Reserved
	Settle  = "settle"  // returns what a lease did not use: (Settlement)
)

// A Message is one event for a placer; one field is set.
type Message struct {
	Ask      *placement.Ask      `json:"ask,omitzero"`
	Withdraw *placement.Withdraw `json:"withdraw,omitzero"`
	Release  *placement.Release  `json:"release,omitzero"`
	Refresh  bool                `json:"refresh,omitzero"` // the table of devices has changed
}

// A Reservation is the worst-case cost of a lease.
type Reservation struct {
	Lease   string         `json:"lease"`
	Project string         `json:"project"`
	Cost    placement.Cost `json:"cost"`
	Start   time.Time      `json:"start"`
}

// Reserved is the answer to a Reservation.
type Reserved struct {
	OK    bool      `json:"ok"`
	Until time.Time `json:"until,omitzero"` // when to ask again
}

// A Settlement says how long a lease was used.
type Settlement struct {
	Lease   string  `json:"lease"`
	Project string  `json:"project"`
	Seconds float64 `json:"seconds"`
}

// A View is what a placer shows: its devices, leases and queue.
type View struct {
	Devices []placement.Device  `json:"devices"`
	Leases  []placement.Lease   `json:"leases"`
	Queue   []placement.Waiting `json:"queue"`
}

// Full returns an error if no further gate may wait for the model of the view.
func (v View) Full(model string) error {
	if len(v.Queue) < placement.MaxWaiting {
		return nil
	}
	return fmt.Errorf("%d gates wait for model %s, which is the limit", len(v.Queue), model)
}
