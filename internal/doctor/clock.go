package doctor

import (
	"context"
	"slices"
	"strings"
)

const cpuFolder = "sys/devices/system/cpu/"

// governor reports how the CPU's clock is chosen.
func governor(_ context.Context, e *exam) []Finding {
	switch g := e.cpu.state.Governor; g {
	case "performance":
		return []Finding{ok("governor", "performance")}
	case "":
		return []Finding{note("governor", "the kernel does not report how it chooses the CPU's clock, as on most virtual machines")}
	default:
		return e.hostOnly(warn("governor", "%s: the CPU's clock follows the load, so the first samples are slower than the others", g).
			withFix("echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"))
	}
}

// turbo reports whether the CPU's clock depends on heat and on the load of other cores.
func turbo(_ context.Context, e *exam) []Finding {
	switch e.cpu.state.Turbo {
	case "on":
		fix := "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
		if e.sys.exists(cpuFolder + "intel_pstate/no_turbo") {
			fix = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
		}
		return e.hostOnly(warn("turbo", "on: the CPU's clock depends on its temperature and on how many cores are busy").withFix("%s", fix))
	case "off":
		return []Finding{ok("turbo", "off")}
	default:
		return nil
	}
}

// Clock sources of the kernel. The quick ones are read without a system call.
var (
	quickSources = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "riscv_clocksource"}
	slowSources  = []string{"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen", "hyperv_clocksource_msr"}
)

// clockSource reports what reading the time costs: about a microsecond per sample with a slow source.
func clockSource(_ context.Context, e *exam) []Finding {
	const folder = "sys/devices/system/clocksource/clocksource0/"
	source := e.sys.Text(folder + "current_clocksource")
	switch {
	case source == "":
		return []Finding{note("clock source", "the kernel does not report its clock source")}
	case slices.Contains(quickSources, source):
		return []Finding{ok("clock source", "%s", source)}
	case !slices.Contains(slowSources, source):
		return []Finding{note("clock source", "%s, which pawl does not know", source)}
	}
	f := warn("clock source", "%s: each reading of the time is a slow system call, so short samples are too long", source)
	if slices.Contains(strings.Fields(e.sys.Text(folder+"available_clocksource")), "tsc") {
		f = f.withFix("echo tsc | sudo tee /%scurrent_clocksource", folder)
	} else {
		f = f.withFix("the kernel found no better one: look for \"clocksource\" in dmesg")
	}
	return []Finding{f}
}
