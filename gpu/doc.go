// Package gpu describes GPUs and their state: identity, architecture limits, peak rates, occupancy and
// the fastest possible time of a kernel; and clocks, temperature, power and the reasons a driver gives
// for slowing a device down.
//
// It defines terms and limits and has no access to drivers: package internal/kernel/device reads real devices.
// It has no clock, no logger and no I/O, so that a state can be stored in a run record, sent to a server
// and compared years later.
//
// Hardware figures are cells: each names its source and whether the figure is certain.
// docs/reference/hardware.md lists them all.
//
// A host CPU is described in the same terms (kind "cpu"): pawl also measures host kernels, and a testbed
// must name the device either way.
package gpu
