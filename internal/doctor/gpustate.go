package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

// controlled reports whether pawl can lock the clocks of the device.
func (e *exam) controlled() bool {
	_, ok := e.dev.(device.Controller)
	return ok
}

// clocks reports whether the SM clock is locked, and whether pawl may lock it.
func clocks(_ context.Context, e *exam) []Finding {
	if !e.controlled() {
		return nil
	}
	policy := e.wanted().Clocks
	free := policy.Mode == "" || policy.Mode == gpu.ClocksFree
	byHand := "lock them as root: sudo " + device.LockCommand(e.chosen.id, gpu.ClockPolicy{})
	inSuite := "set in the suite: device: {clocks: base}"
	if e.chosen.id.Kind == gpu.AMD {
		inSuite = "set in the suite a clock that the card sustains, such as device: {clocks: 1300MHz}"
	}
	switch may := e.sys.admin(); {
	case may && !free:
		return []Finding{ok("clocks", "pawl may lock them at %s, as the suite requests", policy)}
	case !free:
		return []Finding{warn("clocks", "the suite requests %s, but pawl may not set clocks here (no CAP_SYS_ADMIN): it would measure with free clocks", policy).
			withFix("run pawl as root (in a container: with --cap-add SYS_ADMIN), or %s", byHand)}
	case e.chosen.state.Reasons&gpu.ClocksSetting != 0:
		return []Finding{ok("clocks", "locked by an earlier setting; the suite does not change it")}
	case may:
		return []Finding{note("clocks", "free: they vary with power and temperature").withFix("%s", inSuite)}
	default:
		return []Finding{note("clocks", "free: they vary with power and temperature, and pawl may not set them here (no CAP_SYS_ADMIN)").
			withFix("%s", byHand)}
	}
}

// persistence reports whether the driver stays loaded between two processes.
func persistence(_ context.Context, e *exam) []Finding {
	if !e.controlled() {
		return nil
	}
	switch e.chosen.state.Persistence {
	case "on":
		return []Finding{ok("persistence", "on")}
	case "off":
		if e.wanted().Persistence && e.sys.admin() {
			return []Finding{ok("persistence", "off; pawl turns it on while it measures, as the suite requests")}
		}
		return []Finding{warn("persistence", "off: the driver may unload between two processes, which makes each round start from scratch and loses locked clocks").
			withFix("sudo nvidia-smi -i %s -pm 1", e.chosen.id.LockName())}
	default:
		return nil
	}
}

// settings reports what makes numbers of this card incomparable with others.
func settings(_ context.Context, e *exam) []Finding {
	var list []Finding
	if e.chosen.state.MIG == "on" {
		text := "on: slices share clocks and power, so work on another slice affects the numbers; pawl locks the whole card"
		if e.chosen.id.Parent == "" {
			text = "on: kernels run on slices only"
		}
		list = append(list, note("mig", "%s", text))
	}
	if ecc := e.chosen.state.ECC; ecc != "" {
		list = append(list, ok("ecc", "%s (part of the testbed: numbers with and without are not compared)", ecc))
	}
	return list
}

// otherProcesses reports other processes on the GPU.
func otherProcesses(_ context.Context, e *exam) []Finding {
	if e.dev == nil || e.onHost() {
		return nil
	}
	processes := e.chosen.state.Processes
	if len(processes) == 0 {
		return []Finding{ok("company", "no other process is visible on it")}
	}
	var names []string
	for _, p := range processes[:min(len(processes), 3)] {
		name := p.Name
		if name == "" {
			name = "a process that is not visible here"
		}
		names = append(names, fmt.Sprintf("%s (pid %d)", name, p.PID))
	}
	if more := len(processes) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return []Finding{warn("company", "other processes are on it: %s", strings.Join(names, ", ")).
		withFix("stop them while measuring, or choose another device with device.select")}
}

// defaultMaxTemperature is the limit for a suite that sets none.
const defaultMaxTemperature = 80

// temperature reports whether the device is hot or already throttled.
func temperature(_ context.Context, e *exam) []Finding {
	if e.dev == nil {
		return nil
	}
	var list []Finding
	limit := e.wanted().MaxTemperature
	if limit == 0 {
		limit = defaultMaxTemperature
	}
	switch t := e.chosen.state.TemperatureC; {
	case t == 0:
	case t > limit:
		list = append(list, warn("temperature", "%.0f degrees C, above the limit of %.0f", t, limit).
			withFix("let it cool, check its fans, or lock lower clocks"))
	default:
		list = append(list, ok("temperature", "%.0f degrees C", t))
	}
	if spoiling := e.chosen.state.Reasons.Invalidating(); spoiling != 0 {
		list = append(list, warn("slowdown", "the device is slowing itself down right now: %s; such rounds do not count", spoiling).
			withFix("let it cool, check its fans and its power supply"))
	}
	return list
}
