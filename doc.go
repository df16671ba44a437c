// Package pawl is the performance feedback loop for GPU kernels.
//
// On every change, pawl builds the kernel, proves it correct, and measures it against its base on
// the same device in the same minutes. It says why the kernel changed and keeps every sample. A
// pawl is the catch of a ratchet: the wheel turns forward and never slips back.
//
// This package has no code, only the tests that hold for the whole repository: arch_test.go for the
// architecture, script_test.go for the commands, docs_test.go for the documentation.
//
// Start reading here:
//
//	measure                    the run record, the heart of every format
//	ratchet                    the judge: from evidence to a verdict
//	internal/kernel/suite      what pawl.yaml says
//	internal/kernel/harness    the protocol with the user's program
//	internal/kernel/device     the device: state, clocks, locks
//	internal/judge/trial       rounds of fresh processes in random order
//	internal/judge/runner      the steps of a run on this machine, each undone at the end
//	internal/explain/diagnose  why a kernel is slow: rules and causes as data
//	internal/cli               the commands
//
// docs/explanation/architecture.md shows the whole.
package pawl
