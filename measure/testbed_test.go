package measure_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

func TestTestbedsThatDiffer(t *testing.T) {
	l4 := measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Driver: "570", PowerCapW: 72, ECC: "on", MIG: "off", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksBase}}
	other := func(change func(*measure.Testbed)) measure.Testbed {
		o := l4
		change(&o)
		return o
	}
	tests := []struct {
		name string
		with measure.Testbed
		want []string
	}{
		{"itself", l4, nil},
		{"another driver", other(func(t *measure.Testbed) { t.Driver = "575" }), []string{"driver: 570 and 575"}},
		{"another cap and policy", other(func(t *measure.Testbed) {
			t.PowerCapW = 60
			t.Clocks = gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1200}
		}), []string{"power cap: 72 W and 60 W", "clock policy: base and 1200MHz"}},
		{"a file that tells only the name", measure.Testbed{Device: "NVIDIA L4"}, nil},
		{"a file of another card", measure.Testbed{Device: "NVIDIA A100"}, []string{"device: NVIDIA L4 and NVIDIA A100"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, l4.Differs(tt.with)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if diff := cmp.Diff(len(tt.want), len(tt.with.Differs(l4))); diff != "" {
			t.Errorf("%s, the other way round: %s", tt.name, diff)
		}
	}
}
