// Package job contains what pawld and an agent say to each other: the work of a lease and its result. It must not know how either of them carries it out.
package job

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// Names of the activities of agents. Both get a [Lease].
const (
	Measure = "measure" // carries out a lease
	Build   = "build"   // builds for a lease, on the host that measures it next or on one that only builds
)

// Queue returns the task queue of a device, which only the agent of its host polls.
func Queue(device string) string { return "gpu:" + device }

// BuildQueue returns the task queue of builds for a device. Only the agent of its host polls it.
func BuildQueue(device string) string { return "build:" + device }

// BuilderQueue returns the task queue of builds for cards of hosts with these tools. Agents poll it whose hosts only build.
func BuilderQueue(t tier.Tier, tools string) string {
	return "builder:" + string(cmp.Or(t, tier.Own)) + "/" + tools
}

// ModelOf returns the model in a device's name, which its agent enrolls it under if no other one is given: h100 for "NVIDIA H100 80GB HBM3", l4 for "NVIDIA L4".
func ModelOf(name string) string {
	for word := range strings.FieldsSeq(strings.ToLower(name)) {
		if strings.ContainsAny(word, "0123456789") {
			return strings.Trim(strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
					return r
				}
				return '-'
			}, word), "-.")
		}
	}
	return "gpu"
}

// A Host is what an agent says of its host when it polls; empty if it takes no part in builds elsewhere.
type Host struct {
	Tools string `json:"tools,omitzero"` // SHA-256 of all tools, libraries and headers that builds can read, in hexadecimal
	Arch  string `json:"arch,omitzero"`  // that builds for its devices need, such as sm_89; empty if they need none
}

// Valid reports whether a host can be told from others.
func (h Host) Valid() bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789_"
	return (h.Tools == "" || IsDigest(h.Tools)) && len(h.Arch) <= 16 && strings.Trim(h.Arch, letters) == ""
}

// IsDigest reports whether a text is a SHA-256 in hexadecimal.
func IsDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// A Lease is the right to use one device for one measurement, and what to measure.
type Lease struct {
	ID      string    `json:"id"` // names the measurement: after a crash the agent finds its journal by it
	Gate    string    `json:"gate"`
	Project string    `json:"project"`
	Device  string    `json:"device"`  // empty for a build on a host that only builds
	Attempt int       `json:"attempt"` // fencing number: a result with a lower one is refused
	Bundle  string    `json:"bundle"`  // SHA-256 of a git bundle with both commits
	Base    string    `json:"base"`
	Head    string    `json:"head"`
	Suite   string    `json:"suite"`           // path of the suite in the repository
	Tier    tier.Tier `json:"tier,omitzero"`   // of the code
	Trust   string    `json:"trust,omitzero"`  // level that pawl runs at; empty for the suite's
	Seconds int       `json:"seconds"`         // longest time the measurement may take
	Build   bool      `json:"build,omitzero"`  // only build; the measurement of the same lease follows
	Host    Host      `json:"host,omitzero"`   // for which a host builds that only builds, or for which Builds were made
	Builds  string    `json:"builds,omitzero"` // SHA-256 of an archive with builds of such a host; empty if there are none

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
	switch {
	case l.Elsewhere():
		return BuilderQueue(l.Tier, l.Host.Tools)
	case l.Build:
		return BuildQueue(l.Device)
	}
	return Queue(l.Device)
}

// Elsewhere reports whether the lease is for a host that only builds.
func (l Lease) Elsewhere() bool { return l.Build && l.Device == "" }

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
	Builds  string  `json:"builds,omitzero"` // SHA-256 of the archive with the builds of a host that only builds

	Calibration calibration.Record `json:"calibration,omitzero"` // of a lease that calibrates
}

// ExitCannot is the exit code of pawl run for what the tool or its environment cannot do.
const ExitCannot = 3

// Check returns what is wrong with a result, which comes from an agent.
func (r Result) Check() error {
	switch {
	case r.Exit < 0 || r.Exit > 255:
		return fmt.Errorf("%d is no exit code", r.Exit)
	case r.Rounds < 0 || r.Rounds > 1e6:
		return fmt.Errorf("it has %d rounds", r.Rounds)
	case !(r.Seconds >= 0 && r.Seconds <= 1e7): // NaN, too
		return fmt.Errorf("it took %g seconds", r.Seconds)
	}
	return nil
}

// A Beat is what a heartbeat says of a measurement.
type Beat struct {
	Phase  string    `json:"phase"`
	Rounds int       `json:"rounds"`
	At     time.Time `json:"at,omitzero"` // by the clock of the agent
}
