// Package smi reads and controls NVIDIA GPUs through the program nvidia-smi, for
// machines where the management library cannot be loaded by name.
//
// The program's output is not a stable interface: a field may be renamed or missing,
// and one unknown field makes it refuse a whole query. So the package drops refused
// fields and asks again, and leaves missing values empty. It starts a process for
// every reading, which is slow; internal/kernel/device/nvml is preferred.
//
// Errors wrap fs.ErrPermission if more permission is needed and
// errors.ErrUnsupported if this device or driver cannot do it. The package
// knows nothing of locks, leases or rounds.
package smi
