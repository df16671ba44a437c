//go:build linux && (amd64 || arm64)

package nvml

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// Device is a GPU, or a slice of one under MIG. It is safe for concurrent use.
type Device struct {
	lib  *Library
	id   gpu.Identity
	card handle // the whole card, which owns clocks, power and temperature
	part handle // the slice, or the card itself
}

// Identity returns the device and its driver.
func (d *Device) Identity() gpu.Identity { return d.id }

// State reads the device now. Values that the device or its driver does not report
// stay empty. A failure to read clocks, temperature or reasons is an error, returned together
// with what could be read: a lost slowdown reason could make a disturbed round look good.
// Power, ECC, MIG, persistence, free memory and processes stay empty, whatever the driver answers: no
// round is judged by them, and drivers of new cards answer with codes of their own.
func (d *Device) State(ctx context.Context) (gpu.State, error) {
	if err := ctx.Err(); err != nil {
		return gpu.State{}, fmt.Errorf("cannot read the state of %s: %w", d.id.Name, err)
	}
	var r, soft reading
	s := gpu.State{At: d.lib.opts.Now()}
	s.SMClockMHz = float64(value(&r, "nvmlDeviceGetClockInfo", d.numberOf(clockSM)))
	s.MemoryClockMHz = float64(value(&r, "nvmlDeviceGetClockInfo", d.numberOf(clockMemory)))
	s.TemperatureC = float64(value(&r, "nvmlDeviceGetTemperature", d.numberOf(sensorGPU)))
	s.PowerW = float64(value(&soft, "nvmlDeviceGetPowerUsage", d.number)) / 1000
	s.PowerCapW = float64(value(&soft, "nvmlDeviceGetEnforcedPowerLimit", d.number)) / 1000
	s.EnergyJ = float64(value(&soft, "nvmlDeviceGetTotalEnergyConsumption", d.long)) / 1000
	// the function was renamed
	s.Reasons = gpu.Reasons(value(&r, d.lib.first("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"), d.long))
	s.ECC = value(&soft, "nvmlDeviceGetEccMode", onOff(d.current))
	s.MIG = value(&soft, "nvmlDeviceGetMigMode", onOff(d.current))
	s.Persistence = value(&soft, "nvmlDeviceGetPersistenceMode", onOff(d.number))
	s.FreeBytes = value(&soft, "nvmlDeviceGetMemoryInfo", d.freeBytes)
	s.Processes, s.Own = vendor.Processes(func() (foreign, own []gpu.Process) { return d.processes(&soft) })
	if len(r.failed) > 0 {
		return s, fmt.Errorf("cannot read the state of %s (%s): %w", d.id.Name, d.id.UUID, joined(r.failed))
	}
	return s, nil
}

// long calls name(card, *result), with a result of 64 bits.
func (d *Device) long(symbol string) (v uint64, ret code) {
	ret = d.lib.call(symbol, uintptr(d.card), uintptr(unsafe.Pointer(&v)))
	return v, ret
}

// freeBytes reads the free memory of the slice, or of the card.
func (d *Device) freeBytes(symbol string) (int64, code) {
	var m memory
	ret := d.lib.call(symbol, uintptr(d.part), uintptr(unsafe.Pointer(&m)))
	return int64(min(m.free, m.total, math.MaxInt64)), ret
}

func (d *Device) number(symbol string) (uint32, code) { return d.lib.number(symbol, d.card) }

func (d *Device) numberOf(what uint32) getter[uint32] {
	return func(symbol string) (uint32, code) { return d.lib.numberOf(symbol, d.card, what) }
}

// current reads a mode that has a current and a pending value.
func (d *Device) current(symbol string) (uint32, code) {
	now, _, ret := d.lib.pair(symbol, d.card)
	return now, ret
}

// processes lists the processes with a compute context on the card that are not
// pawl's. Slices share clocks and power, so processes on other slices count.
func (d *Device) processes(r *reading) (foreign, own []gpu.Process) {
	list := d.running(r, d.card)
	if list == nil && d.part != d.card {
		list = d.running(r, d.part) // reading the whole card may need more permission
	}
	for _, p := range list {
		pid := int(p.pid)
		same := func(f gpu.Process) bool { return f.PID == pid }
		if slices.ContainsFunc(foreign, same) || slices.ContainsFunc(own, same) {
			continue
		}
		used := int64(p.memory)
		if p.memory > math.MaxInt64 { // "not available" is all ones
			used = 0
		}
		if d.lib.opts.Own(pid) {
			own = append(own, gpu.Process{PID: pid, MemoryBytes: used})
			continue
		}
		foreign = append(foreign, gpu.Process{PID: pid, Name: d.lib.opts.Name(pid), MemoryBytes: used})
	}
	return foreign, own
}

func (d *Device) running(r *reading, h handle) []process {
	get := func(symbol string) ([]process, code) { return list[process](d.lib.binding, symbol, h) }
	compute := d.lib.first("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses")
	if compute != "nvmlDeviceGetComputeRunningProcesses" {
		return append(value(r, compute, get), value(r, "nvmlDeviceGetMPSComputeRunningProcesses_v3", get)...)
	}
	var found []process
	for _, p := range value(r, compute, func(symbol string) ([]process1, code) { return list[process1](d.lib.binding, symbol, h) }) {
		found = append(found, process{pid: p.pid, memory: p.memory})
	}
	return found
}

// reading collects errors while one state is read.
type reading struct{ failed []error }

// getter calls the function of the library with this name.
type getter[T any] = func(symbol string) (T, code)

// value calls one getter. If the device cannot answer, it returns the zero value.
func value[T any](r *reading, symbol string, get getter[T]) T {
	v, ret := get(symbol)
	if ret == success {
		return v
	}
	var none T
	err := &callError{symbol, ret}
	silent := errors.Is(err, errors.ErrUnsupported) || ret == codeNoPermission || ret == codeNoData
	if !silent {
		r.failed = append(r.failed, err)
	}
	return none
}

func onOff(get getter[uint32]) getter[string] {
	return func(symbol string) (string, code) {
		mode, ret := get(symbol)
		if mode == enabled {
			return "on", ret
		}
		return "off", ret
	}
}
