package gpu_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
)

func TestMerge(t *testing.T) {
	end := gpu.State{SMClockMHz: 1500, TemperatureC: 60, Reasons: gpu.Idle, Processes: []gpu.Process{{PID: 1, Name: "a"}}}
	during := gpu.State{
		SMClockMHz: 900, TemperatureC: 71, Reasons: gpu.HWThermal,
		Processes: []gpu.Process{{PID: 1, Name: "old"}, {PID: 2, Name: "b"}},
	}
	want := gpu.State{
		SMClockMHz: 1500, TemperatureC: 71, Reasons: gpu.Idle | gpu.HWThermal,
		Processes: []gpu.Process{{PID: 1, Name: "a"}, {PID: 2, Name: "b"}},
	}
	if diff := cmp.Diff(want, end.Merge(during)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if len(end.Processes) != 1 {
		t.Error("Merge changed its receiver")
	}
	if diff := cmp.Diff(end, end.Merge(gpu.State{})); diff != "" {
		t.Errorf("merging nothing changes something (-want +got):\n%s", diff)
	}
}
