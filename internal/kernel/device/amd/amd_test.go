package amd_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/amd"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// only is a machine whose search path has no amd-smi.
func only(t *testing.T) *devicetest.AMD {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
	return devicetest.NewAMD(t)
}

func find(t *testing.T, a *devicetest.AMD) vendor.Found {
	t.Helper()
	found, err := amd.Vendor.Find(t.Context(), a.Machine())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func first(t *testing.T, a *devicetest.AMD) *amd.Device {
	t.Helper()
	return find(t, a).Devices[0].(*amd.Device)
}

func state(t *testing.T, d vendor.Device) gpu.State {
	t.Helper()
	s, err := d.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFind(t *testing.T) {
	a := only(t)
	a.Add(map[string]string{"unique_id": "", "device": "0x9999", "product_name": "AMD Instinct MI300X OAM\n"})
	found := find(t, a)
	var got []gpu.Identity
	for _, d := range found.Devices {
		got = append(got, d.Identity())
	}
	mi300 := gpu.Identity{
		Kind: gpu.AMD, Name: "AMD Instinct MI300X", UUID: "GPU-d1f8a3c09b7e4200", VBIOS: "113-M3000100-102", Driver: "linux 6.8.0-45-generic",
		ComputeCapability: "gfx942", Units: 304, MemoryBytes: 192 << 30, CacheBytes: 256 << 20, MaxClockMHz: 2100,
	}
	other := mi300
	other.Name, other.UUID, other.Index = "AMD Instinct MI300X OAM", "PCI-0000-06-00-0", 1
	if diff := cmp.Diff([]gpu.Identity{mi300, other}, got); diff != "" {
		t.Error(diff)
	}
	if found.Reader != "sysfs" || len(found.Notices) != 0 {
		t.Errorf("read through %q, %v", found.Reader, found.Notices)
	}
	for _, id := range got {
		if card, ok := gpu.CardOf(id); !ok || card.Name != "MI300X" {
			t.Errorf("%s is not found in the table of cards", id.Name)
		}
	}
}

func TestFind_WithoutAGPU(t *testing.T) {
	for name, test := range map[string]struct {
		root fstest.MapFS
		want string
	}{
		"no driver":  {fstest.MapFS{}, "the amdgpu driver is not loaded"},
		"only a CPU": {fstest.MapFS{"sys/class/kfd/kfd/topology/nodes/0/gpu_id": {Data: []byte("0\n")}}, "reports no readable GPU"},
		"another vendor": {fstest.MapFS{
			"sys/class/kfd/kfd/topology/nodes/0/gpu_id":     {Data: []byte("7\n")},
			"sys/class/kfd/kfd/topology/nodes/0/properties": {Data: []byte("vendor_id 4318\n")},
		}, "reports no readable GPU"},
	} {
		if _, err := amd.Vendor.Find(t.Context(), vendor.Machine{Root: test.root}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestFind_LeavesPartitionedCardsOut(t *testing.T) {
	a := only(t)
	a.Set(a.Card(0)+"/current_compute_partition", "CPX\n")
	a.Add(nil)
	found := find(t, a)
	if len(found.Devices) != 1 || found.Devices[0].Identity().Index != 1 {
		t.Errorf("devices %v", found.Devices)
	}
	if len(found.Notices) != 1 || found.Notices[0].Code != "gpu_unreadable" || !strings.Contains(found.Notices[0].String(), "CPX") {
		t.Errorf("notices %v", found.Notices)
	}
}

func TestState(t *testing.T) {
	a := only(t)
	d := first(t, a)
	a.Set("sys/class/kfd/kfd/proc/42/vram_1000", "4096")
	a.Set("sys/class/kfd/kfd/proc/1001/vram_1000", "8192")
	a.Set("sys/class/kfd/kfd/proc/1002/vram_1000", "0")
	a.Set("sys/class/kfd/kfd/proc/1003/vram_1001", "8192")
	want := gpu.State{
		At: devicetest.AMDNow, SMClockMHz: 1652, MemoryClockMHz: 1300, TemperatureC: 63, PowerW: 612, PowerCapW: 750, EnergyJ: 1, ECC: "on", MIG: "off",
		Processes: []gpu.Process{{PID: 1001, Name: "trainer", MemoryBytes: 8192}}, Own: []gpu.Process{{PID: 42, MemoryBytes: 4096}},
		FreeBytes: 190 << 30,
	}
	if diff := cmp.Diff(want, state(t, d)); diff != "" {
		t.Error(diff)
	}
}

// Without sensors the clock is the marked level, and what is not reported stays empty.
func TestState_WithoutSensors(t *testing.T) {
	a := only(t)
	if err := os.RemoveAll(filepath.Join(a.Dir, a.Card(0), "hwmon")); err != nil {
		t.Fatal(err)
	}
	s := state(t, first(t, a))
	if s.SMClockMHz != 1650 || s.MemoryClockMHz != 1300 || s.TemperatureC != 0 || s.PowerW != 0 {
		t.Errorf("%+v", s)
	}
	a.Set(a.Card(0)+"/pp_dpm_sclk", "") // as in some virtual machines
	d := first(t, a)
	if s = state(t, d); s.SMClockMHz != 0 {
		t.Errorf("%+v", s)
	}
	if err := os.RemoveAll(filepath.Join(a.Dir, a.Card(0))); err != nil {
		t.Fatal(err)
	}
	if _, err := d.State(t.Context()); err == nil || !strings.Contains(err.Error(), "the card may be lost") {
		t.Errorf("a lost card: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.State(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// The driver counts, so a slowdown between two readings is not lost, and one before the first does not count.
func TestState_ReasonsSinceTheLastReading(t *testing.T) {
	for name, test := range map[string]struct {
		version byte
		after   [5]uint32
		want    gpu.Reasons
	}{
		"none":           {8, [5]uint32{5, 5, 5, 5, 5}, 0},
		"prochot":        {8, [5]uint32{6, 5, 5, 5, 5}, gpu.HWSlowdown},
		"power":          {7, [5]uint32{5, 9, 5, 5, 5}, gpu.SWPowerCap},
		"socket":         {6, [5]uint32{5, 5, 6, 5, 5}, gpu.HWThermal},
		"regulator":      {8, [5]uint32{5, 5, 5, 6, 5}, gpu.HWThermal},
		"memory, power":  {8, [5]uint32{5, 6, 5, 5, 6}, gpu.HWThermal | gpu.SWPowerCap},
		"a driver reset": {8, [5]uint32{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := only(t)
			a.Set(a.Card(0)+"/gpu_metrics", string(devicetest.AMDTable(test.version, 0, [5]uint32{5, 5, 5, 5, 5})))
			d := first(t, a)
			if r := state(t, d).Reasons; r != 0 {
				t.Errorf("at first: %v", r)
			}
			a.Set(a.Card(0)+"/gpu_metrics", string(devicetest.AMDTable(test.version, 0, test.after)))
			if r := state(t, d).Reasons; r != test.want {
				t.Errorf("%v, want %v", r, test.want)
			}
			if r := state(t, d).Reasons; r != 0 {
				t.Errorf("afterwards: %v", r)
			}
		})
	}
}

// Version 1.3 says what is true now. Some Radeon cards report heat also when they are cold.
func TestState_ReasonsNow(t *testing.T) {
	for name, test := range map[string]struct {
		low, high uint32
		celsius   string
		want      gpu.Reasons
	}{
		"none":            {0, 0, "63000", 0},
		"power":           {1, 0, "63000", gpu.SWPowerCap},
		"current":         {1 << 16, 0, "63000", gpu.BoardLimit},
		"heat, and hot":   {0, 1 << 4, "97000", gpu.HWThermal},
		"heat, and cold":  {0, 1 << 4, "37000", 0},
		"prochot":         {0, 1 << 15, "63000", gpu.HWSlowdown},
		"nothing is told": {1<<32 - 1, 1<<32 - 1, "63000", 0},
	} {
		a := only(t)
		a.Set(a.Card(0)+"/gpu_metrics", string(devicetest.AMDTable(3, 0, [5]uint32{test.low, test.high})))
		a.Set(a.Card(0)+"/hwmon/hwmon4/temp2_input", test.celsius)
		if r := state(t, first(t, a)).Reasons; r != test.want {
			t.Errorf("%s: %v, want %v", name, r, test.want)
		}
	}
}

func TestState_IdleAndSetClocks(t *testing.T) {
	a := only(t)
	a.Set(a.Card(0)+"/gpu_busy_percent", "0\n")
	a.Set(a.Card(0)+"/power_dpm_force_performance_level", "manual\n")
	if r := state(t, first(t, a)).Reasons; r != gpu.Idle|gpu.ClocksSetting {
		t.Error(r)
	}
}

// A table in a form that is not known: amd-smi knows it, or nothing does, which is said.
func TestReasons_ThroughTheProgram(t *testing.T) {
	a := only(t)
	a.Set(a.Card(0)+"/gpu_metrics", string(devicetest.AMDTable(9, 0, [5]uint32{})))
	if found := find(t, a); len(found.Notices) != 1 || found.Notices[0].Code != "reasons_unreadable" {
		t.Errorf("notices %v", found.Notices)
	}
	bin := os.Getenv("PATH")
	script := func(text string) {
		t.Helper()
		at := filepath.Join(bin, "amd-smi")
		if err := os.WriteFile(at, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script(`[ "$*" = "metric --gpu 0000:05:00.0 --throttle --json" ] && echo '[{"gpu":0,"throttle":{"ppt_accumulated":7,"prochot_accumulated":"N/A"}}]'`)
	found := find(t, a)
	if len(found.Notices) != 0 {
		t.Errorf("notices %v", found.Notices)
	}
	script(`echo '{"gpu_data":[{"gpu":0,"throttle":{"ppt_accumulated":{"value":8,"unit":""},"hbm_thermal_accumulated":3}}]}'`)
	if r := state(t, found.Devices[0]).Reasons; r != gpu.SWPowerCap|gpu.HWThermal {
		t.Error(r)
	}
	// Once it has answered, a failure is an error: a lost reason could make a spoiled round look good.
	script("echo broken >&2; exit 3")
	if _, err := found.Devices[0].State(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 3: broken") {
		t.Error(err)
	}
	script("echo soon")
	if _, err := found.Devices[0].State(t.Context()); err == nil || !strings.Contains(err.Error(), "no JSON") {
		t.Error(err)
	}
}

func TestLockClocks(t *testing.T) {
	a := only(t)
	d := first(t, a)
	for policy, mhz := range map[string]string{"1500MHz": "1500", "max": "2100"} {
		p, err := gpu.ParseClockPolicy(policy)
		if err != nil {
			t.Fatal(err)
		}
		a.Writes = nil
		note, err := d.LockClocks(t.Context(), p)
		if err != nil || !strings.Contains(note, mhz+" MHz is the highest clock") {
			t.Errorf("%s: %q, %v", policy, note, err)
		}
		want := []string{"power_dpm_force_performance_level: perf_determinism\n", "pp_od_clk_voltage: s 1 " + mhz + "\n", "pp_od_clk_voltage: c\n"}
		if diff := cmp.Diff(want, a.Writes); diff != "" {
			t.Error(diff)
		}
		if r := state(t, d).Reasons; r&gpu.ClocksSetting == 0 {
			t.Errorf("%s: the reasons are %v", policy, r)
		}
		if err := d.ResetClocks(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := state(t, d).Reasons; r&gpu.ClocksSetting != 0 {
			t.Errorf("%s: afterwards the reasons are %v", policy, r)
		}
	}
}

func TestLockClocks_SaysWhatIsMissing(t *testing.T) {
	fixed := gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1500}
	for name, test := range map[string]struct {
		policy gpu.ClockPolicy
		file   string
		err    error
		want   error
	}{
		"not root":         {fixed, "power_dpm_force_performance_level", syscall.EACCES, fs.ErrPermission},
		"a container":      {fixed, "power_dpm_force_performance_level", syscall.EROFS, fs.ErrPermission},
		"a Radeon":         {fixed, "power_dpm_force_performance_level", syscall.EINVAL, errors.ErrUnsupported},
		"an older driver":  {fixed, "pp_od_clk_voltage", syscall.ENOENT, errors.ErrUnsupported},
		"the base clock":   {gpu.ClockPolicy{Mode: gpu.ClocksBase}, "", nil, errors.ErrUnsupported},
		"a driver's error": {fixed, "pp_od_clk_voltage", syscall.EIO, syscall.EIO},
	} {
		a := only(t)
		a.Errors[test.file] = test.err
		d := first(t, a)
		if _, err := d.LockClocks(t.Context(), test.policy); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if r := state(t, d).Reasons; r&gpu.ClocksSetting != 0 {
			t.Errorf("%s: left %v behind", name, r)
		}
	}
	d := first(t, only(t))
	if _, err := d.LockClocks(t.Context(), gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 9000}); err == nil || !strings.Contains(err.Error(), "2100 MHz") {
		t.Errorf("above the highest clock: %v", err)
	}
	if err := d.SetPersistence(t.Context(), true); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// Tables and answers that no driver gives must not do harm.
func TestHostileFiles(t *testing.T) {
	long := strings.Repeat("9", 1<<16)
	for _, text := range []string{"", "\x00\xff", long, "-1", "NaN", "1e400", strings.Repeat("1: 5Mhz *\n", 1000)} {
		a := only(t)
		names := slices.Sorted(maps.Keys(map[string]bool{"gpu_metrics": true, "pp_dpm_mclk": true, "unique_id": true, "vbios_version": true, "mem_info_vram_total": true, "hwmon/hwmon4/power1_input": true}))
		for _, name := range names {
			a.Set(a.Card(0)+"/"+name, text)
		}
		d := first(t, a)
		if s := state(t, d); s.PowerW < 0 || s.MemoryClockMHz < 0 || len(d.Identity().VBIOS) > 200 || len(d.Identity().UUID) > 40 {
			t.Errorf("%.20q: %+v, %+v", text, d.Identity(), s)
		}
	}
}
