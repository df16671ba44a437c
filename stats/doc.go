// Package stats is pawl's statistics: pure functions on slices of float64, with
// the standard library alone. It never sorts or keeps what it is given, has no
// clock and no randomness of its own, and knows nothing of kernels.
//
// Ties are the normal case: device timers count in steps of half a microsecond
// or one, so a hundred samples hold a few dozen values.
package stats
