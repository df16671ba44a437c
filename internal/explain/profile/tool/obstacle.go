package tool

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

// Obstacle is something that prevents a profiler from reading the counters of a GPU, or may.
type Obstacle struct {
	Name  string // counters, dcgm, mig, vgpu, wsl
	What  string
	Fix   string
	Stops bool // profiling cannot work until it is fixed; otherwise it may still work
}

// Obstacles returns what may prevent this process from reading the counters of an NVIDIA GPU. It checks
// before anything starts, because a profiled run takes minutes. root is the machine's file system.
func Obstacles(root fs.FS, id gpu.Identity) []Obstacle {
	sys := host.System{FS: root}
	var list []Obstacle
	add := func(o Obstacle, there bool) {
		if there {
			list = append(list, o)
		}
	}
	add(restricted(sys, id))
	add(monitored(sys))
	add(Obstacle{
		Name: "mig", What: "the device is a MIG slice: ncu cannot lock clocks there and does not see the counters of units that slices share (L2, DRAM)",
		Fix: "profile on the whole card: nvidia-smi -mig 0",
	}, id.Parent != "" || strings.HasPrefix(id.UUID, "MIG-"))
	add(Obstacle{
		Name: "vgpu", What: "the device is a virtual GPU: its hypervisor decides whether counters can be read",
		Fix: "ask the host's administrator to enable profiling (vGPU parameter enable_profiling=1)",
	}, strings.HasPrefix(strings.TrimPrefix(id.Name, "NVIDIA "), "GRID "))
	add(Obstacle{
		Name: "wsl", What: "this is the Windows Subsystem for Linux: Windows controls access to the counters",
		Fix: "in the NVIDIA Control Panel, under Developer, Manage GPU Performance Counters, allow all users",
	}, strings.Contains(strings.ToLower(sys.Text("proc/version")), "microsoft"))
	return list
}

// restricted reports whether the driver restricts its counters to administrators and this process is not one.
func restricted(sys host.System, id gpu.Identity) (Obstacle, bool) {
	if host.Field(sys.Text("proc/driver/nvidia/params"), "RmProfilingAdminOnly") != "1" {
		return Obstacle{}, false
	}
	if sys.Capable(host.SysAdmin) || major(id.Driver) >= minDriverPerfMon && sys.Capable(host.PerfMon) {
		return Obstacle{}, false
	}
	o := Obstacle{Name: "counters", What: "the driver restricts the GPU's counters to administrators (RmProfilingAdminOnly: 1)", Stops: true}
	capability := "CAP_SYS_ADMIN"
	if major(id.Driver) >= minDriverPerfMon {
		capability = "CAP_PERFMON"
	}
	if sys.Container() {
		o.Fix = fmt.Sprintf("start the container with --cap-add=%s", strings.TrimPrefix(capability, "CAP_"))
		return o, true
	}
	o.Fix = "run pawl profile with sudo. To allow every user, but not on a machine that runs untrusted code (CVE-2018-6260): " +
		"echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf, rebuild the initramfs, restart"
	return o, true
}

// minDriverPerfMon is the first driver for which CAP_PERFMON is enough.
const minDriverPerfMon = 565

// collectors are programs that read the counters all the time; only one program can.
var collectors = []string{"nv-hostengine", "dcgm-exporter", "dcgmproftester", "dynologd"}

// monitored reports whether a running program may hold the counters. It does not see one in another
// container; ncu itself then complains.
func monitored(sys host.System) (Obstacle, bool) {
	names, _ := fs.Glob(sys.FS, "proc/[0-9]*/comm") // fails only on a bad pattern
	for _, name := range names {
		comm := sys.Text(name)
		if slices.ContainsFunc(collectors, func(c string) bool { return strings.HasPrefix(comm, c) }) {
			return Obstacle{
				Name: "dcgm", What: fmt.Sprintf("%s is running (process %s): while it collects DCGM_FI_PROF fields, ncu gets no counters", comm, path.Base(path.Dir(name))),
				Fix: "run dcgmi profile --pause, and dcgmi profile --resume afterwards; or stop it",
			}, true
		}
	}
	return Obstacle{}, false
}

// major returns the number at the start of a version; 0 if there is none.
func major(version string) int {
	n, err := strconv.Atoi(version[:len(version)-len(strings.TrimLeft(version, "0123456789"))])
	if err != nil {
		return 0
	}
	return n
}
