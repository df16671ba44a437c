package host_test

import (
	"encoding/json"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// files makes a machine from its files.
func files(content map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range content {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

const cpu = "sys/devices/system/cpu/"

// workstation has two cores of two threads, a governor, turbo and sensors.
func workstation() map[string]string {
	m := map[string]string{
		"proc/cpuinfo": "processor\t: 0\nmodel name\t: Acme   Turbo 9000\ncpu MHz\t\t: 800.0\n\nprocessor\t: 1\n",
		"proc/meminfo": "MemTotal:       24064312 kB\nMemFree:  1 kB\n",
		"proc/loadavg": "1.25 0.80 0.40 2/345 6789\n",

		cpu + "intel_pstate/no_turbo":   "1\n",
		cpu + "cpu0/cache/index0/level": "1\n",
		cpu + "cpu0/cache/index0/size":  "32K\n",
		cpu + "cpu0/cache/index0/type":  "Data\n",
		cpu + "cpu0/cache/index3/level": "3\n",
		cpu + "cpu0/cache/index3/size":  "36608K\n",
		cpu + "cpu0/cache/index3/type":  "Unified\n",

		"sys/class/thermal/thermal_zone0/type": "acpitz\n",
		"sys/class/thermal/thermal_zone0/temp": "99000\n",
		"sys/class/thermal/thermal_zone1/type": "x86_pkg_temp\n",
		"sys/class/thermal/thermal_zone1/temp": "61000\n",
		"sys/class/hwmon/hwmon0/name":          "coretemp\n",
		"sys/class/hwmon/hwmon0/temp1_input":   "62500\n",
		"sys/class/hwmon/hwmon1/name":          "nvme\n",
		"sys/class/hwmon/hwmon1/temp1_input":   "88000\n",
	}
	for n, siblings := range []string{"0,2", "1,3", "0,2", "1,3"} {
		dir := cpu + "cpu" + string(rune('0'+n)) + "/"
		m[dir+"topology/thread_siblings_list"] = siblings + "\n"
		m[dir+"cpufreq/scaling_governor"] = "performance\n"
		m[dir+"cpufreq/scaling_cur_freq"] = "1200000\n"
		m[dir+"thermal_throttle/core_throttle_count"] = "3\n"
	}
	m[cpu+"cpu2/cpufreq/scaling_cur_freq"] = "3600000\n"
	return m
}

func TestIdentity(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  gpu.Identity
	}{
		{"a workstation", workstation(), gpu.Identity{
			Kind: gpu.CPU, Name: "Acme Turbo 9000", Units: 2, MemoryBytes: 24064312 << 10, CacheBytes: 36608 << 10,
		}},
		{"without topology each logical CPU counts", map[string]string{
			"proc/cpuinfo": "processor : 0\nmodel name : Small VM\nprocessor : 1\n",
		}, gpu.Identity{Kind: gpu.CPU, Name: "Small VM", Units: 2}},
		{"a size that is not one", map[string]string{
			"proc/cpuinfo":                  "model name : X\n",
			cpu + "cpu0/cache/index0/level": "2",
			cpu + "cpu0/cache/index0/size":  "99999999999999999999G",
		}, gpu.Identity{Kind: gpu.CPU, Name: "X"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := host.Open(files(tt.files), clock).Identity()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIdentityIsNeverWithoutName(t *testing.T) {
	for _, cpuinfo := range []string{"", "CPU implementer : 0x41\nCPU part : 0xd0c\n", "\x00\xff"} {
		id := host.Open(files(map[string]string{"proc/cpuinfo": cpuinfo}), clock).Identity()
		if id.Name == "" || id.LockName() != "cpu" {
			t.Errorf("cpuinfo %q: name %q, lock %q", cpuinfo, id.Name, id.LockName())
		}
	}
}

func TestState(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  gpu.State
	}{
		{"a workstation", workstation(), gpu.State{
			At: noon, SMClockMHz: 3600, TemperatureC: 62.5, Governor: "performance", Turbo: "off", Load1: 1.25,
		}},
		{"a virtual machine tells little", map[string]string{
			"proc/cpuinfo":          "processor : 0\ncpu MHz : 2499.998\nprocessor : 1\ncpu MHz : 2500.5\n",
			"proc/loadavg":          "0.06 0.49 0.61 1/99 1\n",
			cpu + "cpufreq/boost":   "1\n",
			cpu + "cpu0/cpufreq/no": "",
		}, gpu.State{At: noon, SMClockMHz: 2500.5, Turbo: "on", Load1: 0.06}},
		{"nothing at all", nil, gpu.State{At: noon}},
		{"mixed governors", map[string]string{
			cpu + "cpu0/cpufreq/scaling_governor": "schedutil",
			cpu + "cpu1/cpufreq/scaling_governor": "performance",
			cpu + "cpu2/cpufreq/scaling_governor": "schedutil",
		}, gpu.State{At: noon, Governor: "performance,schedutil"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := host.Open(files(tt.files), clock).State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

// A thermal slowdown is reported once, by the reading that follows it.
func TestThermalSlowdownBetweenReadings(t *testing.T) {
	machine := files(workstation())
	h := host.Open(machine, clock)
	read := func() gpu.Reasons {
		s, err := h.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Reasons
	}
	if r := read(); r != 0 {
		t.Errorf("slowdowns before pawl came are reported: %v", r)
	}
	machine[cpu+"cpu1/thermal_throttle/core_throttle_count"] = &fstest.MapFile{Data: []byte("4\n")}
	if r := read(); r != gpu.HWThermal {
		t.Errorf("after a slowdown: %v, want %v", r, gpu.HWThermal)
	}
	if r := read(); r != 0 {
		t.Errorf("one slowdown is reported twice: %v", r)
	}
}

// The machine the test runs on must be readable, whatever it is.
func TestThisMachine(t *testing.T) {
	h := host.Open(os.DirFS("/"), time.Now)
	id := h.Identity()
	if id.Kind != gpu.CPU || id.Name == "" {
		t.Errorf("identity of this machine: %+v", id)
	}
	s, err := h.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v\n%+v", id, s)
}

func BenchmarkState(b *testing.B) {
	h := host.Open(os.DirFS("/"), time.Now)
	for b.Loop() {
		if _, err := h.State(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// Whatever the files hold, a reading is valid JSON and never a panic.
func FuzzState(f *testing.F) {
	f.Add("processor : 0\nmodel name : X\ncpu MHz : 1\n", "61000", "32K", "1.5 1 1", "12 (a) S 1")
	f.Add("cpu MHz : NaN", "Inf", "-1M", "1e999", "12 (a")
	f.Fuzz(func(t *testing.T, cpuinfo, value, size, load, stat string) {
		machine := files(map[string]string{
			"proc/cpuinfo":                                    cpuinfo,
			"proc/meminfo":                                    "MemTotal: " + size,
			"proc/loadavg":                                    load,
			"proc/12/stat":                                    stat,
			cpu + "cpu0/cache/index0/level":                   "1",
			cpu + "cpu0/cache/index0/size":                    size,
			cpu + "cpu0/cpufreq/scaling_cur_freq":             value,
			"sys/class/thermal/thermal_zone1/type":            "x86_pkg_temp",
			"sys/class/thermal/thermal_zone1/temp":            value,
			cpu + "cpu0/thermal_throttle/core_throttle_count": value,
		})
		h := host.Open(machine, clock)
		s, err := h.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("a reading that cannot be stored: %v", err)
		}
		if id := h.Identity(); id.Name == "" || id.MemoryBytes < 0 || id.CacheBytes < 0 {
			t.Errorf("identity %+v", id)
		}
		host.OpenProcesses(machine, 7).Own(12)
	})
}
