package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

// driver reports whether the GPUs of the vendor that matters here can be read and, if not, why. Having none
// matters only to a suite that wants one.
func driver(_ context.Context, e *exam) []Finding {
	var list []Finding
	kind := e.vendor()
	name := string(kind)
	switch none := e.inv.None[kind]; {
	case none != "" && e.devErr != nil:
		list = append(list, missing(name, "the suite requires an %s GPU, but there is none: %s", strings.ToUpper(name), none).
			withFix("fix the driver, or measure on the CPU: device: {kind: cpu}"))
	case none != "":
		return append(list, note(name, "no %s GPU: %s", strings.ToUpper(name), none))
	default:
		cards := e.cards()
		id := cards[slices.IndexFunc(cards, func(d device.Device) bool { return d.Identity().Kind == kind })].Identity()
		text := "driver " + id.Driver
		if id.CUDA != "" {
			text += ", supports CUDA up to " + id.CUDA
		}
		list = append(list, ok(name, "%s, read through %s", text, e.inv.Reader))
		if kind == gpu.NVIDIA {
			list = append(list, e.nvidiaSMI())
		}
	}
	for _, n := range e.inv.Notices {
		list = append(list, findingOf(name, n))
	}
	return list
}

// vendor returns the vendor that the suite asks for, or else that of the first GPU; without any, NVIDIA.
func (e *exam) vendor() gpu.Kind {
	cards := e.cards()
	if e.wanted().Kind == gpu.AMD || e.wanted().Kind != gpu.NVIDIA && len(cards) > 0 && cards[0].Identity().Kind == gpu.AMD {
		return gpu.AMD
	}
	return gpu.NVIDIA
}

// nvidiaSMI reports nvidia-smi, with which users set clocks; pawl itself uses the library.
func (e *exam) nvidiaSMI() Finding {
	if at, found := e.search(nil).Find("nvidia-smi"); found {
		return ok("nvidia-smi", "%s", at)
	}
	return note("nvidia-smi", "not found; pawl does not need it, but the fixes below do")
}

// cards returns the GPUs and their slices.
func (e *exam) cards() []device.Device {
	var list []device.Device
	for _, d := range e.inv.Devices {
		if d.Identity().Kind != gpu.CPU {
			list = append(list, d)
		}
	}
	return list
}

// gpus reports each GPU and slice under the name by which the suite can select it.
func gpus(_ context.Context, e *exam) []Finding {
	var list []Finding
	card := 0
	for _, d := range e.cards() {
		id := d.Identity()
		name := fmt.Sprintf("gpu %d", id.Index)
		if id.Parent == "" {
			card = id.Index
		} else {
			name = fmt.Sprintf("gpu %d:%d", card, id.Index)
		}
		list = append(list, ok(name, "%s", describe(id)))
	}
	return list
}

func describe(id gpu.Identity) string {
	parts := []string{id.Name}
	switch {
	case id.Kind == gpu.AMD:
		parts = append(parts, id.ComputeCapability)
	case id.ComputeCapability != "":
		parts = append(parts, "compute capability "+id.ComputeCapability)
	}
	if id.MemoryBytes > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GiB", float64(id.MemoryBytes)/(1<<30)))
	}
	return strings.Join(append(parts, id.UUID), ", ")
}

// selected reports which device pawl bench would measure on.
func selected(_ context.Context, e *exam) []Finding {
	switch {
	case e.devErr != nil && e.inv.None[e.vendor()] != "":
		return nil // already reported by driver
	case e.devErr != nil:
		return []Finding{missing("measures on", "%v", e.devErr).withFix("change device.kind or device.select in the suite")}
	case e.chosen.err != nil:
		return []Finding{warn("measures on", "%s, which cannot be read completely: %v", e.chosen.id.Name, e.chosen.err)}
	case e.onHost():
		return []Finding{ok("measures on", "the CPU of this machine")}
	default:
		return []Finding{ok("measures on", "%s, %s", e.chosen.id.Name, e.chosen.id.UUID)}
	}
}

// findingOf converts a notice of the device package into a finding.
func findingOf(name string, n device.Notice) Finding {
	return Finding{Name: name, State: Warn, Message: n.Message, Fix: n.Fix}
}
