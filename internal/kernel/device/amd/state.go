package amd

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// Device is a whole card, or one of the two dies of a card that ROCm shows as two. It is safe for concurrent use.
type Device struct {
	machine vendor.Machine
	sys     host.System
	node    node
	dir     string // the card's files
	sensors string // the folder of its sensors; empty if there is none
	id      gpu.Identity

	mu   sync.Mutex
	last *counters // at the reading before; nil at first
}

func open(n node, index int, m vendor.Machine) *Device {
	sys := host.System{FS: m.Root}
	d := &Device{machine: m, sys: sys, node: n, dir: n.dir(), id: identity(sys, n, index)}
	if found, _ := fs.Glob(sys, d.dir+"/hwmon/hwmon[0-9]*"); len(found) > 0 {
		d.sensors = found[0]
	}
	return d
}

// Identity returns the device and its driver.
func (d *Device) Identity() gpu.Identity { return d.id }

// State reads the device now. Values that are not reported stay empty.
func (d *Device) State(ctx context.Context) (gpu.State, error) {
	if err := ctx.Err(); err != nil {
		return gpu.State{}, fmt.Errorf("cannot read the state of %s: %w", d.id.Name, err)
	}
	metrics := readTable(d.sys, d.dir+"/gpu_metrics")
	s := gpu.State{
		At:             d.machine.Now(),
		SMClockMHz:     d.clock("freq1_input", "pp_dpm_sclk"),
		MemoryClockMHz: d.clock("freq2_input", "pp_dpm_mclk"),
		TemperatureC:   d.temperature("_input"),
		PowerW:         max(d.sensor("power1_average"), d.sensor("power1_input")) / 1e6,
		PowerCapW:      d.sensor("power1_cap") / 1e6,
		EnergyJ:        max(metrics.energyJ, d.sensor("energy1_input")/1e6),
		FreeBytes:      d.freeBytes(),
	}
	if d.sys.Text(d.dir+"/ras/umc_err_count") != "" {
		s.ECC = "on"
	}
	if d.sys.Text(d.dir+"/current_compute_partition") == "SPX" {
		s.MIG = "off"
	}
	s.Processes, s.Own = vendor.Processes(d.processes)
	if d.sys.Text(d.dir+"/device") == "" {
		return s, fmt.Errorf("cannot read the state of %s (%s): its files in /%s are gone: the card may be lost, see the kernel log", d.id.Name, d.id.UUID, d.dir)
	}
	reasons, err := d.reasons(ctx, metrics)
	s.Reasons = reasons
	if err != nil {
		return s, fmt.Errorf("cannot read why %s slows down: %w", d.id.Name, err)
	}
	return s, nil
}

// freeBytes returns the free memory of the card; 0 if the driver does not report what is used.
func (d *Device) freeBytes() int64 {
	used := d.sys.Text(d.dir + "/mem_info_vram_used")
	if used == "" {
		return 0
	}
	return max(d.id.MemoryBytes-int64(number(used)), 0)
}

// sensor reads a value of the card's sensors; 0 if there is none.
func (d *Device) sensor(name string) float64 {
	if d.sensors == "" {
		return 0
	}
	return count(d.sys, d.sensors+"/"+name)
}

// clock returns a clock in MHz: from a sensor in Hz, or the marked line of a list of levels.
func (d *Device) clock(sensor, levels string) float64 {
	if hz := d.sensor(sensor); hz > 0 {
		return hz / 1e6
	}
	for line := range strings.Lines(d.sys.Text(d.dir + "/" + levels)) {
		if marked, ok := strings.CutSuffix(strings.TrimSpace(line), "*"); ok {
			return levelMHz(marked)
		}
	}
	return 0
}

// topClock returns the highest clock of a list of levels such as "1: 2100Mhz *".
func topClock(levels string) float64 {
	top := 0.0
	for line := range strings.Lines(levels) {
		top = max(top, levelMHz(strings.TrimRight(strings.TrimSpace(line), "* ")))
	}
	return top
}

func levelMHz(line string) float64 {
	_, text, _ := strings.Cut(line, ":")
	text = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "mhz")
	return number(text)
}

// temperature returns the hottest part's value in degrees, or that of the edge where no hot spot is reported.
// kind is _input for the temperature, _crit for its limit.
func (d *Device) temperature(kind string) float64 {
	for _, label := range []string{"junction", "hotspot", "edge"} {
		for _, i := range []string{"1", "2", "3"} {
			if d.sensors != "" && d.sys.Text(d.sensors+"/temp"+i+"_label") == label {
				if milli := d.sensor("temp" + i + kind); milli > 0 {
					return milli / 1000
				}
			}
		}
	}
	return 0
}

// processes lists the processes with memory on the card: those that are not pawl's, and its own.
func (d *Device) processes() (foreign, own []gpu.Process) {
	files, _ := fs.Glob(d.sys, "sys/class/kfd/kfd/proc/[0-9]*/vram_"+d.node.gpuID)
	for _, f := range files {
		pid, err := strconv.Atoi(path.Base(path.Dir(f)))
		used := count(d.sys, f)
		switch {
		case err != nil || used == 0: // it uses another card
		case d.machine.Own(pid):
			own = append(own, gpu.Process{PID: pid, MemoryBytes: int64(used)})
		default:
			foreign = append(foreign, gpu.Process{PID: pid, Name: d.machine.Name(pid), MemoryBytes: int64(used)})
		}
	}
	return foreign, own
}

// count reads a file that holds one number; 0 if there is none.
func count(sys host.System, name string) float64 { return number(sys.Text(name)) }

// number parses a number of the driver: finite and not negative, otherwise 0.
func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > 1e15 {
		return 0
	}
	return v
}
