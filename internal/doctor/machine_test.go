package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

const cpu = "sys/devices/system/cpu/"

// quietHost is a machine of which nothing has to be said: two cores, a fixed clock.
func quietHost() map[string]string {
	return map[string]string{
		"proc/cpuinfo": "processor\t: 0\nmodel name\t: Acme 9000\nflags\t\t: fpu tsc\n\nprocessor\t: 1\nmodel name\t: Acme 9000\nflags\t\t: fpu tsc\n",
		"proc/loadavg": "0.10 0.10 0.10 1/100 1\n",

		cpu + "cpu0/cpufreq/scaling_governor":      "performance\n",
		cpu + "cpu1/cpufreq/scaling_governor":      "performance\n",
		cpu + "cpu0/topology/thread_siblings_list": "0\n",
		cpu + "cpu1/topology/thread_siblings_list": "1\n",
		cpu + "intel_pstate/no_turbo":              "1\n",
		cpu + "smt/active":                         "0\n",

		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
	}
}

// files makes a machine from its files.
func files(content map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range content {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// place is a folder with a suite on a machine that is not this one.
type place struct {
	doctor.Options
	t *testing.T
}

// newPlace makes an empty folder the current one, so that messages hold no path of
// this machine, on a quiet machine without a GPU, where no program is installed.
func newPlace(t *testing.T) *place {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "bin") // what is found is what the test puts there
	p := &place{t: t, Options: doctor.Options{
		SuiteFile: "pawl.yaml", Results: "results", Version: "test",
		Path: "bin", LockDir: "locks", Now: noon,
		Free: func(string) (int64, error) { return 100 << 30, nil },
	}}
	p.machine(nil)
	return p
}

// machine is the quiet one with some files changed.
func (p *place) machine(changes map[string]string) {
	content := quietHost()
	maps.Copy(content, changes)
	root := files(content)
	p.Root = root
	p.Devices = func(context.Context) (device.Inventory, error) {
		return device.Inventory{Devices: []device.Device{host.Open(root, noon)}, None: map[gpu.Kind]string{gpu.NVIDIA: "the driver is on holiday"}}, nil
	}
}

// write makes a file; one below bin is a program.
func (p *place) write(name, text string) {
	p.t.Helper()
	mode := os.FileMode(0o644)
	if strings.HasPrefix(name, "bin/") || strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) examine() doctor.Report {
	p.t.Helper()
	r, err := doctor.Examine(p.t.Context(), p.Options)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// line is a finding as tests write it.
func line(f doctor.Finding) string {
	text := fmt.Sprintf("%s: %s: %s", f.State, f.Name, f.Message)
	if f.Fix != "" {
		text += " | " + f.Fix
	}
	return text
}

// lines are the findings with a name.
func lines(r doctor.Report, name string) string {
	var list []string
	for _, f := range r.Findings {
		if f.Name == name {
			list = append(list, line(f))
		}
	}
	return strings.Join(list, "\n")
}

// expect checks that a finding starts with a text and contains the words; "" expects none.
func expect(t *testing.T, r doctor.Report, name, prefix string, words ...string) {
	t.Helper()
	got := lines(r, name)
	if prefix == "" && got != "" || !strings.HasPrefix(got, prefix) {
		t.Errorf("%s:\n  got  %q\n  want %q...", name, got, prefix)
	}
	for _, w := range words {
		if !strings.Contains(got, w) {
			t.Errorf("%s: %q does not say %q", name, got, w)
		}
	}
}

func TestMachine(t *testing.T) {
	const clocksource = "sys/devices/system/clocksource/clocksource0/"
	virtual := "processor\t: 0\nmodel name\t: Acme 9000\nflags\t\t: fpu hypervisor tsc\n"
	tests := []struct {
		name    string
		changes map[string]string
		finding string
		want    string
		words   []string
	}{
		{"a quiet one", nil, "cpu", "ok: cpu: Acme 9000, 2 cores", nil},
		{"threads share cores", map[string]string{cpu + "smt/active": "1\n"}, "smt", "note: smt: two threads", []string{"smt/control"}},
		{"threads have cores of their own", nil, "smt", "", nil},

		{"governor performance", nil, "governor", "ok: governor: performance", nil},
		{"governor powersave", map[string]string{
			cpu + "cpu0/cpufreq/scaling_governor": "powersave", cpu + "cpu1/cpufreq/scaling_governor": "powersave",
		}, "governor", "warn: governor: powersave:", []string{"echo performance | sudo tee"}},
		{"governors differ", map[string]string{cpu + "cpu1/cpufreq/scaling_governor": "powersave"}, "governor", "warn: governor: performance,powersave:", nil},
		{"governor not reported", map[string]string{
			cpu + "cpu0/cpufreq/scaling_governor": "", cpu + "cpu1/cpufreq/scaling_governor": "",
		}, "governor", "note: governor: the kernel does not report", nil},

		{"turbo off", nil, "turbo", "ok: turbo: off", nil},
		{"turbo on, Intel", map[string]string{cpu + "intel_pstate/no_turbo": "0"}, "turbo", "warn: turbo: on:", []string{"echo 1 | sudo tee", "no_turbo"}},
		{"turbo on, others", map[string]string{cpu + "intel_pstate/no_turbo": "", cpu + "cpufreq/boost": "1"}, "turbo", "warn: turbo: on:", nil},
		{"turbo not told", map[string]string{cpu + "intel_pstate/no_turbo": ""}, "turbo", "", nil},

		{"idle", nil, "load", "ok: load: 0.1 on 2 CPUs", nil},
		{"half busy", map[string]string{"proc/loadavg": "1.00 1 1 1/1 1"}, "load", "ok: load: 1.0 on 2 CPUs", nil},
		{"busy", map[string]string{"proc/loadavg": "1.01 1 1 1/1 1"}, "load", "warn: load: the machine is busy: load 1.0 on 2 CPUs", []string{"stop other work on this machine"}},

		{"a real machine", nil, "virtual", "", nil},
		{"a virtual machine", map[string]string{"proc/cpuinfo": virtual}, "virtual", "note: virtual: this is a virtual machine", []string{"timer: cpu"}},
		{
			"time is taken from it",
			map[string]string{"proc/cpuinfo": virtual, "proc/stat": "cpu  800 0 100 20 0 0 0 80 700 0\ncpu0 1 2"},
			"virtual", "note: virtual: this is a virtual machine",
			[]string{"took 8.0 % of their time"},
		},

		{"no quota", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}, "cpu limit", "", nil},
		{
			"a quota of a parent",
			map[string]string{"proc/self/cgroup": "1:x:/y\n0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "150000 100000"},
			"cpu limit", "warn: cpu limit: this process may use 1.5 CPUs: above that it is paused for up to 100 ms",
			[]string{"--cpuset-cpus"},
		},
		{"a quota of the container", map[string]string{"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "50000 100000"}, "cpu limit", "warn: cpu limit: this process may use 0.5 CPUs", nil},
		{"a quota that makes no sense", map[string]string{"proc/self/cgroup": "0::/../..", "sys/fs/cgroup/cpu.max": "5 0"}, "cpu limit", "", nil},

		{"tsc", nil, "clock source", "ok: clock source: tsc", nil},
		{"hpet", map[string]string{clocksource + "current_clocksource": "hpet", clocksource + "available_clocksource": "hpet tsc"}, "clock source", "warn: clock source: hpet:", []string{"echo tsc"}},
		{"acpi_pm and nothing else", map[string]string{clocksource + "current_clocksource": "acpi_pm"}, "clock source", "warn: clock source: acpi_pm:", []string{"dmesg"}},
		{"a new one", map[string]string{clocksource + "current_clocksource": "quartz"}, "clock source", "note: clock source: quartz, which pawl does not know", nil},
		{"none", map[string]string{clocksource + "current_clocksource": ""}, "clock source", "note: clock source: the kernel does not report", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.machine(tt.changes)
			expect(t, p.examine(), tt.finding, tt.want, tt.words...)
		})
	}
}

// On a virtual machine the clock decides: CPU time does not count what others take.
func TestVirtualMachineAndTheTimer(t *testing.T) {
	tests := []struct{ name, measure, timers, want string }{
		{"CPU time", "measure: {timer: cpu}", `"wall","cpu"`, "note: virtual:"},
		{"wall time", "measure: {timer: wall}", `"wall","cpu"`, "warn: virtual:"},
		{"the harness's best is wall time", "", `"wall","cpu"`, "warn: virtual:"},
		{"the harness's best is CPU time", "", `"cpu"`, "note: virtual:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.machine(map[string]string{"proc/cpuinfo": "processor: 0\nflags: hypervisor\n"})
			p.harness("version: 1\n" + tt.measure + "\nharness: {command: ./harness.sh, env: {TIMERS: '" + tt.timers + "'}}\n")
			r := p.examine()
			expect(t, r, "candidate", "ok: candidate: sh 1 answers")
			expect(t, r, "virtual", tt.want)
		})
	}
}

func TestDevicesThatCannotBeListed(t *testing.T) {
	p := newPlace(t)
	broken := errors.New("the bus is gone")
	p.Devices = func(context.Context) (device.Inventory, error) { return device.Inventory{}, broken }
	if _, err := doctor.Examine(t.Context(), p.Options); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestExamineIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := doctor.Examine(ctx, newPlace(t).Options); !errors.Is(err, why) {
		t.Errorf("error %v, want one that wraps %v", err, why)
	}
}

// Files of a kernel are input like any other.
func FuzzMachine(f *testing.F) {
	f.Add("processor: 0\nflags: hypervisor", "cpu 1 2 3 4 5 6 7 8", "0::/a", "50000 100000", "CapEff: 0000000000200000")
	f.Add("", "cpu 0 0 0 0 0 0 0 0", "0::", "max 0", "CapEff: zz")
	f.Fuzz(func(t *testing.T, cpuinfo, stat, cgroup, limit, status string) {
		root := files(map[string]string{
			"proc/cpuinfo": cpuinfo, "proc/stat": stat, "proc/self/cgroup": cgroup, "sys/fs/cgroup/cpu.max": limit,
			"proc/self/status": status, "proc/loadavg": limit,
		})
		dir := t.TempDir()
		r, err := doctor.Examine(t.Context(), doctor.Options{
			SuiteFile: filepath.Join(dir, "pawl.yaml"), Results: dir, LockDir: filepath.Join(dir, "locks"), Path: dir, Root: root, Now: noon,
			Devices: func(context.Context) (device.Inventory, error) {
				return device.Inventory{Devices: []device.Device{host.Open(root, noon)}, None: map[gpu.Kind]string{gpu.NVIDIA: "none"}}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range r.Findings {
			if strings.ContainsAny(found.Message, "\x1b\x00\r") {
				t.Errorf("%q reaches the terminal", found.Message)
			}
		}
	})
}
