//go:build linux && (amd64 || arm64)

package doctor_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

// Whether a process may set clocks stands in its own files.
const (
	mayNot    = "Name:\tpawl\nCapEff:\t0000000000000000\n"
	container = "Name:\tpawl\nCapEff:\t00000000a80425fb\n" // root in a container as it is started without options
	may       = "Name:\tpawl\nCapEff:\t000001ffffffffff\n"
)

// gpus puts the stub's GPUs into the place, on a quiet host with these files.
func (p *place) gpus(stub *devicetest.Stub, status string, changes map[string]string) {
	p.t.Helper()
	stub.Use()
	content := quietHost()
	content["proc/self/status"] = status
	content["proc/self/uid_map"] = "         0          0 4294967295\n"
	maps.Copy(content, changes)
	root := files(content)
	p.Root = root
	p.Devices = func(ctx context.Context) (device.Inventory, error) {
		return device.List(ctx, device.Options{Root: root, Now: noon, Own: func(int) bool { return false }})
	}
}

func TestGPU(t *testing.T) {
	stub := devicetest.BuildStub(t)
	l4 := func(change func(*devicetest.GPU)) devicetest.State {
		g := devicetest.L4()
		if change != nil {
			change(&g)
		}
		return devicetest.State{GPUs: []devicetest.GPU{g}}
	}
	const holdBase = "device: {clocks: base}"
	tests := []struct {
		name   string
		state  devicetest.State
		device string // of the suite
		status string
		files  map[string]string
		want   map[string]string
		usable bool
	}{
		{
			"an idle card", l4(nil), "", may, nil,
			map[string]string{
				"nvidia":      "ok: nvidia: driver 550.54.15, supports CUDA up to 12.4, read through nvml",
				"nvidia-smi":  "note: nvidia-smi: not found",
				"gpu 0":       "ok: gpu 0: NVIDIA L4, compute capability 8.9, 22.5 GiB, GPU-11111111-2222-3333-4444-555555555555",
				"measures on": "ok: measures on: NVIDIA L4, GPU-11111111",
				"clocks":      "note: clocks: free: they vary with power and temperature | set in the suite: device: {clocks: base}",
				"persistence": "warn: persistence: off:",
				"ecc":         "ok: ecc: on",
				"mig":         "",
				"company":     "ok: company: no other process",
				"temperature": "ok: temperature: 41 degrees C",
				"slowdown":    "",
				"ncu":         "note: ncu: not found",
			},
			true,
		},
		{
			"pawl may hold the clocks", l4(nil), holdBase, may, nil,
			map[string]string{"clocks": "ok: clocks: pawl may lock them at base, as the suite requests"},
			true,
		},
		{
			"pawl may not hold the clocks", l4(nil), holdBase, mayNot, nil,
			map[string]string{"clocks": "warn: clocks: the suite requests base, but pawl may not set clocks here (no CAP_SYS_ADMIN): it would measure with free clocks | run pawl as root"},
			true,
		},
		{
			"root in a container may not", l4(nil), holdBase, container, nil,
			map[string]string{"clocks": "warn: clocks: the suite requests base, but pawl may not"},
			true,
		},
		{
			"root in a user namespace may not", l4(nil), holdBase, may,
			map[string]string{"proc/self/uid_map": "0 1000 1\n"},
			map[string]string{"clocks": "warn: clocks: the suite requests base, but pawl may not"},
			true,
		},
		{
			"free clocks that pawl may not hold", l4(nil), "", mayNot, nil,
			map[string]string{"clocks": "note: clocks: free: they vary with power and temperature, and pawl may not set them here (no CAP_SYS_ADMIN) | lock them as root: sudo nvidia-smi -i GPU-11111111-2222-3333-4444-555555555555 -lgc MHZ,MHZ"},
			true,
		},
		{
			"they are locked already", l4(func(g *devicetest.GPU) { g.Reasons = 0x2 }), "", mayNot, nil,
			map[string]string{"clocks": "ok: clocks: locked by an earlier setting"},
			true,
		},
		{
			"persistence that pawl turns on", l4(nil), "device: {persistence: true}", may, nil,
			map[string]string{"persistence": "ok: persistence: off; pawl turns it on"},
			true,
		},
		{
			"persistence that pawl cannot turn on", l4(nil), "device: {persistence: true}", mayNot, nil,
			map[string]string{"persistence": "warn: persistence: off:"},
			true,
		},
		{
			"hot, slowed down, and not alone",
			l4(func(g *devicetest.GPU) {
				g.Temperature, g.Reasons, g.Persistence = 91, 0x40, 1
				g.Processes = []devicetest.Process{{PID: 77, MemoryBytes: 1 << 30}, {PID: 78}, {PID: 79}, {PID: 80}}
			}), "", may,
			map[string]string{"proc/77/comm": "train.py\n"},
			map[string]string{
				"temperature": "warn: temperature: 91 degrees C, above the limit of 80",
				"slowdown":    "warn: slowdown: the device is slowing itself down right now: hw_thermal",
				"persistence": "ok: persistence: on",
				"company":     "warn: company: other processes are on it: train.py (pid 77), a process that is not visible here (pid 78), a process that is not visible here (pid 79), and 1 more",
			},
			true,
		},
		{
			"a limit of the suite's own", l4(func(g *devicetest.GPU) { g.Temperature = 91 }), "device: {max_temperature: 95}", may, nil,
			map[string]string{"temperature": "ok: temperature: 91 degrees C"},
			true,
		},
		{
			"a card under MIG",
			devicetest.State{GPUs: []devicetest.GPU{devicetest.A100()}},
			"", may, nil,
			map[string]string{
				"gpu 0":       "ok: gpu 0: NVIDIA A100",
				"gpu 0:0":     "ok: gpu 0:0: NVIDIA A100-SXM4-40GB MIG 3g.20gb",
				"gpu 0:1":     "ok: gpu 0:1: NVIDIA A100-SXM4-40GB MIG 1g.5gb",
				"measures on": "ok: measures on: NVIDIA A100-SXM4-40GB MIG 3g.20gb",
				"mig":         "note: mig: on: slices share clocks and power",
			},
			true,
		},
		{
			"the suite selects another", l4(nil), "device: {select: GPU-9}", may, nil,
			map[string]string{"measures on": `missing: measures on: unknown device "GPU-9" (known: NVIDIA L4`},
			false,
		},
		{
			"the suite measures on the CPU", l4(nil), "device: {kind: cpu}", may, nil,
			map[string]string{"measures on": "ok: measures on: the CPU", "clocks": "", "persistence": "", "company": "", "gpu 0": "ok: gpu 0:"},
			true,
		},
		{
			"a driver without a card",
			devicetest.State{},
			"device: {kind: nvidia}", may, nil,
			map[string]string{"nvidia": "missing: nvidia: the suite requires an NVIDIA GPU, but there is none: the NVIDIA driver is loaded but reports no readable GPU"},
			false,
		},
		{
			"a reading fails", func() devicetest.State {
				s := l4(nil)
				s.Fail = map[string]int{"nvmlDeviceGetTemperature": devicetest.GPULost}
				return s
			}(), "", may, nil,
			map[string]string{"measures on": "warn: measures on: NVIDIA L4, which cannot be read completely:"},
			true,
		},
		{
			"the profiler is not on the path", l4(nil), "", may,
			map[string]string{"usr/local/cuda-12.4/bin/ncu": "", "usr/local/cuda-12.6/bin/ncu": ""},
			map[string]string{"ncu": "ok: ncu: /usr/local/cuda-12.6/bin/ncu, not on the search path | export PATH=/usr/local/cuda-12.6/bin:$PATH"},
			true,
		},
		{
			"counters are for administrators", l4(nil), "", mayNot,
			map[string]string{"proc/driver/nvidia/params": "RmProfilingAdminOnly: 1\n"},
			map[string]string{"counters": "note: counters: the driver restricts the GPU's counters to administrators"},
			true,
		},
		{
			"counters are for administrators, and pawl is one", l4(nil), "", may,
			map[string]string{"proc/driver/nvidia/params": "RmProfilingAdminOnly: 1\n"},
			map[string]string{"counters": ""},
			true,
		},
		{
			"DCGM watches", l4(nil), "", may,
			map[string]string{"proc/4711/comm": "nv-hostengine\n", "opt/nvidia/nsight-systems/2024.2/bin/nsys": ""},
			map[string]string{"counters": "note: counters: nv-hostengine is running (process 4711)", "nsys": "ok: nsys: "},
			true,
		},
		{
			"what is on the host matters less", l4(nil), "", may,
			map[string]string{cpu + "intel_pstate/no_turbo": "0", "proc/loadavg": "9 9 9 1/1 1", "proc/cpuinfo": "processor: 0\nflags: hypervisor\n"},
			map[string]string{"turbo": "note: turbo:", "load": "note: load:", "virtual": "note: virtual:"},
			true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			stub.SetState(tt.state)
			p.gpus(stub, tt.status, tt.files)
			p.harness("version: 1\n" + tt.device + "\nharness: {command: ./harness.sh}\n")
			before := stub.State()
			r := p.examine()
			for name, want := range tt.want {
				expect(t, r, name, want)
			}
			if r.Usable() != tt.usable {
				t.Errorf("usable %v, want %v; first %v", r.Usable(), tt.usable, r.First())
			}
			if diff := cmp.Diff(before, stub.State()); diff != "" {
				t.Errorf("looking changed the GPU:\n%s", diff)
			}
		})
	}
}

