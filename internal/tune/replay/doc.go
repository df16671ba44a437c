// Package replay knows recorded tuning spaces: every point with its status, its times
// and what it cost to evaluate. It runs strategies against them and counts what they
// reach, so that strategies can be compared without a device.
//
// Counting: an evaluation is the first visit of a point that satisfies the constraints;
// failed ones count. Repeats share nothing but the recording, which never changes.
//
// The package must not know any strategy: it is given one.
package replay
