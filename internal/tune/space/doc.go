// Package space defines the set of points a tuner may choose from: parameters with their
// values, constraints between them, and the points that satisfy all of them.
//
// Points are found without building the product: every constraint is checked as soon as its
// last parameter has a value, and equal subproblems are counted once. The same walk counts
// a space, samples it exactly uniformly and enumerates it. A space too large to hold is
// represented by a uniform sample.
//
// The package must not know what a point is used for: no times, no builds, no devices.
package space
