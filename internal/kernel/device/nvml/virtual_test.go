//go:build linux && (amd64 || arm64)

package nvml_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvml"
)

// virtual opens pawl's loader on the virtual GPU.
func virtual(t *testing.T, settings ...string) (devicetest.Virtual, []*nvml.Device) {
	t.Helper()
	v := devicetest.UseVirtual(t, settings...)
	lib, err := nvml.Open(options(os.Getenv("PAWL_NVML_LIBRARY")))
	if err != nil {
		t.Fatal(err)
	}
	devices, err := lib.Devices()
	if err != nil {
		t.Fatal(err)
	}
	return v, devices
}

func stateOf(t *testing.T, d *nvml.Device) gpu.State {
	t.Helper()
	s, err := d.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// spender is a program that keeps the virtual GPU busy for so many milliseconds of its time.
func spender(t *testing.T) func(v devicetest.Virtual, ms string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "spend")
	if out, err := exec.CommandContext(t.Context(), "cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/spend.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(v devicetest.Virtual, ms string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, ms)
		cmd.Env = append(os.Environ(), v.Env()...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

func TestVirtual_IdentityIsTheCards(t *testing.T) {
	for _, c := range []struct {
		card, capability string
		units            int
		bandwidth        float64
	}{{"L4", "8.9", 58, 300}, {"A100", "8.0", 108, 2039}, {"H100", "9.0", 132, 3350}, {"B200", "10.0", 148, 7672}} {
		_, devices := virtual(t, "VGPU_CARD="+c.card, "VGPU_DEVICES=2")
		if len(devices) != 2 {
			t.Fatalf("%s: %d devices, want 2", c.card, len(devices))
		}
		id := devices[1].Identity()
		if id.ComputeCapability != c.capability || id.Units != c.units || math.Abs(id.BandwidthGBs/c.bandwidth-1) > 0.01 ||
			id.UUID != "GPU-00000000-0000-0000-0000-000000000001" || id.Name != "Virtual "+c.card+" 1" {
			t.Errorf("%s: %+v", c.card, id)
		}
	}
}

// Load in one process shows in the state that another reads: clock, power, heat and energy.
func TestVirtual_StateFollowsTheLoad(t *testing.T) {
	v, devices := virtual(t)
	run := spender(t)
	idle := stateOf(t, devices[0])
	run(v, "3000")
	busy := stateOf(t, devices[0])
	if idle.SMClockMHz != 2040 || math.Abs(busy.SMClockMHz/1500-1) > 0.03 {
		t.Errorf("clock %v, then %v MHz, want 2040 and about 1500", idle.SMClockMHz, busy.SMClockMHz)
	}
	if idle.PowerW > 17 || math.Abs(busy.PowerW/72-1) > 0.05 || busy.TemperatureC <= idle.TemperatureC {
		t.Errorf("power %v, then %v W, temperature %v, then %v", idle.PowerW, busy.PowerW, idle.TemperatureC, busy.TemperatureC)
	}
	if busy.Reasons&gpu.SWPowerCap == 0 || idle.Reasons != gpu.Idle {
		t.Errorf("reasons %v, then %v, want idle, then a power cap", idle.Reasons, busy.Reasons)
	}
	if spent := busy.EnergyJ - idle.EnergyJ; math.Abs(spent/(3*74)-1) > 0.06 {
		t.Errorf("3 s took %.1f J, want about 222", spent)
	}
}

func TestVirtual_LockedClocksAreFollowedAndReset(t *testing.T) {
	v, devices := virtual(t)
	run := spender(t)
	if _, err := devices[0].LockClocks(t.Context(), gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 900}); err != nil {
		t.Fatal(err)
	}
	run(v, "3000")
	if s := stateOf(t, devices[0]); math.Abs(s.SMClockMHz-900) > 5 || s.Reasons&gpu.ClocksSetting == 0 {
		t.Errorf("locked at 900: %v MHz, %v", s.SMClockMHz, s.Reasons)
	}
	if err := devices[0].ResetClocks(t.Context()); err != nil {
		t.Fatal(err)
	}
	run(v, "3000")
	if s := stateOf(t, devices[0]); math.Abs(s.SMClockMHz/1500-1) > 0.03 || s.Reasons&gpu.ClocksSetting != 0 {
		t.Errorf("free: %v MHz, %v", s.SMClockMHz, s.Reasons)
	}
	if _, err := devices[0].LockClocks(t.Context(), gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 9000}); err == nil {
		t.Error("locked at 9000 MHz")
	}
	if err := devices[0].SetPersistence(t.Context(), true); err != nil || stateOf(t, devices[0]).Persistence != "on" {
		t.Errorf("persistence: %v", err)
	}
}

func TestVirtual_HasASliceUnderMIG(t *testing.T) {
	_, devices := virtual(t, "VGPU_CARD=A100", "VGPU_MIG=1")
	if len(devices) != 2 {
		t.Fatalf("%d devices, want a card and its slice", len(devices))
	}
	id := devices[1].Identity()
	if id.Parent != devices[0].Identity().UUID || id.Units != 15 || id.MemoryBytes != 10_000_000_000 || !strings.HasPrefix(id.UUID, "MIG-") {
		t.Errorf("slice %+v", id)
	}
	if s := stateOf(t, devices[1]); s.MIG != "on" || s.FreeBytes != id.MemoryBytes {
		t.Errorf("state of the slice %+v", s)
	}
}

// Each function fails at every call, one function at a time: no state is lost but the value itself.
func TestVirtual_SurvivesEveryGetterThatFails(t *testing.T) {
	_, devices := virtual(t)
	for _, g := range devices[0].Getters() {
		if g.Code != 0 && g.Symbol != "nvmlDeviceGetMigMode" {
			t.Errorf("%s answered %d", g.Symbol, g.Code)
		}
		_, broken := virtual(t, "VGPU_FAULT="+g.Symbol+":-1=999")
		if _, err := broken[0].State(t.Context()); err != nil && !strings.Contains(err.Error(), g.Symbol) {
			t.Errorf("%s fails: %v", g.Symbol, err)
		}
		for _, again := range broken[0].Getters() {
			if again.Unexpected != (again.Symbol == g.Symbol) {
				t.Errorf("%s fails: %+v", g.Symbol, again)
			}
		}
	}
}
