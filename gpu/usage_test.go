package gpu_test

import (
	"math"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

func TestUsageOf(t *testing.T) {
	at := func(ms int, watts, joules, mhz float64) gpu.State {
		return gpu.State{At: time.UnixMilli(int64(ms)), PowerW: watts, EnergyJ: joules, SMClockMHz: mhz}
	}
	for name, c := range map[string]struct {
		readings []gpu.State
		want     gpu.Usage
	}{
		"the counter decides":              {[]gpu.State{at(0, 100, 5000, 2000), at(1000, 100, 5042, 1500)}, gpu.Usage{EnergyJ: 42, Counted: true, SMClockMHz: 1500}},
		"power is integrated":              {[]gpu.State{at(0, 100, 0, 2000), at(500, 200, 0, 1800), at(1500, 200, 0, 1600)}, gpu.Usage{EnergyJ: 75 + 200, SMClockMHz: 1800}},
		"a counter that went back":         {[]gpu.State{at(0, 100, 5000, 1), at(1000, 100, 10, 1)}, gpu.Usage{EnergyJ: 100, SMClockMHz: 1}},
		"without energy and power":         {[]gpu.State{at(0, 0, 0, 1000), at(1000, 0, 0, 1000)}, gpu.Usage{SMClockMHz: 1000}},
		"one reading is not enough":        {[]gpu.State{at(0, 100, 5000, 2000)}, gpu.Usage{}},
		"a reading without power is a gap": {[]gpu.State{at(0, 100, 0, 0), at(500, 0, 0, 0), at(900, 100, 0, 0)}, gpu.Usage{}},
	} {
		got := gpu.UsageOf(c.readings)
		if math.Abs(got.EnergyJ-c.want.EnergyJ) > 1e-9 || got.Counted != c.want.Counted || got.SMClockMHz != c.want.SMClockMHz {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
