package host

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// cpus is the folder in which the kernel describes each logical CPU.
const cpus = "sys/devices/system/cpu/"

// Host is the CPU of this machine as a device. It is safe for concurrent use.
type Host struct {
	sys System
	now func() time.Time
	id  gpu.Identity

	// Found once: the files of a machine do not change, and on a large machine finding
	// them costs more than reading them.
	clocks, governors, throttles []string
	sensors                      []string

	mu       sync.Mutex
	throttle float64 // the kernel's count of thermal slowdowns at the last reading
}

// Open reads the identity of the machine with the given root folder, usually
// os.DirFS("/").
func Open(root fs.FS, now func() time.Time) *Host {
	h := &Host{sys: System{root}, now: now}
	h.id = identity(h.sys)
	h.clocks = h.sys.glob(cpus + "cpu[0-9]*/cpufreq/scaling_cur_freq")
	h.governors = h.sys.glob(cpus + "cpu[0-9]*/cpufreq/scaling_governor")
	h.throttles = h.sys.glob(cpus + "cpu[0-9]*/thermal_throttle/*_throttle_count")
	h.sensors = packageSensors(h.sys)
	h.throttle = h.throttleCount()
	return h
}

// Identity returns the CPU. It has no UUID: a machine has one host device.
func (h *Host) Identity() gpu.Identity { return h.id }

// State reads the current state of the CPU.
func (h *Host) State(ctx context.Context) (gpu.State, error) {
	if err := ctx.Err(); err != nil {
		return gpu.State{}, fmt.Errorf("cannot read the state of the host CPU: %w", err)
	}
	return gpu.State{
		At:           h.now(),
		SMClockMHz:   h.clockMHz(),
		TemperatureC: h.temperature(),
		Reasons:      h.reasons(),
		Governor:     h.governor(),
		Turbo:        h.turbo(),
		Load1:        h.load(),
	}, nil
}

func identity(sys System) gpu.Identity {
	info := sys.Text("proc/cpuinfo")
	return gpu.Identity{
		Kind:        gpu.CPU,
		Name:        name(info),
		Units:       cores(sys, info),
		MemoryBytes: bytes(Field(sys.Text("proc/meminfo"), "MemTotal")),
		CacheBytes:  lastLevelCache(sys),
	}
}

// name returns the model as the kernel prints it. ARM kernels print no model, only
// the core's implementer and part number.
func name(cpuinfo string) string {
	if n := cmp.Or(Field(cpuinfo, "model name"), Field(cpuinfo, "cpu model"), Field(cpuinfo, "cpu")); n != "" {
		return strings.Join(strings.Fields(n), " ")
	}
	if part := Field(cpuinfo, "CPU part"); part != "" {
		return fmt.Sprintf("%s CPU %s/%s", runtime.GOARCH, Field(cpuinfo, "CPU implementer"), part)
	}
	return runtime.GOARCH + " CPU"
}

// cores counts physical cores: two threads of one core share the resources that a
// measurement uses. Without topology each logical CPU counts as one.
func cores(sys System, cpuinfo string) int {
	seen := map[string]bool{}
	for _, f := range sys.glob(cpus + "cpu[0-9]*/topology/thread_siblings_list") {
		if siblings := sys.Text(f); siblings != "" {
			seen[siblings] = true
		}
	}
	if len(seen) > 0 {
		return len(seen)
	}
	return strings.Count("\n"+cpuinfo, "\nprocessor")
}

// lastLevelCache returns the size of the last-level cache of CPU 0. On a machine with
// several, a thread still uses only one of them.
func lastLevelCache(sys System) int64 {
	var level float64
	var size int64
	for _, dir := range sys.glob(cpus + "cpu0/cache/index[0-9]*") {
		l, ok := sys.number(dir + "/level")
		if ok && l >= level && sys.Text(dir+"/type") != "Instruction" {
			level, size = l, bytes(sys.Text(dir+"/size"))
		}
	}
	return size
}
