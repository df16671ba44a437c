// Package pawl is the performance feedback loop for GPU kernels.
//
// On every change pawl builds the kernel, proves it right, measures it against its base
// on the same device in the same minutes, says why it changed, and keeps every sample. A pawl is the catch of a
// ratchet: the wheel turns forward and never slips back.
//
// This package holds no code, only the rules of the house as tests (arch_test.go).
// Where to begin reading:
//
//	measure           what was measured: the run record, the heart of every format
//	internal/trial    how: rounds of fresh processes, interleaved, warmed up, grown
//	internal/bench    the steps of a run on this machine, each undone at the end
//	internal/harness  the conversation with the user's program
//	internal/suite    what pawl.yaml says
//	internal/device   the device it runs on: state, clocks, locks
//	internal/diagnose why it is slow: rules and causes as data
//	internal/cli      one file a command
//
// docs/explanation/architecture.md draws the whole.
package pawl
