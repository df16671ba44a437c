// Package artifact is what a sweep leaves behind for others: one folder, and the
// same as one archive, with the record, what it was measured on, the commands that
// repeat it, tables for people, programs and papers, figures, and a list of digests.
//
// Everything but the writing is pure: the same record gives the same bytes. Names
// in a record are written by strangers, so each format makes them harmless in its own
// way. It must not analyse: what is true is said by package sweep.
package artifact
