// Package nvml reads and controls NVIDIA GPUs through NVIDIA's management
// library. The library comes with the driver and is loaded at run time: pawl builds
// and starts on machines without it.
//
// It declares the functions that it calls itself and loads them with purego, without cgo
// and so without a C compiler. On other systems Open returns an error, and
// internal/kernel/device/smi is used instead. The package knows nothing of locks, leases
// or rounds.
//
// Two facts about the library shape the code. An old driver lacks some functions, so
// every call asks for its symbol first. And locked clocks have no getter: their previous
// values cannot be read.
//
// Errors wrap fs.ErrPermission if more permission is needed and
// errors.ErrUnsupported if this device or driver cannot do it.
package nvml

import "time"

// Getter is one call of a getter of the library.
type Getter struct {
	Symbol     string
	Code       int // as NVML numbers its return codes; 0 is success
	Took       time.Duration
	Unexpected bool // the code is not success, and does not say that the device or the driver lacks the value
}

// Options describe how to open the library.
type Options struct {
	// Library is the file to load; empty means the driver's libnvidia-ml.so.1.
	Library string
	// Own reports whether a process belongs to pawl. Such processes are left out of states.
	Own func(pid int) bool
	// Name returns the program that a process runs, or "" if it is not visible on this machine.
	Name func(pid int) string
	// Now is the clock of the readings.
	Now func() time.Time
}
