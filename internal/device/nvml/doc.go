// Package nvml reads and controls NVIDIA GPUs through NVIDIA's management
// library, which comes with the driver and is loaded at run time: pawl builds and
// starts on machines that have none.
//
// It is the only package that knows go-nvml. The binding needs cgo; a build
// without it gets an Open that says so, and internal/device/smi takes over. The
// package knows nothing of locks, leases or rounds.
//
// Three facts about the library shape the code. A function that an old driver
// lacks must not be called at all, because the dynamic linker would end the
// process, so every call asks for its symbol first. The binding keeps the
// library's symbols in globals, so a library is opened once and stays open. And
// locked clocks have no getter: what they were before cannot be read.
//
// Errors wrap fs.ErrPermission where more permission is needed and
// errors.ErrUnsupported where this device or driver cannot do it.
package nvml

import "time"

// Options say how to open the library.
type Options struct {
	// Library is the file to load; empty means the driver's libnvidia-ml.so.1.
	Library string
	// Own reports whether a process belongs to pawl and is left out of states.
	Own func(pid int) bool
	// Name is the program a process runs, empty where this machine does not show it.
	Name func(pid int) string
	// Now is the clock of the readings.
	Now func() time.Time
}
