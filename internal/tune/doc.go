// Package tune knows what came of trying out points of a tuning space: evaluations, the
// journal that keeps each of them once, and the race that spends samples on those that may
// still win.
//
// Spaces and strategies live in the packages below. This one must not know how a point is
// built or measured: whoever does that asks the race how many samples to take, and adds what
// came of it to the journal.
package tune
