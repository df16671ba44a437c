package smi

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// Device is a GPU, or a slice of one under MIG. It is safe for concurrent use.
type Device struct {
	tool *Tool
	id   gpu.Identity
}

// Identity returns the device and its driver.
func (d *Device) Identity() gpu.Identity { return d.id }

// card returns the UUID of the whole card, which owns clocks and power.
func (d *Device) card() string { return d.id.LockName() }

// State reads the device now. Values that are not reported stay empty.
func (d *Device) State(ctx context.Context) (gpu.State, error) {
	rows, err := d.tool.query(ctx, d.card(),
		"clocks.current.sm", "clocks.current.memory", "temperature.gpu", "power.draw", "enforced.power.limit",
		"clocks_event_reasons.active", "ecc.mode.current", "mig.mode.current", "persistence_mode", "memory.free")
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("nvidia-smi printed %d lines for one GPU", len(rows))
	}
	if err != nil {
		return gpu.State{}, fmt.Errorf("cannot read the state of %s: %w", d.id.Name, err)
	}
	r := rows[0]
	reasons, err := r.reasons("clocks_event_reasons.active")
	if err != nil {
		return gpu.State{}, fmt.Errorf("cannot read the state of %s: %w", d.id.Name, err)
	}
	processes, err := d.processes(ctx)
	if err != nil {
		return gpu.State{}, fmt.Errorf("cannot read the processes on %s: %w", d.id.Name, err)
	}
	free := int64(r.number("memory.free")) << 20
	if d.id.Parent != "" {
		free = 0 // that of the slice is not reported
	}
	return gpu.State{
		At:             d.tool.opts.Now(),
		SMClockMHz:     r.number("clocks.current.sm"),
		MemoryClockMHz: r.number("clocks.current.memory"),
		TemperatureC:   r.number("temperature.gpu"),
		PowerW:         r.number("power.draw"),
		PowerCapW:      r.number("enforced.power.limit"),
		Reasons:        reasons,
		ECC:            r.onOff("ecc.mode.current"),
		MIG:            r.onOff("mig.mode.current"),
		Persistence:    r.onOff("persistence_mode"),
		Processes:      processes,
		FreeBytes:      free,
	}, nil
}

// processes lists the processes with a compute context that are not pawl's.
func (d *Device) processes(ctx context.Context) (found []gpu.Process, err error) {
	found, _ = vendor.Processes(func() (foreign, _ []gpu.Process) {
		foreign, err = d.foreignProcesses(ctx)
		return foreign, nil
	})
	return found, err
}

func (d *Device) foreignProcesses(ctx context.Context) ([]gpu.Process, error) {
	fields := []string{"pid", "used_memory"}
	out, err := d.tool.run(ctx, "--query-compute-apps="+strings.Join(fields, ","), "--format=csv,noheader,nounits", "--id="+d.card())
	if err != nil {
		return nil, err
	}
	rows, err := parse(out, fields)
	if err != nil {
		return nil, err
	}
	var found []gpu.Process
	for _, r := range rows {
		pid := int(r.number("pid"))
		if pid == 0 || d.tool.opts.Own(pid) {
			continue
		}
		found = append(found, gpu.Process{
			PID: pid, Name: d.tool.opts.Name(pid), MemoryBytes: int64(r.number("used_memory")) << 20,
		})
	}
	return found, nil
}

// number parses a value. It returns 0 if the value is missing or not a plausible number.
func (r row) number(field string) float64 {
	v, err := strconv.ParseFloat(r[field], 64)
	if err != nil || v < 0 || v > 1e9 || math.IsNaN(v) {
		return 0
	}
	return v
}

// reasons parses a bit mask such as 0x0000000000000004. A value that cannot be parsed is
// an error: a lost reason could make a disturbed round look good.
func (r row) reasons(field string) (gpu.Reasons, error) {
	text := r[field]
	if text == "" {
		return 0, nil
	}
	bits, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("nvidia-smi printed %s as %q, not as a bit mask", field, firstLine(text))
	}
	return gpu.Reasons(bits), nil
}

func (r row) onOff(field string) string {
	switch strings.ToLower(r[field]) {
	case "enabled":
		return "on"
	case "disabled":
		return "off"
	default:
		return ""
	}
}
