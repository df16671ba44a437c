// Package gpu says what a GPU is and what state it was in: identity, the limits
// of its architecture, the peaks of the card, how many blocks of a kernel fit on
// it, how fast it can be at best; and clocks, temperature, power and the reasons
// a driver gives for slowing a device down.
//
// It knows words and limits, not drivers: reading a real device is the job of
// internal/device. It has no clock, no logger and no I/O, so that a state can be
// stored in a run record, sent to a server and compared years later.
//
// Figures of hardware are cells: each names where it was published, and whether
// that is beyond doubt. docs/reference/hardware.md shows all of them.
//
// A host CPU is described with the same words (kind "cpu"): pawl measures host
// kernels too, and a testbed must name what it ran on either way.
package gpu
