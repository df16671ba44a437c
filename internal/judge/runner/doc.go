// Package runner drives a run on this machine: it builds the sides, acquires the device, measures
// and writes a record. It reports progress as events and does not know how they are displayed.
//
// The rules of measuring are in trial, those of devices in device, those of the record in measure.
// This package contains the order of the steps. It undoes each of them whatever happens: clocks
// restored, device released, worktree removed, journal closed.
package runner
