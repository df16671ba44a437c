//go:build race

package testrun

// Race reports whether the race detector is on.
const Race = true
