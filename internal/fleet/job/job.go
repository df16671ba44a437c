// Package job contains what pawld and an agent say to each other: the work of a lease and its result. It must not know how either of them carries it out.
package job

import (
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// Names of the activities of agents. Both get a [Lease].
const (
	Measure = "measure" // carries out a lease
	Build   = "build"   // builds for a lease on the host that measures it next
)

// Queue returns the task queue of a device, which only the agent of its host polls.
func Queue(device string) string { return "gpu:" + device }

// BuildQueue returns the task queue of builds for a device. Only the agent of its host polls it.
func BuildQueue(device string) string { return "build:" + device }

// A Lease is the right to use one device for one measurement, and what to measure.
type Lease struct {
	ID      string    `json:"id"` // names the measurement: after a crash the agent finds its journal by it
	Gate    string    `json:"gate"`
	Project string    `json:"project"`
	Device  string    `json:"device"`
	Attempt int       `json:"attempt"` // fencing number: a result with a lower one is refused
	Bundle  string    `json:"bundle"`  // SHA-256 of a git bundle with both commits
	Base    string    `json:"base"`
	Head    string    `json:"head"`
	Suite   string    `json:"suite"`          // path of the suite in the repository
	Tier    tier.Tier `json:"tier,omitzero"`  // of the code
	Trust   string    `json:"trust,omitzero"` // level that pawl runs at; empty for the suite's
	Seconds int       `json:"seconds"`        // longest time the measurement may take
	Build   bool      `json:"build,omitzero"` // only build; the measurement of the same lease follows

	Calibrate uint64 `json:"calibrate,omitzero"` // seed of a calibration of the device, which measures the agent's own kernel; 0 for a gate
}

// Activity returns the name of the activity that carries out the lease.
func (l Lease) Activity() string {
	if l.Build {
		return Build
	}
	return Measure
}

// Queue returns the task queue on which the lease is offered.
func (l Lease) Queue() string {
	if l.Build {
		return BuildQueue(l.Device)
	}
	return Queue(l.Device)
}

// A Result is the outcome of a lease.
type Result struct {
	Lease   string  `json:"lease"`
	Attempt int     `json:"attempt"`
	Record  string  `json:"record,omitzero"` // SHA-256 of the archive with the run's documents; a build that has some ends its gate
	Exit    int     `json:"exit"`            // exit code of pawl run
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitzero"`
	Driver  string  `json:"driver,omitzero"` // of the device

	Calibration calibration.Record `json:"calibration,omitzero"` // of a lease that calibrates
}

// A Beat is what a heartbeat says of a measurement.
type Beat struct {
	Phase  string    `json:"phase"`
	Rounds int       `json:"rounds"`
	At     time.Time `json:"at,omitzero"` // by the clock of the agent
}
