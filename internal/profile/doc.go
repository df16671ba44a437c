// Package profile is what a profiler saw of a kernel: one record whatever the tool
// (pawl.profile/v1), its readers, and the quantities that rules speak of.
//
// Tools disagree in names, units, columns and from release to release; all of that
// ends here. A record keeps every value as the tool gave it, under the tool's own
// name. Facts are the same values under names that never change.
//
// The package must not know how a profiler is started (profile/tool does) nor what a
// value means for the kernel (diagnose does).
package profile
