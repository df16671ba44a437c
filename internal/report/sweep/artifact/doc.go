// Package artifact writes the published result of a sweep: one folder, and the same as one
// archive. It contains the record, the environment, the commands that reproduce it, tables
// for people, programs and papers, figures, and a list of digests.
//
// Everything but the writing is pure: the same record gives the same bytes. Names in a
// record are untrusted, so each format escapes them in its own way. The package must not
// analyze: package sweep decides the results.
package artifact
