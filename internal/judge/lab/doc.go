// Package lab measures pawl's judge: how often it accuses unchanged code, how often it misses a
// slowdown, and how many rounds it needs, beside the rules of other tools on the same data. It also
// measures the tuner: how close its strategies come to the best point of recorded spaces.
//
// The data are recordings, recordings with known differences added, and a documented generator. Every
// figure is reproducible from a seed. The package drives pawl's own loop and judge and has no rules of
// its own for them. It must not know how rounds are measured on a device or how a verdict is reported
// to users.
package lab
