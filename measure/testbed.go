package measure

import (
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
)

// Testbed is the set of conditions that make numbers comparable. Runs on different testbeds are not
// compared; the error names the field that differs. Timer and cache mode also belong to the testbed, but
// are stored with each case. The toolchain does not: it belongs to the implementation, so that a compiler
// update can be judged.
type Testbed struct {
	Kind      gpu.Kind        `json:"kind"`
	Device    string          `json:"device"` // model, not serial number: two L4s are one testbed
	Driver    string          `json:"driver,omitempty"`
	PowerCapW float64         `json:"power_cap_w,omitempty"`
	ECC       string          `json:"ecc,omitempty"`
	MIG       string          `json:"mig,omitempty"`
	Clocks    gpu.ClockPolicy `json:"clocks"`
}

// NewTestbed returns the testbed of a device in the given state.
func NewTestbed(id gpu.Identity, s gpu.State, clocks gpu.ClockPolicy) Testbed {
	return Testbed{
		Kind: id.Kind, Device: id.Name, Driver: id.Driver,
		PowerCapW: s.PowerCapW, ECC: s.ECC, MIG: s.MIG, Clocks: clocks,
	}
}

// Differs describes the differences that prevent a comparison of two testbeds, or returns nil if there are
// none. Unset fields, which are common in imported files, never differ.
func (t Testbed) Differs(o Testbed) []string {
	var diffs []string
	note := func(what, a, b string) {
		if a != b && a != "" && b != "" {
			diffs = append(diffs, fmt.Sprintf("%s: %s and %s", what, a, b))
		}
	}
	note("device", t.Device, o.Device)
	note("driver", t.Driver, o.Driver)
	note("power cap", watts(t.PowerCapW), watts(o.PowerCapW))
	note("ECC", t.ECC, o.ECC)
	note("MIG", t.MIG, o.MIG)
	if t.Clocks.Mode != "" && o.Clocks.Mode != "" {
		note("clock policy", t.Clocks.String(), o.Clocks.String())
	}
	return diffs
}

func watts(w float64) string {
	if w == 0 {
		return ""
	}
	return fmt.Sprintf("%g W", w)
}
