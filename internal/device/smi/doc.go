// Package smi reads and controls NVIDIA GPUs through the program nvidia-smi, for
// builds of pawl without cgo and for machines where the management library cannot
// be loaded by name.
//
// The program's text is not a stable interface: a field may be renamed or missing,
// and one unknown field makes it refuse a whole query. So the package asks, drops
// what is refused and asks again, and leaves empty what it is not told. It starts
// a process for every reading, which is slow; internal/device/nvml is preferred.
//
// Errors wrap fs.ErrPermission where more permission is needed and
// errors.ErrUnsupported where this device or driver cannot do it. The package
// knows nothing of locks, leases or rounds.
package smi
