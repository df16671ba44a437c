// Package search knows how to look for the best point of a space: strategies that are
// asked what to evaluate next and told what came out.
//
// A strategy never proposes a point twice, never waits for an answer (64 evaluators may
// be out at once), and is determined by its seed and the order of what it is told.
//
// The package must not know how a point is evaluated: no builds, no devices, no clocks.
package search
