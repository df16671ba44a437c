package host

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
)

// clockMHz returns the highest current clock of any core: the core under load matters,
// and idle cores would only dilute it.
func (h *Host) clockMHz() float64 {
	var top float64
	for _, f := range h.clocks {
		if khz, ok := h.sys.number(f); ok {
			top = max(top, khz/1000)
		}
	}
	if top > 0 {
		return top
	}
	// Virtual machines have no cpufreq but list a clock here.
	for line := range strings.Lines(h.sys.Text("proc/cpuinfo")) {
		k, v, _ := strings.Cut(line, ":")
		if strings.TrimSpace(k) != "cpu MHz" {
			continue
		}
		if mhz, ok := number(v); ok {
			top = max(top, mhz)
		}
	}
	return top
}

// packageNames are the names under which kernels report the temperature of a CPU
// package. Other sensors of a board say nothing about its cores.
var packageNames = []string{"x86_pkg_temp", "coretemp", "k10temp", "zenpower", "cpu-thermal", "cpu_thermal", "soc-thermal"}

// packageSensors lists the files that hold a package's temperature in thousandths
// of a degree.
func packageSensors(sys System) []string {
	var files []string
	for _, zone := range sys.glob("sys/class/thermal/thermal_zone[0-9]*") {
		if slices.Contains(packageNames, sys.Text(zone+"/type")) {
			files = append(files, zone+"/temp")
		}
	}
	for _, chip := range sys.glob("sys/class/hwmon/hwmon[0-9]*") {
		if slices.Contains(packageNames, sys.Text(chip+"/name")) {
			files = append(files, sys.glob(chip+"/temp[0-9]*_input")...)
		}
	}
	return files
}

func (h *Host) temperature() float64 {
	var hottest float64
	for _, f := range h.sensors {
		if milli, ok := h.sys.number(f); ok {
			hottest = max(hottest, milli/1000)
		}
	}
	return hottest
}

// reasons reports thermal slowdowns since the last reading. The kernel counts them,
// so a slowdown between two readings is not missed.
func (h *Host) reasons() gpu.Reasons {
	now := h.throttleCount()
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.throttle
	h.throttle = now
	if now > before {
		return gpu.HWThermal
	}
	return 0
}

func (h *Host) throttleCount() float64 {
	var count float64
	for _, f := range h.throttles {
		if n, ok := h.sys.number(f); ok {
			count += n
		}
	}
	return count
}

// governor lists the frequency governors in use, normally one.
func (h *Host) governor() string {
	var found []string
	for _, f := range h.governors {
		if g := h.sys.Text(f); g != "" && !slices.Contains(found, g) {
			found = append(found, g)
		}
	}
	slices.Sort(found)
	return strings.Join(found, ",")
}

// turbo returns "on", "off" or "". Two drivers report it with opposite meanings.
func (h *Host) turbo() string {
	switch h.sys.Text(cpus + "intel_pstate/no_turbo") {
	case "0":
		return "on"
	case "1":
		return "off"
	}
	switch h.sys.Text(cpus + "cpufreq/boost") {
	case "0":
		return "off"
	case "1":
		return "on"
	}
	return ""
}

func (h *Host) load() float64 {
	first, _, _ := strings.Cut(h.sys.Text("proc/loadavg"), " ")
	load, _ := number(first)
	return load
}
