//go:build !race

package wake

const schedules = 1000
