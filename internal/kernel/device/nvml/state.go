//go:build cgo && linux

package nvml

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/goatnote-inc/pawl/gpu"
)

// Device is a GPU, or a slice of one under MIG. It is safe for concurrent use.
type Device struct {
	lib  *Library
	id   gpu.Identity
	card nvml.Device // the whole card, which owns clocks, power and temperature
	part nvml.Device // the slice, or the card itself
}

// Identity returns the device and its driver.
func (d *Device) Identity() gpu.Identity { return d.id }

// State reads the device now. Values that the device or its driver does not report
// stay empty. Any other failure is an error, returned together with what could be
// read: a lost slowdown reason could make a disturbed round look good.
func (d *Device) State(ctx context.Context) (gpu.State, error) {
	if err := ctx.Err(); err != nil {
		return gpu.State{}, fmt.Errorf("cannot read the state of %s: %w", d.id.Name, err)
	}
	r := reading{lib: d.lib}
	s := gpu.State{At: d.lib.opts.Now()}
	h := d.card
	s.SMClockMHz = number(&r, "nvmlDeviceGetClockInfo", func() (uint32, nvml.Return) { return h.GetClockInfo(nvml.CLOCK_SM) })
	s.MemoryClockMHz = number(&r, "nvmlDeviceGetClockInfo", func() (uint32, nvml.Return) { return h.GetClockInfo(nvml.CLOCK_MEM) })
	s.TemperatureC = number(&r, "nvmlDeviceGetTemperature", func() (uint32, nvml.Return) { return h.GetTemperature(nvml.TEMPERATURE_GPU) })
	s.PowerW = number(&r, "nvmlDeviceGetPowerUsage", h.GetPowerUsage) / 1000
	s.PowerCapW = number(&r, "nvmlDeviceGetEnforcedPowerLimit", h.GetEnforcedPowerLimit) / 1000
	s.Reasons = gpu.Reasons(value(&r, d.lib.first("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"), d.reasons))
	s.ECC = onOff(&r, "nvmlDeviceGetEccMode", func() (bool, nvml.Return) {
		now, _, ret := h.GetEccMode()
		return now == nvml.FEATURE_ENABLED, ret
	})
	s.MIG = onOff(&r, "nvmlDeviceGetMigMode", func() (bool, nvml.Return) {
		mode, _, ret := h.GetMigMode()
		return mode == nvml.DEVICE_MIG_ENABLE, ret
	})
	s.Persistence = onOff(&r, "nvmlDeviceGetPersistenceMode", func() (bool, nvml.Return) {
		mode, ret := h.GetPersistenceMode()
		return mode == nvml.FEATURE_ENABLED, ret
	})
	s.Processes = d.processes(&r)
	if len(r.failed) > 0 {
		return s, fmt.Errorf("cannot read the state of %s (%s): %w", d.id.Name, d.id.UUID, joined(r.failed))
	}
	return s, nil
}

// reasons calls the function under the name that this driver has: it was renamed.
func (d *Device) reasons() (uint64, nvml.Return) {
	if d.lib.has["nvmlDeviceGetCurrentClocksEventReasons"] {
		return d.card.GetCurrentClocksEventReasons()
	}
	return d.card.GetCurrentClocksThrottleReasons()
}

func (d *Device) mig() (int, nvml.Return) {
	return ask(d.lib, "nvmlDeviceGetMigMode", func() (int, nvml.Return) {
		mode, _, ret := d.card.GetMigMode()
		return mode, ret
	})
}

// processes lists the processes with a compute context on the card that are not
// pawl's. Slices share clocks and power, so processes on other slices count.
func (d *Device) processes(r *reading) []gpu.Process {
	found := d.foreignProcesses(r)
	if slices.ContainsFunc(found, func(p gpu.Process) bool { return p.Name == "" }) {
		// A process that this machine does not show has since ended, like a harness at
		// the end of a round, or is in another container. A second look decides which.
		found = d.foreignProcesses(r)
	}
	return found
}

func (d *Device) foreignProcesses(r *reading) []gpu.Process {
	list := d.running(r, d.card)
	if list == nil && d.part != d.card {
		list = d.running(r, d.part) // reading the whole card may need more permission
	}
	var found []gpu.Process
	for _, p := range list {
		pid := int(p.Pid)
		seen := slices.ContainsFunc(found, func(f gpu.Process) bool { return f.PID == pid })
		if seen || d.lib.opts.Own(pid) {
			continue
		}
		memory := int64(p.UsedGpuMemory)
		if p.UsedGpuMemory > math.MaxInt64 { // "not available" is all ones
			memory = 0
		}
		found = append(found, gpu.Process{PID: pid, Name: d.lib.opts.Name(pid), MemoryBytes: memory})
	}
	return found
}

func (d *Device) running(r *reading, h nvml.Device) []nvml.ProcessInfo {
	compute := d.lib.first("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses")
	list := value(r, compute, h.GetComputeRunningProcesses)
	return append(list, value(r, "nvmlDeviceGetMPSComputeRunningProcesses_v3", h.GetMPSComputeRunningProcesses)...)
}

// first returns the first name that the library has.
func (b *binding) first(names ...string) string {
	for _, name := range names {
		if b.has[name] {
			return name
		}
	}
	return names[0]
}

// reading collects errors while one state is read.
type reading struct {
	lib    *Library
	failed []error
}

// value calls one getter. If the device cannot answer, it returns the zero value.
func value[T any](r *reading, symbol string, get func() (T, nvml.Return)) T {
	v, ret := ask(r.lib, symbol, get)
	if ret == nvml.SUCCESS {
		return v
	}
	var none T
	err := &callError{symbol, ret}
	silent := errors.Is(err, errors.ErrUnsupported) || ret == nvml.ERROR_NO_PERMISSION || ret == nvml.ERROR_NO_DATA
	if !silent {
		r.failed = append(r.failed, err)
	}
	return none
}

func number(r *reading, symbol string, get func() (uint32, nvml.Return)) float64 {
	return float64(value(r, symbol, get))
}

func onOff(r *reading, symbol string, get func() (bool, nvml.Return)) string {
	return value(r, symbol, func() (string, nvml.Return) {
		on, ret := get()
		if on {
			return "on", ret
		}
		return "off", ret
	})
}
