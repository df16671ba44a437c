package amd

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

// table is what this package takes from the driver's table of metrics, gpu_metrics: a structure of the kernel
// (kgd_pp_interface.h) that starts with its size and its version.
type table struct {
	energyJ float64   // since the driver was loaded
	grown   *counters // versions 1.6 to 1.8 count: Instinct from the MI300 on
	now     *uint64   // version 1.3 says what is true now: MI100, MI200, Radeon
}

// counters grow while the card is slowed down by a reason.
type counters struct{ prochot, power, socket, regulator, memory uint64 }

// maxTable bounds the file; version 1.8 has about 3 KB.
const maxTable = 64 << 10

func readTable(sys host.System, name string) table {
	f, err := sys.Open(name)
	if err != nil {
		return table{}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxTable))
	if err != nil {
		return table{}
	}
	return parseTable(b)
}

// Sizes of tables. Version 1.6 first had another layout, which is shorter, for a few weeks.
const (
	size13    = 120
	minSize16 = 1000
)

// energyUnit is the unit of the energy counter in joules.
const energyUnit = 1.0 / (1 << 16)

func parseTable(b []byte) table {
	if len(b) < 4 || b[2] != 1 || int(binary.LittleEndian.Uint16(b)) > len(b) {
		return table{}
	}
	size, content := int(binary.LittleEndian.Uint16(b)), b[3]
	b = b[:size]
	switch {
	case content == 3 && size >= size13:
		t := table{energyJ: energyAt(b, 24)}
		if bits := binary.LittleEndian.Uint64(b[112:]); bits != math.MaxUint64 {
			t.now = &bits
		}
		return t
	case content == 6 && size >= minSize16:
		return table{energyJ: energyAt(b, 16), grown: countersAt(b, 36)}
	case (content == 7 || content == 8) && size >= minSize16: // they also have the bandwidth of memory
		return table{energyJ: energyAt(b, 24), grown: countersAt(b, 44)}
	}
	return table{}
}

func energyAt(b []byte, at int) float64 {
	v := binary.LittleEndian.Uint64(b[at:])
	if v == math.MaxUint64 { // not reported
		return 0
	}
	return float64(v) * energyUnit
}

func countersAt(b []byte, at int) *counters {
	get := func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(b[at+4*i:])) }
	return &counters{get(0), get(1), get(2), get(3), get(4)}
}

// since returns the reasons whose counters grew.
func (c counters) since(before counters) gpu.Reasons {
	var r gpu.Reasons
	if c.prochot > before.prochot {
		r |= gpu.HWSlowdown
	}
	if c.power > before.power {
		r |= gpu.SWPowerCap
	}
	if c.socket > before.socket || c.regulator > before.regulator || c.memory > before.memory {
		r |= gpu.HWThermal
	}
	return r
}

// Bits of version 1.3, as the driver defines them for all chips (SMU_THROTTLER_*).
const (
	bitsPower   = 0x0000_0000_0000_ffff
	bitsCurrent = 0x0000_0000_ffff_0000
	bitsHeat    = 0x0000_3fff_0000_0000
	bitsProchot = 0x0000_c000_0000_0000
)

// reasonsOf maps bits to reasons. Some cards always report heat, so heat counts only if the card is hot.
func reasonsOf(bits uint64, hot bool) gpu.Reasons {
	var r gpu.Reasons
	if bits&bitsPower != 0 {
		r |= gpu.SWPowerCap
	}
	if bits&bitsCurrent != 0 {
		r |= gpu.BoardLimit
	}
	if bits&bitsHeat != 0 && hot {
		r |= gpu.HWThermal
	}
	if bits&bitsProchot != 0 {
		r |= gpu.HWSlowdown
	}
	return r
}
