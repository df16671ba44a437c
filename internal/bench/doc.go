// Package bench drives a run on this machine: it builds the sides, takes the
// device, measures and leaves a record. What it does it tells as events; how they look
// is not its business.
//
// The rules of measuring live in trial, those of devices in device, those of the
// record in measure. Here is only the order of steps, and that each is undone
// whatever happens: clocks restored, device released, worktree removed, journal closed.
package bench
