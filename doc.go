// Package pawl is the performance feedback loop for GPU kernels.
//
// On every change, pawl builds the kernel, checks its results, and measures it against its base on the
// same device at the same time. It then explains why the speed changed, and keeps every sample. A pawl is
// the catch of a ratchet: the wheel turns forward and never slips back.
//
// This package contains no code, only tests that enforce the architecture rules (arch_test.go).
// Where to start reading:
//
//	measure           what was measured: the run record, on which every other format builds
//	internal/trial    how: rounds of fresh processes, interleaved, warmed up, grown
//	internal/bench    the steps of a run on this machine, each undone at the end
//	internal/harness  the protocol spoken with the user's program
//	internal/suite    the contents of pawl.yaml
//	internal/device   the device under test: state, clocks, locks
//	internal/diagnose why a kernel is slow: rules and causes as data
//	internal/cli      one file per command
//
// See docs/explanation/architecture.md for the full picture.
package pawl
