// Package tune records and interprets the evaluation of points in a tuning space. It
// contains the journal that keeps each evaluation once, the race that spends samples on
// points that may still win, and the analysis: which parameters mattered, what to change
// and how. Results are written as Markdown, as a page, and in the formats of other tools.
//
// Search spaces and strategies are in the packages below. This package must not know how a
// point is built or measured: the caller asks the race how many samples to take and adds
// the outcome to the journal.
package tune
