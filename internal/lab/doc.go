// Package lab measures the judge: how often it accuses innocent code, how often it
// misses a slowdown, and how many rounds it takes for that, beside the rules of other
// tools on the same data. And it measures the tuner: how close its strategies come to the
// best point of recorded spaces.
//
// The data are recordings, recordings with known differences added, and a generator
// that says what it does. Every figure is reproducible from a seed. The package drives
// pawl's own loop and judge and has no rule of its own for them; it must not know how
// rounds are measured on a device or how a verdict is reported to users.
package lab
