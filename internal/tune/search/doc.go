// Package search implements strategies that search a space for its best point. A strategy
// is asked what to evaluate next and told the outcomes.
//
// A strategy never proposes a point twice and never waits for an outcome: 64 evaluations
// may be pending at once. It is determined by its seed and the order of the outcomes.
//
// The package must not know how a point is evaluated: no builds, no devices, no clocks.
package search
