// Package space knows the set of points a tuner may choose from: parameters with
// their values, constraints between them, and the points that satisfy all of them.
//
// Points are found without building the product: every constraint is asked as soon as
// its last parameter has a value, and equal sub-problems are counted once. A space is
// counted, sampled exactly uniformly and enumerated by the same walk; a space too large
// to hold is held as a uniform sample.
//
// The package must not know what a point is good for: no times, no builds, no devices.
package space
