package setup

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

type variant = suite.Variant

// nvidia adds the driver, its settings and the profiler, for suites that measure on an NVIDIA GPU or could.
func (l *planner) nvidia(ctx context.Context) {
	wanted := l.Suite.Device.Kind == gpu.NVIDIA
	card := slices.IndexFunc(l.inventory.Devices, func(d device.Device) bool { return d.Identity().Kind == gpu.NVIDIA })
	if l.Suite.Device.Kind == gpu.CPU || l.Suite.Device.Kind == gpu.AMD || !wanted && card < 0 {
		return
	}
	i := Item{Name: "driver", State: Present, Required: wanted, Why: "the suite measures on an NVIDIA GPU"}
	if card < 0 {
		l.add(l.withoutDriver(i))
		return
	}
	d := l.inventory.Devices[card]
	id := d.Identity()
	i.Version = id.Driver
	l.add(i)
	if state, err := d.State(ctx); err == nil {
		l.persistence(id, state)
	}
	l.profiler()
}

// withoutDriver adds what to do if no NVIDIA GPU can be read.
func (l *planner) withoutDriver(i Item) Item {
	i.State, i.Note = Missing, l.inventory.None[gpu.NVIDIA]
	_, container := fs.Stat(l.Root, ".dockerenv")
	switch {
	case container == nil:
		i.Note += "; a container uses the host's driver: docker run --gpus all"
	case !l.hasCard():
		i.Note += "; this machine has no NVIDIA PCI device"
	case l.system.family == debian:
		i.Note += "; on Debian it is in non-free. A restart is required"
		i.packages = []string{"nvidia-driver"}
		if text, err := fs.ReadFile(l.Root, "etc/os-release"); err == nil && strings.Contains(string(text), "ID=ubuntu") {
			i.packages = nil
			i.Fix = []Command{{Line: "ubuntu-drivers install", Root: true}}
		}
	default:
		i.Note += "; install the driver package of your distribution"
	}
	return i
}

// hasCard reports whether the machine has an NVIDIA PCI device.
func (l *planner) hasCard() bool {
	vendors, _ := fs.Glob(l.Root, "sys/bus/pci/devices/*/vendor") // fails only on a bad pattern
	return slices.ContainsFunc(vendors, func(name string) bool {
		text, err := fs.ReadFile(l.Root, name)
		return err == nil && strings.TrimSpace(string(text)) == "0x10de"
	})
}

func (l *planner) persistence(id gpu.Identity, state gpu.State) {
	if state.Persistence != "on" && state.Persistence != "off" {
		return
	}
	i := Item{Name: "persistence", State: Present, Why: "the driver stays loaded between two processes, and keeps locked clocks"}
	if state.Persistence == "off" {
		i.State = Misconfigured
		i.Fix = []Command{{Line: fmt.Sprintf("nvidia-smi -i %s -pm 1", id.LockName()), Root: true}}
	}
	l.add(i)
}

// profiler adds ncu, and whether it may read the GPU's counters.
func (l *planner) profiler() {
	i := Item{Name: "ncu", State: Missing, Why: "profiles explain why a kernel is slow"}
	if at, _ := tool.FindNcu(l.Root, l.search()); at != "" {
		i.State, i.At = Present, at
	} else if p := l.system.Package("ncu"); p != "" {
		i.packages = []string{p}
	} else {
		i.Note = "it comes with NVIDIA's CUDA toolkit"
	}
	l.add(i)

	text, err := fs.ReadFile(l.Root, "proc/driver/nvidia/params")
	if err != nil {
		return
	}
	c := Item{Name: "counters", State: Present, Why: "ncu reads the GPU's counters"}
	if host.Field(string(text), "RmProfilingAdminOnly") == "1" && !l.Admin {
		c.State, c.ByHand = Misconfigured, true
		if l.trusted() {
			c.Fix = []Command{{Line: "sh -c 'echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 > /etc/modprobe.d/nvidia-profiling.conf'", Root: true}}
			c.Note = "only root may read them; run pawl profile with sudo. After a restart, the command allows every user, who can then observe the work of other users on the GPU (CVE-2018-6260): do not use it on a machine that runs untrusted code"
		} else {
			c.Note = "only root may read them, which is right on a machine that runs untrusted code: profile on another machine"
		}
	}
	l.add(c)
}
