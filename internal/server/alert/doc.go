// Package alert scans histories that have grown, records the changes in them, and notifies people.
// Reports that were not scanned yet are the pending work. A scan takes them and writes events, groups of
// events and the state of each series, atomically. A repeated, late or interrupted scan gives the same
// result as one scan of everything.
//
// The package must not know how data is stored, nor how work is queued.
package alert
