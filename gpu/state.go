package gpu

import (
	"slices"
	"time"
)

// State is one reading of a device. Zero means that the device did not report the value: no running
// device has a clock, a temperature or a power draw of zero.
type State struct {
	At time.Time `json:"at"`

	SMClockMHz     float64 `json:"sm_clock_mhz,omitempty"`
	MemoryClockMHz float64 `json:"memory_clock_mhz,omitempty"`
	TemperatureC   float64 `json:"temperature_c,omitempty"`
	PowerW         float64 `json:"power_w,omitempty"`
	PowerCapW      float64 `json:"power_cap_w,omitempty"`
	EnergyJ        float64 `json:"energy_j,omitempty"` // of the card since its driver was loaded, by its own counter
	Reasons        Reasons `json:"reasons,omitempty"`  // why the clock is below its maximum

	ECC         string `json:"ecc,omitempty"` // "on", "off", or empty where there is none
	MIG         string `json:"mig,omitempty"`
	Persistence string `json:"persistence,omitempty"`

	Processes []Process `json:"processes,omitempty"` // other processes on the device, without pawl's own harness
	Own       []Process `json:"-"`                   // pawl's own processes on the device
	FreeBytes int64     `json:"-"`                   // free memory of the GPU or the slice

	// The fields below are set for hosts only.
	Governor string  `json:"governor,omitempty"`
	Turbo    string  `json:"turbo,omitempty"`
	Load1    float64 `json:"load1,omitempty"` // runnable tasks, one-minute average
}

// Process is a process seen on a device.
type Process struct {
	PID         int    `json:"pid"`
	Name        string `json:"name,omitempty"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
}

// Merge adds a reading taken during a measurement to the reading s at its end. It keeps the last values,
// the highest temperature, and every reason and process seen. Otherwise a 50 ms slowdown, or another
// process that started and exited, would be missed by readings before and after.
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
