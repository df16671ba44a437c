//go:build race

package measure_test

const raceEnabled = true
