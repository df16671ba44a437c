//go:build race

package wake

// The detector makes arithmetic ten times slower and finds nothing in it.
const schedules = 60
