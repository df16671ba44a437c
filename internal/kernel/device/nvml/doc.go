// Package nvml reads and controls NVIDIA GPUs through NVIDIA's management
// library. The library comes with the driver and is loaded at run time: pawl builds
// and starts on machines without it.
//
// It is the only package that knows go-nvml. The binding needs cgo. In a build
// without cgo, Open returns an error, and internal/kernel/device/smi is used instead. The
// package knows nothing of locks, leases or rounds.
//
// Three facts about the library shape the code. A function that an old driver
// lacks must not be called at all, because the dynamic linker would end the
// process, so every call checks for its symbol first. The binding keeps the
// library's symbols in globals, so a library is opened once and stays open. And
// locked clocks have no getter: their previous values cannot be read.
//
// Errors wrap fs.ErrPermission if more permission is needed and
// errors.ErrUnsupported if this device or driver cannot do it.
package nvml

import "time"

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
