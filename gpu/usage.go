package gpu

import (
	"slices"
)

// Usage is what a device used while something ran on it.
type Usage struct {
	EnergyJ    float64 // joules; 0 if the device reports neither energy nor power
	Counted    bool    // by the device's energy counter; otherwise the integral of its power readings
	SMClockMHz float64 // median of the readings after the first; 0 if unknown
	// PeakBytes is the most device memory of the process and its descendants; 0 if the driver does not report it by process.
	PeakBytes int64
}

// UsageOf returns what the device used between the first and the last of these readings.
func UsageOf(readings []State) Usage {
	if len(readings) < 2 {
		return Usage{}
	}
	first, last := readings[0], readings[len(readings)-1]
	u := Usage{Counted: first.EnergyJ > 0 && last.EnergyJ >= first.EnergyJ, EnergyJ: last.EnergyJ - first.EnergyJ}
	if !u.Counted {
		u.EnergyJ = integral(readings)
	}
	clocks := make([]float64, 0, len(readings))
	for _, r := range readings[1:] {
		if r.SMClockMHz > 0 {
			clocks = append(clocks, r.SMClockMHz)
		}
	}
	if slices.Sort(clocks); len(clocks) > 0 {
		u.SMClockMHz = clocks[len(clocks)/2]
	}
	return u
}

// integral returns the energy of the power readings, by the trapezoidal rule; 0 if a reading has no power.
func integral(readings []State) float64 {
	total := 0.0
	for i, b := range readings[1:] {
		a := readings[i]
		if a.PowerW <= 0 || b.PowerW <= 0 {
			return 0
		}
		total += b.At.Sub(a.At).Seconds() * (a.PowerW + b.PowerW) / 2
	}
	return total
}
