// Package profile holds what a profiler measured of a kernel: one record for all tools
// (pawl.profile/v1), its readers, and the quantities that rules use.
//
// Tools differ in names, units and columns, also between releases; this package hides that. A
// record keeps every value as the tool gave it, under the tool's own name. Facts are the same
// values under names that never change.
//
// The package must not know how a profiler is started (profile/tool does) nor what a value means
// for the kernel (diagnose does).
package profile
