package lesson

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

func TestOfRun(t *testing.T) {
	run := &measure.Run{
		Header: measure.Header{
			Source: measure.Measured, Device: gpu.Identity{Kind: gpu.NVIDIA, ComputeCapability: "8.9"},
			Testbed: measure.Testbed{Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree}},
			Implementations: []measure.Implementation{
				{Name: measure.Base, Dirty: true},
				{Name: measure.Candidate, Build: measure.BuildFacts{
					Command: "nvcc -O3 -maxrregcount=64 --use_fast_math k.cu",
					Kernels: []measure.Kernel{
						{Arch: "sm_89", Registers: 40, StackBytes: 64, Spill: &measure.Spill{StoreBytes: 100, LoadBytes: 140}},
						{Arch: "sm_89", Registers: 64, SharedBytes: 1024, Remarks: []string{"C7518"}},
						{Arch: "sm_90a", Registers: 255},
					},
				}},
			},
		},
		Rounds: []measure.Round{{}, {Dropped: "throttled"}, {}},
		Cases: []measure.Case{
			{CaseKey: measure.CaseKey{Benchmark: "b", Implementation: measure.Candidate}, Unit: "ns", Timer: measure.TimerWall, Rounds: []measure.CaseRound{
				{Quantum: 500, Samples: measure.Samples{5000, 5000, 5500}, Clocks: measure.Samples{1800, 2000}, Verified: 3},
				{Quantum: 500, Batch: 10, Samples: measure.Samples{6000}, Unsteady: true},
			}},
			{CaseKey: measure.CaseKey{Benchmark: "b", Implementation: measure.Base}, Unit: "ns", Rounds: []measure.CaseRound{{Samples: measure.Samples{1}}}},
		},
		Ending: measure.Ending{Warnings: []measure.Warning{{Code: "foreign_process"}}},
	}
	want := map[string]float64{
		"clocks_free": 1, "clock_spread_pct": 10, "throttled": 0, "foreign_process": 1, "rounds": 2, "rounds_dropped": 1,
		"hot_only": 1, "host_timed": 1, "unsteady": 1, "verified": 3, "shortest_ns": 5000, "timer_step_pct": 10,
		"registers": 64, "stack_bytes": 64, "local_bytes": 0, "static_shared_bytes": 1024, "compiler_remarks": 1, "spill_bytes": 240,
		"arch_built": 1, "fast_math": 1, "max_registers": 64, "dirty": 0,
	}
	got := OfRun(run)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name := range got {
		if _, ok := known().slots[name]; !ok {
			t.Errorf("no symptom can ask for %s", name)
		}
	}
	for _, f := range recordFacts {
		if _, ok := got[f.Name]; !ok {
			t.Errorf("nothing gives %s", f.Name)
		}
	}
	if got := OfRun(&measure.Run{}); len(got) != 0 {
		t.Errorf("an empty record tells %v", got)
	}
}

func TestGPUOf(t *testing.T) {
	for _, test := range []struct {
		id   gpu.Identity
		want string
	}{
		{gpu.Identity{Kind: gpu.NVIDIA, ComputeCapability: "12.0"}, "sm_120"},
		{gpu.Identity{Kind: gpu.CPU}, "cpu"},
		{gpu.Identity{Kind: gpu.AMD}, ""},
	} {
		if got := GPUOf(test.id); got != test.want {
			t.Errorf("%+v is %q, want %q", test.id, got, test.want)
		}
	}
}
