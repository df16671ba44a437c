package measure

import (
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
)

// Testbed is what makes numbers comparable: two runs on different testbeds are
// refused, with the field that differs. Timer and cache mode belong to it too and
// stand with each case. The toolchain does not: it belongs to the implementation,
// so that a compiler update can be judged.
type Testbed struct {
	Kind      gpu.Kind        `json:"kind"`
	Device    string          `json:"device"` // SKU, not serial number: two L4s are one testbed
	Driver    string          `json:"driver,omitempty"`
	PowerCapW float64         `json:"power_cap_w,omitempty"`
	ECC       string          `json:"ecc,omitempty"`
	MIG       string          `json:"mig,omitempty"`
	Clocks    gpu.ClockPolicy `json:"clocks"`
}

// NewTestbed derives the testbed from a device as it was found.
func NewTestbed(id gpu.Identity, s gpu.State, clocks gpu.ClockPolicy) Testbed {
	return Testbed{
		Kind: id.Kind, Device: id.Name, Driver: id.Driver,
		PowerCapW: s.PowerCapW, ECC: s.ECC, MIG: s.MIG, Clocks: clocks,
	}
}

// Differs lists what keeps two testbeds from being compared, in plain words;
// nil when nothing does. What one of them does not tell, as imported files often do
// not, cannot differ.
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
