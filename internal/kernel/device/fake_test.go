package device

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// fakeGPU is a GPU in memory. It can refuse, and it can fail.
type fakeGPU struct {
	id gpu.Identity

	mu       sync.Mutex
	state    gpu.State
	stateErr error
	locked   string // the policy the clocks are locked to; empty when free
	denied   bool
	failing  bool // setters do their work and then report an error
}

func newFakeGPU() *fakeGPU {
	return &fakeGPU{
		id:    gpu.Identity{Kind: gpu.NVIDIA, Name: "Fake GPU", UUID: "GPU-fake"},
		state: gpu.State{At: time.Unix(1, 0), Persistence: "off", SMClockMHz: 1000},
	}
}

func (g *fakeGPU) Identity() gpu.Identity { return g.id }

func (g *fakeGPU) State(context.Context) (gpu.State, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state, g.stateErr
}

func (g *fakeGPU) set(f func()) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.denied {
		return fmt.Errorf("setting: %w", fs.ErrPermission)
	}
	f()
	if g.failing {
		return errors.New("the driver failed half-way")
	}
	return nil
}

func (g *fakeGPU) LockClocks(_ context.Context, p gpu.ClockPolicy) (string, error) {
	return "", g.set(func() { g.locked = p.String() })
}

func (g *fakeGPU) ResetClocks(context.Context) error { return g.set(func() { g.locked = "" }) }

func (g *fakeGPU) SetPersistence(_ context.Context, on bool) error {
	return g.set(func() { g.state.Persistence = map[bool]string{true: "on", false: "off"}[on] })
}

// fakeHost is a device that cannot be controlled.
type fakeHost struct{}

func (fakeHost) Identity() gpu.Identity { return gpu.Identity{Kind: gpu.CPU, Name: "Fake CPU"} }

func (fakeHost) State(context.Context) (gpu.State, error) { return gpu.State{At: time.Unix(1, 0)}, nil }

func acquire(tb testing.TB, dev Device, dir string) *Lease {
	tb.Helper()
	l, err := Acquire(tb.Context(), dev, LockOptions{Dir: dir, Owner: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Release(context.Background()) })
	return l
}

var (
	base  = gpu.ClockPolicy{Mode: gpu.ClocksBase}
	free  = gpu.ClockPolicy{Mode: gpu.ClocksFree}
	fixed = gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1500}
)

func codes(notices []Notice) []string {
	var list []string
	for _, n := range notices {
		list = append(list, n.Code)
	}
	return list
}
