package preflight

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
)

// State is the result of a gate.
type State string

// Results of a gate. Unknown means that it could not be checked.
const (
	Pass    State = "pass"
	Unknown State = "unknown"
	Warn    State = "warn"
	Stop    State = "stop"
)

// severity lists the states in order, worst last.
var severity = []State{Pass, Unknown, Warn, Stop}

// Name is the name of a gate.
type Name string

// Names of the gates, in the order in which they are checked: the first four before
// anything is compiled.
const (
	SharedMemory Name = "shared memory"
	Block        Name = "block"
	ClaimsGate   Name = "claims"
	Duration     Name = "duration"
	BuildGate    Name = "build"
	Architecture Name = "architecture"
	Symbols      Name = "symbols"
	Spills       Name = "spills"
	Remarks      Name = "compiler"
	Occupancy    Name = "occupancy"
	Sanitizer    Name = "sanitizer"
)

// Names lists the gates in order.
func Names() []Name {
	return []Name{SharedMemory, Block, ClaimsGate, Duration, BuildGate, Architecture, Symbols, Spills, Remarks, Occupancy, Sanitizer}
}

// Gate is the result of one gate for one benchmark, config or kernel.
type Gate struct {
	Name      Name   `json:"gate"`
	State     State  `json:"state"`
	Benchmark string `json:"benchmark,omitempty"`
	Config    string `json:"config,omitempty"` // the first of the configs with the same result
	Kernel    string `json:"kernel,omitempty"`
	Arch      string `json:"arch,omitempty"`

	Number float64 `json:"number,omitempty"`
	Limit  float64 `json:"limit,omitempty"`
	Unit   string  `json:"unit,omitempty"`

	Text string `json:"text"`          // what was found
	Fix  string `json:"fix,omitempty"` // how to fix it
}

// with returns g with a state, how to fix it, and what was found.
func (g Gate) with(s State, fix, format string, args ...any) Gate {
	g.State, g.Fix, g.Text = s, fix, fmt.Sprintf(format, args...)
	return g
}

// Subject returns what the result is about, for messages; empty for the whole build.
func (g Gate) Subject() string {
	switch {
	case g.Kernel != "" && g.Arch != "":
		return g.Kernel + " (" + g.Arch + ")"
	case g.Kernel != "":
		return g.Kernel
	case g.Config != "":
		return g.Benchmark + "/" + g.Config
	default:
		return g.Benchmark
	}
}

// Report holds the results of all gates.
type Report struct {
	Target  Target           `json:"target,omitzero"`
	Built   bool             `json:"built"` // false if it stopped before building
	Gates   []Gate           `json:"gates"`
	Kernels []measure.Kernel `json:"kernels,omitempty"`
	// Code identifies the machine code that was checked, for the record.
	Code []measure.CodeDigest `json:"code,omitempty"`
}

// Worst returns the worst state of all gates; Pass if there are none.
func (r Report) Worst() State {
	worst := 0
	for _, g := range r.Gates {
		worst = max(worst, slices.Index(severity, g.State))
	}
	return severity[worst]
}

// Of returns the results of one gate.
func (r Report) Of(name Name) []Gate {
	var list []Gate
	for _, g := range r.Gates {
		if g.Name == name {
			list = append(list, g)
		}
	}
	return list
}
