//go:build linux && (amd64 || arm64)

package nvml_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvml"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

const ownPID = 42

func options(library string) nvml.Options {
	return nvml.Options{
		Library: library,
		Own:     func(pid int) bool { return pid == ownPID },
		Name:    func(pid int) string { return map[int]string{1001: "trainer"}[pid] },
		Now:     func() time.Time { return noon },
	}
}

// TestMain lets the test binary stand in for a pawl process.
func TestMain(m *testing.M) {
	if os.Getenv("NVML_TEST_SHOW") == "" {
		os.Exit(m.Run())
	}
	if err := show(); err != nil {
		fmt.Println(err)
	}
}

// show prints the first device and its state as JSON, or why there is none.
func show() error {
	lib, err := nvml.Open(options(os.Getenv("PAWL_NVML_LIBRARY")))
	if err != nil {
		return err
	}
	devices, err := lib.Devices()
	if err != nil {
		return err
	}
	s, err := devices[0].State(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"identity": devices[0].Identity(), "state": s})
}

// elsewhere runs show in another process.
func elsewhere(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "NVML_TEST_SHOW=1")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the process ended with %v:\n%s", err, out)
	}
	return string(out)
}

// machine opens the stub in this process.
func machine(t *testing.T, state devicetest.State) (*devicetest.Stub, []*nvml.Device) {
	t.Helper()
	stub := devicetest.BuildStub(t)
	stub.SetState(state)
	stub.Use()
	lib, err := nvml.Open(options(os.Getenv("PAWL_NVML_LIBRARY")))
	if err != nil {
		t.Fatal(err)
	}
	devices, err := lib.Devices()
	if err != nil {
		t.Fatal(err)
	}
	return stub, devices
}

