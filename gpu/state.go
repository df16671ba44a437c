package gpu

import (
	"slices"
	"time"
)

// State is one reading of a device. Zero means "the device did not tell":
// no running device has a clock, a temperature or a power draw of zero.
type State struct {
	At time.Time `json:"at"`

	SMClockMHz     float64 `json:"sm_clock_mhz,omitempty"`
	MemoryClockMHz float64 `json:"memory_clock_mhz,omitempty"`
	TemperatureC   float64 `json:"temperature_c,omitempty"`
	PowerW         float64 `json:"power_w,omitempty"`
	PowerCapW      float64 `json:"power_cap_w,omitempty"`
	Reasons        Reasons `json:"reasons,omitempty"` // why the clock is not at its highest

	ECC         string `json:"ecc,omitempty"` // "on", "off", or empty where there is none
	MIG         string `json:"mig,omitempty"`
	Persistence string `json:"persistence,omitempty"`

	Processes []Process `json:"processes,omitempty"` // other processes on the device; pawl's own harness is left out

	// Host only.
	Governor string  `json:"governor,omitempty"`
	Turbo    string  `json:"turbo,omitempty"`
	Load1    float64 `json:"load1,omitempty"` // runnable tasks, one-minute mean
}

// Process is a process seen on a device.
type Process struct {
	PID         int    `json:"pid"`
	Name        string `json:"name,omitempty"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
}

// Merge folds a reading taken during a measurement into the reading at its end:
// the last values stay, the highest temperature, every reason and every process
// seen are kept. A slowdown of 50 ms, or a stranger who came and went, would
// otherwise be invisible to a reading before and after.
func (s State) Merge(during State) State {
	s.TemperatureC = max(s.TemperatureC, during.TemperatureC)
	s.Reasons |= during.Reasons
	s.Processes = slices.Clone(s.Processes)
	for _, p := range during.Processes {
		if !slices.ContainsFunc(s.Processes, func(q Process) bool { return q.PID == p.PID }) {
			s.Processes = append(s.Processes, p)
		}
	}
	return s
}