// A pawl that was killed left clocks locked: doctor says so and leaves the fix to bench.
func TestLeftover(t *testing.T) {
	stub := devicetest.BuildStub(t)
	g := devicetest.L4()
	g.Locked = 1500
	stub.SetState(devicetest.State{GPUs: []devicetest.GPU{g}})
	note := `{"schema":"pawl.restore/v1","device":"` + g.UUID + `","by":{"pid":4242,"command":"pawl bench"},"reset_clocks":true}`
	for status, fix := range map[string]string{may: "nothing to do: the next pawl bench", mayNot: "run pawl bench once as root, or: sudo nvidia-smi -i " + g.UUID + " -rgc"} {
		p := newPlace(t)
		p.gpus(stub, status, nil)
		p.write("locks/"+g.UUID+".restore", note)
		r := p.examine()
		expect(t, r, "restore", "warn: restore: process 4242 (pawl bench) died and left NVIDIA L4 changed; to restore: free clocks", fix)
		if stub.State().GPUs[0].Locked != 1500 {
			t.Error("doctor unlocked the clocks")
		}
		if _, err := os.Stat(filepath.Join("locks", g.UUID+".restore")); err != nil {
			t.Errorf("the restore file: %v", err)
		}
	}
	p := newPlace(t)
	p.gpus(stub, may, nil)
	p.write("locks/"+g.UUID+".restore", "{")
	expect(t, p.examine(), "lock", "ok: lock: free", "warn: lock: the restore file locks/"+g.UUID+".restore of NVIDIA L4 was ignored")
}

// The harness gets the device, as from pawl bench.
func TestHarnessGetsTheDevice(t *testing.T) {
	stub := devicetest.BuildStub(t)
	stub.SetState(devicetest.State{GPUs: []devicetest.GPU{devicetest.L4()}})
	p := newPlace(t)
	p.gpus(stub, may, nil)
	p.harness("version: 1\nharness: {command: ./harness.sh}\n")
	p.write("harness.sh", "#!/bin/sh\nprintf '%s' \"$CUDA_VISIBLE_DEVICES\" >device\nexit 1\n")
	_ = p.examine()
	if got, err := os.ReadFile("device"); err != nil || string(got) != devicetest.L4().UUID {
		t.Errorf("CUDA_VISIBLE_DEVICES=%q, %v", got, err)
	}
}
