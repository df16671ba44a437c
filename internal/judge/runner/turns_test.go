package runner

import (
	"context"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

// card is a device that accepts every clock.
type card struct {
	id   gpu.Identity
	free int64
}

func (c card) Identity() gpu.Identity { return c.id }

func (c card) State(context.Context) (gpu.State, error) { return gpu.State{FreeBytes: c.free}, nil }

func (c card) LockClocks(context.Context, gpu.ClockPolicy) (string, error) { return "", nil }

func (c card) ResetClocks(context.Context) error { return nil }

func (c card) SetPersistence(context.Context, bool) error { return nil }

func TestPlanTurns_FollowsClocksAndMemory(t *testing.T) {
	free, fixed := gpu.ClockPolicy{Mode: gpu.ClocksFree}, gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1200}
	for name, test := range map[string]struct {
		turns          string
		kind           gpu.Kind
		clocks         gpu.ClockPolicy
		bytes          int64
		want, measures bool // measures: the memory, at every case
		warns          int
	}{
		"a CPU":                        {turns: "auto", kind: gpu.CPU, clocks: free, want: true},
		"a GPU with free clocks":       {turns: "auto", kind: gpu.NVIDIA, clocks: free, bytes: 1 << 30, want: true, measures: true},
		"a GPU of AMD":                 {turns: "auto", kind: gpu.AMD, clocks: free, bytes: 1 << 30, want: true, measures: true},
		"a GPU with locked clocks":     {turns: "auto", kind: gpu.NVIDIA, clocks: fixed, bytes: 1 << 30},
		"a GPU that hides its memory":  {turns: "auto", kind: gpu.NVIDIA, clocks: free, measures: true, warns: 1},
		"a GPU, and the suite says so": {turns: "always", kind: gpu.NVIDIA, clocks: fixed, want: true},
		"a GPU, and it says no":        {turns: "never", kind: gpu.NVIDIA, clocks: free, bytes: 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			dev := card{id: gpu.Identity{Kind: test.kind, Name: "a card", UUID: "GPU-1"}, free: test.bytes}
			r := NewSetup(againOptions(t, twoImplementations))
			r.Suite.Measure.Turns, r.device = test.turns, dev
			r.sides = []side{{name: "candidate"}, {name: "base"}}
			r.cases = map[string][]trial.Case{"candidate": {{}}, "base": {{}}}
			lease, err := device.Acquire(t.Context(), dev, device.LockOptions{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = lease.Release(t.Context()) }()
			if _, err := lease.SetClocks(t.Context(), test.clocks, false); err != nil {
				t.Fatal(err)
			}
			r.lease = lease
			state, _ := dev.State(t.Context())
			if got := r.planTurns(state); got != test.want || len(r.ending.Warnings) != test.warns {
				t.Errorf("turns %v, warnings %v", got, r.ending.Warnings)
			}
			if measures := r.freeMemory() != nil; measures != test.measures {
				t.Errorf("the memory is read: %v, want %v", measures, test.measures)
			}
		})
	}
}
