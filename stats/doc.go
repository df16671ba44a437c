// Package stats implements pawl's statistics as pure functions on slices of float64, using only the
// standard library. It never sorts or retains its arguments, uses neither a clock nor global
// randomness, and contains nothing specific to kernels.
//
// Ties are the normal case: device timers count in steps of half a microsecond or one microsecond, so
// a hundred samples hold a few dozen distinct values.
package stats
