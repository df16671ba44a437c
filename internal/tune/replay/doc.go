// Package replay reads recorded tuning spaces: every point with its status, its times and
// its evaluation cost. It runs strategies on them and measures what they reach, so that
// strategies can be compared without a device.
//
// Counting: an evaluation is the first use of a point that satisfies the constraints;
// failed ones count. Repeats share nothing but the recording, which never changes.
//
// The package must not know any strategy: the caller passes one.
package replay
