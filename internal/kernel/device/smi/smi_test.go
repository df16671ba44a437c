package smi_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/smi"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

const (
	l4UUID   = "GPU-11111111-2222-3333-4444-555555555555"
	a100UUID = "GPU-aaaaaaaa-2222-3333-4444-555555555555"
	migUUID  = "MIG-bbbbbbbb-0000-0000-0000-000000000001"
)

// fake is a folder with a nvidia-smi and the answers it gives.
type fake struct {
	t   *testing.T
	dir string
}

func (f fake) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f fake) remove(name string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

// newFake is a machine with an L4 and an A100 that is cut into slices.
func newFake(t *testing.T) fake {
	t.Helper()
	f := fake{t, t.TempDir()}
	script, err := os.ReadFile("testdata/nvidia-smi")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "nvidia-smi"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("banner", "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15    CUDA Version: 12.4     |\n")
	f.write("list", fmt.Sprintf("GPU 0: NVIDIA L4 (UUID: %s)\nGPU 1: NVIDIA A100-SXM4-40GB (UUID: %s)\n  MIG 3g.20gb     Device  0: (UUID: %s)\n", l4UUID, a100UUID, migUUID))
	f.write("apps", "")
	for n, fields := range []map[string]string{
		{
			"uuid": l4UUID, "name": "NVIDIA L4", "compute_cap": "8.9", "memory.total": "23034", "memory.free": "20986", "ecc.mode.current": "Enabled",
			"mig.mode.current": "[N/A]", "persistence_mode": "Disabled", "clocks_event_reasons.active": "0x0000000000000044",
		},
		{
			"uuid": a100UUID, "name": "NVIDIA A100-SXM4-40GB, special edition", "compute_cap": "8.0", "memory.total": "40960", "memory.free": "40000",
			"ecc.mode.current": "[Not Supported]", "mig.mode.current": "Enabled", "persistence_mode": "Enabled", "clocks_event_reasons.active": "0x0000000000000000",
		},
	} {
		fields["index"] = fmt.Sprint(n)
		fields["vbios_version"], fields["driver_version"] = "95.04.29.00.06", "550.54.15"
		fields["clocks.current.sm"], fields["clocks.current.memory"] = "210", "405"
		fields["clocks.max.sm"], fields["clocks.default_applications.graphics"] = "2040", "1590"
		fields["temperature.gpu"], fields["power.draw"], fields["enforced.power.limit"] = "41", "16.52", "72.00"
		for name, text := range fields {
			f.write(fmt.Sprintf("gpu%d/%s", n, name), text+"\n")
		}
	}
	return f
}

func (f fake) devices() []*smi.Device {
	f.t.Helper()
	tool, err := smi.Open(f.options())
	if err != nil {
		f.t.Fatal(err)
	}
	devices, err := tool.Devices(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return devices
}

func (f fake) options() smi.Options {
	return smi.Options{
		Path: filepath.Join(f.dir, "nvidia-smi"),
		Own:  func(pid int) bool { return pid == 42 },
		Name: func(pid int) string { return map[int]string{1001: "trainer"}[pid] },
		Now:  func() time.Time { return noon },
	}
}

func TestDevices(t *testing.T) {
	var got []gpu.Identity
	for _, d := range newFake(t).devices() {
		got = append(got, d.Identity())
	}
	l4 := gpu.Identity{
		Kind: gpu.NVIDIA, Name: "NVIDIA L4", UUID: l4UUID, VBIOS: "95.04.29.00.06", Driver: "550.54.15", CUDA: "12.4",
		ComputeCapability: "8.9", MemoryBytes: 23034 << 20, MaxClockMHz: 2040,
	}
	a100 := l4
	a100.Name, a100.UUID, a100.Index = "NVIDIA A100-SXM4-40GB, special edition", a100UUID, 1
	a100.ComputeCapability, a100.MemoryBytes = "8.0", 40960<<20
	slice := a100
	slice.Name, slice.UUID, slice.Parent, slice.Index, slice.MemoryBytes = a100.Name+" MIG 3g.20gb", migUUID, a100UUID, 0, 0
	if diff := cmp.Diff([]gpu.Identity{l4, a100, slice}, got); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
}

func TestState(t *testing.T) {
	f := newFake(t)
	f.write("apps", "42, 100\n1001, 2048\n1002, [N/A]\n")
	got, err := f.devices()[0].State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := gpu.State{
		At: noon, SMClockMHz: 210, MemoryClockMHz: 405, TemperatureC: 41, PowerW: 16.52, PowerCapW: 72,
		Reasons: gpu.SWPowerCap | gpu.HWThermal, ECC: "on", Persistence: "off",
		Processes: []gpu.Process{{PID: 1001, Name: "trainer", MemoryBytes: 2048 << 20}, {PID: 1002}}, FreeBytes: 20986 << 20,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if slice, err := f.devices()[2].State(t.Context()); err != nil || slice.FreeBytes != 0 {
		t.Errorf("free memory of a slice: %d, %v, want unknown", slice.FreeBytes, err)
	}
}

// An older driver knows a field under its old name, or not at all.
func TestStateOfAnOldDriver(t *testing.T) {
	f := newFake(t)
	f.remove("gpu0/clocks_event_reasons.active")
	f.write("gpu0/clocks_throttle_reasons.active", "0x0000000000000008\n")
	f.remove("gpu0/mig.mode.current")
	f.remove("gpu0/enforced.power.limit")
	f.remove("gpu0/compute_cap")
	d := f.devices()[0]
	if cc := d.Identity().ComputeCapability; cc != "" {
		t.Errorf("compute capability %q, want none", cc)
	}
	got, err := d.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := gpu.State{
		At: noon, SMClockMHz: 210, MemoryClockMHz: 405, TemperatureC: 41, PowerW: 16.52,
		Reasons: gpu.HWSlowdown, ECC: "on", Persistence: "off", FreeBytes: 20986 << 20,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestStateOfASliceIsThatOfItsCard(t *testing.T) {
	devices := newFake(t).devices()
	got, err := devices[2].State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := gpu.State{
		At: noon, SMClockMHz: 210, MemoryClockMHz: 405, TemperatureC: 41, PowerW: 16.52, PowerCapW: 72, MIG: "on", Persistence: "on",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// A reason that cannot be read is an error, not an absent reason.
func TestStateWithUnreadableReasons(t *testing.T) {
	f := newFake(t)
	f.write("gpu0/clocks_event_reasons.active", "Active\n")
	if _, err := f.devices()[0].State(t.Context()); err == nil || !strings.Contains(err.Error(), `"Active"`) {
		t.Errorf("error %v, want one that quotes the value", err)
	}
}

func TestControl(t *testing.T) {
	f := newFake(t)
	devices := f.devices()
	l4, slice := devices[0], devices[2]
	for _, policy := range []string{"1500MHz", "max", "base"} {
		p, err := gpu.ParseClockPolicy(policy)
		if err != nil {
			t.Fatal(err)
		}
		note, err := l4.LockClocks(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if (policy == "base") != strings.Contains(note, "default application clock, 1590 MHz") {
			t.Errorf("%s: note %q", policy, note)
		}
	}
	if err := errors.Join(slice.ResetClocks(t.Context()), slice.SetPersistence(t.Context(), false), l4.SetPersistence(t.Context(), true)); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(f.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		l4UUID + " --lock-gpu-clocks=1500,1500",
		l4UUID + " --lock-gpu-clocks=2040,2040",
		l4UUID + " --lock-gpu-clocks=1590,1590",
		a100UUID + " --reset-gpu-clocks",
		a100UUID + " --persistence-mode=0",
		l4UUID + " --persistence-mode=1",
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(log)), "\n")); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestControlRefused(t *testing.T) {
	tests := []struct {
		name, fail string
		is         error
	}{
		{"no permission", "4\nThe current user does not have permission to change clocks for GPU 00000000:00:04.0.\nTerminating early due to previous errors.\n", fs.ErrPermission},
		{"not supported", "3\nSetting locked GPU clocks is not supported.\n", errors.ErrUnsupported},
		{"not supported, with exit code 0", "0\nSetting locked GPU clocks is not supported for GPU 00000000:00:04.0.\nTreating as warning and moving on.\nAll done.\n", errors.ErrUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			f.write("fail", tt.fail)
			_, err := f.devices()[0].LockClocks(t.Context(), gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1500})
			if !errors.Is(err, tt.is) {
				t.Errorf("error %v, want one that wraps %v", err, tt.is)
			}
			if err == nil || !strings.Contains(err.Error(), "1500MHz") || !strings.Contains(err.Error(), strings.Split(tt.fail, "\n")[1]) {
				t.Errorf("error %v does not say what was tried and what nvidia-smi said", err)
			}
		})
	}
	f := newFake(t)
	_, err := f.devices()[0].LockClocks(t.Context(), gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 9000})
	if err == nil || !strings.Contains(err.Error(), "max SM clock of this device is 2040 MHz") {
		t.Errorf("a clock above the max: %v", err)
	}
}

func TestOpenSaysWhy(t *testing.T) {
	if _, err := smi.Open(smi.Options{Path: "/nowhere/nvidia-smi"}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("without the program: %v", err)
	}
	f := newFake(t)
	f.write("broken", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n")
	for code, want := range map[string]string{"9": "driver is not loaded", "12": "library was not found", "77": "couldn't communicate"} {
		f.write("broken.code", code)
		tool, err := smi.Open(f.options())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tool.Devices(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("exit code %s: error %v does not say %q", code, err, want)
		}
	}
}
