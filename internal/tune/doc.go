// Package tune knows what came of trying out points of a tuning space: evaluations, the
// journal that keeps each of them once, the race that spends samples on those that may still
// win, and what a search means: which parameters mattered, what to change and how, as Markdown,
// as a page, and in the formats of other tools.
//
// Spaces and strategies live in the packages below. This one must not know how a point is
// built or measured: whoever does that asks the race how many samples to take, and adds what
// came of it to the journal.
package tune
