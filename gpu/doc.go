// Package gpu says what a GPU is and what state it was in: identity, clocks,
// temperature, power and the reasons a driver gives for slowing a device down.
//
// It knows words and limits, not drivers: reading a real device is the job of
// internal/device. It has no clock, no logger and no I/O, so that a state can be
// stored in a run record, sent to a server and compared years later.
//
// A host CPU is described with the same words (kind "cpu"): pawl measures host
// kernels too, and a testbed must name what it ran on either way.
package gpu
