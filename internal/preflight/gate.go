package preflight

import (
	"slices"

	"github.com/goatnote-inc/pawl/measure"
)

// State is the answer of a gate.
type State string

// The answers. Unknown is what could not be looked at.
const (
	Pass    State = "pass"
	Unknown State = "unknown"
	Warn    State = "warn"
	Stop    State = "stop"
)

// severity is the order of states, the worst last.
var severity = []State{Pass, Unknown, Warn, Stop}

// Name is which gate it is.
type Name string

// The gates, in the order in which they are looked at: the first four before
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

// Names lists the gates in their order.
func Names() []Name {
	return []Name{SharedMemory, Block, ClaimsGate, Duration, BuildGate, Architecture, Symbols, Spills, Remarks, Occupancy, Sanitizer}
}

// Gate is one answer: of a gate, for one benchmark, config or kernel.
type Gate struct {
	Name      Name   `json:"gate"`
	State     State  `json:"state"`
	Benchmark string `json:"benchmark,omitempty"`
	Config    string `json:"config,omitempty"` // the first of those it is the same for
	Kernel    string `json:"kernel,omitempty"`
	Arch      string `json:"arch,omitempty"`

	Number float64 `json:"number,omitempty"`
	Limit  float64 `json:"limit,omitempty"`
	Unit   string  `json:"unit,omitempty"`

	Text string `json:"text"`          // what was found
	Fix  string `json:"fix,omitempty"` // what to do about it
}

// Subject is what the answer is about, as people call it; empty for the whole build.
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

// Report is what all gates said.
type Report struct {
	Target  Target           `json:"target,omitzero"`
	Built   bool             `json:"built"` // or stopped before that
	Gates   []Gate           `json:"gates"`
	Kernels []measure.Kernel `json:"kernels,omitempty"`
	// Code identifies the machine code that was looked at, for the record.
	Code []measure.CodeDigest `json:"code,omitempty"`
}

// Worst is the worst answer of all gates; Pass where there is none.
func (r Report) Worst() State {
	worst := Pass
	for _, g := range r.Gates {
		worst = worse(worst, g.State)
	}
	return worst
}

func worse(a, b State) State {
	return severity[max(slices.Index(severity, a), slices.Index(severity, b))]
}

// Of returns the answers of one gate.
func (r Report) Of(name Name) []Gate {
	var list []Gate
	for _, g := range r.Gates {
		if g.Name == name {
			list = append(list, g)
		}
	}
	return list
}