func TestDevices(t *testing.T) {
	_, devices := machine(t, devicetest.State{GPUs: []devicetest.GPU{devicetest.L4(), devicetest.A100()}})
	var got []gpu.Identity
	for _, d := range devices {
		got = append(got, d.Identity())
	}
	driver := gpu.Identity{Kind: gpu.NVIDIA, Driver: "550.54.15", CUDA: "12.4"}
	l4, a100 := driver, driver
	l4.Name, l4.UUID, l4.VBIOS = "NVIDIA L4", "GPU-11111111-2222-3333-4444-555555555555", "95.04.29.00.06"
	l4.ComputeCapability, l4.Units, l4.MemoryBytes = "8.9", 58, 23034<<20
	l4.MaxClockMHz, l4.BandwidthGBs = 2040, 300
	a100.Name, a100.UUID, a100.VBIOS = "NVIDIA A100-SXM4-40GB", "GPU-aaaaaaaa-2222-3333-4444-555555555555", "92.00.19.00.01"
	a100.ComputeCapability, a100.Units, a100.MemoryBytes, a100.Index = "8.0", 108, 40960<<20, 1
	a100.MaxClockMHz, a100.BandwidthGBs = 1410, 1555
	slice := func(index int, name, uuid string, sms int) gpu.Identity {
		id := a100
		id.Parent, id.UUID, id.Name, id.Index, id.Units, id.MemoryBytes, id.BandwidthGBs = a100.UUID, uuid, name, index, sms, 0, 0
		return id
	}
	want := []gpu.Identity{
		l4, a100,
		slice(0, "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "MIG-bbbbbbbb-0000-0000-0000-000000000001", 42),
		slice(1, "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "MIG-cccccccc-0000-0000-0000-000000000002", 14),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	for _, id := range got[2:] {
		if id.LockName() != a100.UUID {
			t.Errorf("a slice locks %s, want its card %s", id.LockName(), a100.UUID)
		}
	}
}

// A card that fell off the bus must not hide the others.
func TestDevicesWithoutTheLostOne(t *testing.T) {
	lost := devicetest.L4()
	lost.Lost = devicetest.GPULost
	stub := devicetest.BuildStub(t)
	stub.SetState(devicetest.State{GPUs: []devicetest.GPU{lost, devicetest.A100()}})
	stub.Use()
	lib, err := nvml.Open(options(os.Getenv("PAWL_NVML_LIBRARY")))
	if err != nil {
		t.Fatal(err)
	}
	devices, err := lib.Devices()
	if err == nil || !strings.Contains(err.Error(), "GPU 0") || !strings.Contains(err.Error(), "lost") {
		t.Errorf("error %v, want one that names GPU 0 as lost", err)
	}
	if len(devices) != 3 || devices[0].Identity().Index != 1 {
		t.Errorf("%d devices, want the A100 and its two slices", len(devices))
	}
}

func TestState(t *testing.T) {
	busy := devicetest.L4()
	busy.Reasons = 0x4 | 0x40
	busy.Processes = []devicetest.Process{
		{PID: ownPID, MemoryBytes: 1 << 30},
		{PID: 1001, MemoryBytes: 2 << 30},
		{PID: 1001, MemoryBytes: 2 << 30},
		{PID: 1002, MemoryBytes: 1<<64 - 1}, // not available
	}
	_, devices := machine(t, devicetest.State{GPUs: []devicetest.GPU{busy}})
	got, err := devices[0].State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := gpu.State{
		At: noon, SMClockMHz: 210, MemoryClockMHz: 405, TemperatureC: 41, PowerW: 16.5, PowerCapW: 72,
		Reasons: gpu.SWPowerCap | gpu.HWThermal, ECC: "on", Persistence: "off",
		Processes: []gpu.Process{{PID: 1001, Name: "trainer", MemoryBytes: 2 << 30}, {PID: 1002}},
		Own:       []gpu.Process{{PID: ownPID, MemoryBytes: 1 << 30}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// Clocks, power and strangers of a slice are those of its card.
func TestStateOfASlice(t *testing.T) {
	card := devicetest.A100()
	card.Processes = []devicetest.Process{{PID: 1001, MemoryBytes: 1}}
	_, devices := machine(t, devicetest.State{GPUs: []devicetest.GPU{card}})
	whole, err := devices[0].State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slice, err := devices[2].State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, slice); diff != "" {
		t.Errorf("slice and card differ (-card +slice):\n%s", diff)
	}
	if slice.MIG != "on" || slice.SMClockMHz != 1095 || len(slice.Processes) != 1 {
		t.Errorf("state of the slice: %+v", slice)
	}
}

func TestStateLeavesOutWhatIsNotTold(t *testing.T) {
	bare := devicetest.L4()
	bare.Power, bare.PowerCap, bare.ECC, bare.MemoryClock = devicetest.Unsupported, devicetest.Unsupported, devicetest.Unsupported, devicetest.Unsupported
	_, devices := machine(t, devicetest.State{GPUs: []devicetest.GPU{bare}, Fail: map[string]int{
		"nvmlDeviceGetTemperature":                devicetest.FunctionMissing,
		"nvmlDeviceGetPersistenceMode":            devicetest.NoPermission,
		"nvmlDeviceGetComputeRunningProcesses_v3": devicetest.NotSupported,
	}})
	got, err := devices[0].State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gpu.State{At: noon, SMClockMHz: 210, Reasons: gpu.Idle}, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// A reading that failed is an error, with the rest beside it.
func TestStateTellsOfFailures(t *testing.T) {
	for _, code := range []int{devicetest.UnknownError, devicetest.GPULost} {
		_, devices := machine(t, devicetest.State{
			GPUs: []devicetest.GPU{devicetest.L4()},
			Fail: map[string]int{"nvmlDeviceGetCurrentClocksEventReasons": code},
		})
		got, err := devices[0].State(t.Context())
		if err == nil || !strings.Contains(err.Error(), "nvmlDeviceGetCurrentClocksEventReasons") || !strings.Contains(err.Error(), "NVIDIA L4") {
			t.Errorf("code %d: error %v, want one that names the call and the device", code, err)
		}
		if got.SMClockMHz != 210 {
			t.Errorf("code %d: the clock was not read: %+v", code, got)
		}
	}
}

// Codes that a new card or driver answers with end no run where no round is judged by the value.
func TestState_SurvivesUnexpectedCodes(t *testing.T) {
	_, devices := machine(t, devicetest.State{GPUs: []devicetest.GPU{devicetest.L4()}, Fail: map[string]int{
		"nvmlDeviceGetPowerUsage":                 devicetest.UnknownError,
		"nvmlDeviceGetEnforcedPowerLimit":         devicetest.InvalidArgument,
		"nvmlDeviceGetPersistenceMode":            devicetest.UnknownError,
		"nvmlDeviceGetComputeRunningProcesses_v3": devicetest.UnknownError,
	}})
	got, err := devices[0].State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.SMClockMHz != 210 || got.PowerW != 0 || got.Persistence != "" || got.Processes != nil {
		t.Errorf("state %+v", got)
	}
}

func TestReasonsComeAndGo(t *testing.T) {
	card := devicetest.L4()
	card.ReasonsAt = devicetest.At{N: 3, Bits: int(gpu.HWPowerBrake)}
	_, devices := machine(t, devicetest.State{GPUs: []devicetest.GPU{card}})
	var got []gpu.Reasons
	for range 4 {
		s, err := devices[0].State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.Reasons)
	}
	braked := gpu.Idle | gpu.HWPowerBrake
	if diff := cmp.Diff([]gpu.Reasons{gpu.Idle, gpu.Idle, braked, braked}, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestLockClocks(t *testing.T) {
	fixed := func(mhz int) gpu.ClockPolicy { return gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: mhz} }
	tests := []struct {
		name   string
		state  devicetest.State
		policy gpu.ClockPolicy
		locked int
		note   string
		err    string
		is     error
	}{
		{name: "base is the symbolic clock", policy: gpu.ClockPolicy{Mode: gpu.ClocksBase}, locked: devicetest.TDP},
		{
			name: "base without the symbol", policy: gpu.ClockPolicy{Mode: gpu.ClocksBase}, state: devicetest.State{NoTDP: true},
			locked: 1590, note: "default application clock, 1590 MHz",
		},
		{name: "max", policy: gpu.ClockPolicy{Mode: gpu.ClocksMax}, locked: 2040},
		{name: "fixed", policy: fixed(1500), locked: 1500},
		{name: "fixed too high", policy: fixed(3000), err: "max SM clock of this device is 2040 MHz"},
		{name: "free locks no clock", policy: gpu.ClockPolicy{Mode: gpu.ClocksFree}, err: "locks no clock"},
		{name: "denied", policy: fixed(1500), state: devicetest.State{Denied: true}, err: "no permission", is: fs.ErrPermission},
		{
			name: "not supported", policy: fixed(1500), is: errors.ErrUnsupported, err: "NVIDIA L4",
			state: devicetest.State{Fail: map[string]int{"nvmlDeviceSetGpuLockedClocks": devicetest.NotSupported}},
		},
		{
			name: "max not told", policy: gpu.ClockPolicy{Mode: gpu.ClocksMax}, is: errors.ErrUnsupported, err: "nvmlDeviceGetMaxClockInfo",
			state: devicetest.State{Fail: map[string]int{"nvmlDeviceGetMaxClockInfo": devicetest.NotSupported}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.state.GPUs = []devicetest.GPU{devicetest.L4()}
			stub, devices := machine(t, tt.state)
			note, err := devices[0].LockClocks(t.Context(), tt.policy)
			if got := stub.State().GPUs[0].Locked; got != tt.locked {
				t.Errorf("locked to %d, want %d", got, tt.locked)
			}
			if !strings.Contains(note, tt.note) || (tt.note == "") != (note == "") {
				t.Errorf("note %q, want %q", note, tt.note)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v does not wrap %v", err, tt.is)
			}
		})
	}
}

func TestResetAndPersistence(t *testing.T) {
	card := devicetest.L4()
	card.Locked = 1500
	stub, devices := machine(t, devicetest.State{GPUs: []devicetest.GPU{card}})
	d := devices[0]
	if err := errors.Join(d.ResetClocks(t.Context()), d.SetPersistence(t.Context(), true)); err != nil {
		t.Fatal(err)
	}
	if g := stub.State().GPUs[0]; g.Locked != 0 || g.Persistence != 1 {
		t.Errorf("locked %d, persistence %d, want 0 and 1", g.Locked, g.Persistence)
	}
	stub.Update(func(s *devicetest.State) { s.Denied = true })
	for what, err := range map[string]error{"clocks": d.ResetClocks(t.Context()), "persistence": d.SetPersistence(t.Context(), false)} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: error %v, want one that wraps fs.ErrPermission", what, err)
		}
	}
}

// Why there is no GPU is said in words a person can act on.
func TestOpenSaysWhy(t *testing.T) {
	tests := []struct {
		name string
		init int
		want string
	}{
		{"driver", devicetest.DriverNotLoaded, "driver is not loaded"},
		{"permission", devicetest.NoPermission, "/dev/nvidiactl"},
		{"versions", devicetest.VersionMismatch, "reboot"},
		{"other", devicetest.UnknownError, "cannot initialize NVIDIA's management library"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stub := devicetest.BuildStub(t)
			stub.SetState(devicetest.State{Init: tt.init})
			if got := elsewhere(t, stub.Env()...); !strings.Contains(got, tt.want) {
				t.Errorf("%q does not say %q", got, tt.want)
			}
		})
	}
	t.Run("no library", func(t *testing.T) {
		got := elsewhere(t, "PAWL_NVML_LIBRARY=/nowhere/libnvidia-ml.so.1")
		if !strings.Contains(got, "library was not found (/nowhere/libnvidia-ml.so.1)") {
			t.Errorf("%q does not say that the library is missing", got)
		}
	})
}

// Functions that an old driver lacks must not end the process.
func TestOldDriver(t *testing.T) {
	stub := devicetest.BuildOldStub(t)
	card := devicetest.L4()
	card.Reasons = int(gpu.SWThermal)
	card.Processes = []devicetest.Process{{PID: 1001, MemoryBytes: 7}}
	stub.SetState(devicetest.State{GPUs: []devicetest.GPU{card}})
	var got struct {
		Identity gpu.Identity `json:"identity"`
		State    gpu.State    `json:"state"`
	}
	if err := json.Unmarshal([]byte(elsewhere(t, stub.Env()...)), &got); err != nil {
		t.Fatal(err)
	}
	want := gpu.State{
		At: noon, SMClockMHz: 210, MemoryClockMHz: 405, TemperatureC: 41, PowerW: 16.5, PowerCapW: 72, Reasons: gpu.SWThermal,
		ECC: "on", Persistence: "off", Processes: []gpu.Process{{PID: 1001, Name: "trainer", MemoryBytes: 7}},
	}
	if diff := cmp.Diff(want, got.State); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if got.Identity.Name != "NVIDIA L4" {
		t.Errorf("identity %+v", got.Identity)
	}
}

// What a reading costs beside the driver's own time: with the stub, almost all of
// it is the stub reading its file.
func BenchmarkState(b *testing.B) {
	stub := devicetest.BuildStub(b)
	stub.Use()
	lib, err := nvml.Open(options(os.Getenv("PAWL_NVML_LIBRARY")))
	if err != nil {
		b.Fatal(err)
	}
	devices, err := lib.Devices()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := devices[0].State(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
