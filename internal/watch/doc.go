// Package watch looks at histories that have grown, writes down what happened in them,
// and tells people. Reports that nobody looked at yet are the work to do; a look takes
// them and leaves events, groups of events and what is remembered of each series, all
// at once or not at all. A look that is repeated, late or cut off changes nothing: the
// answer is that of looking once at everything.
//
// The package must not know how anything is kept, nor how work is queued.
package watch
