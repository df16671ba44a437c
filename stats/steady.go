package stats

import "math"

// Steady reports whether a series has settled: the medians of its last two windows agree within a
// relative tolerance, one step of the timer, or three standard errors of their difference, whichever is
// largest. A kernel that is still speeding up (clocks ramping, caches filling, code being compiled)
// moves its median by more than its own noise explains.
func Steady(x []float64, window int, tolerance, quantum float64) bool {
	if window < 2 || len(x) < 2*window {
		return false
	}
	last := x[len(x)-window:]
	before := x[len(x)-2*window : len(x)-window]
	a, b := Median(before), Median(last)
	noise := max(RobustSD(before), RobustSD(last))
	// A median of n normal values has a standard error of 1.2533 sd/sqrt(n).
	stderr := 1.2533 * noise * math.Sqrt(2/float64(window))
	return math.Abs(a-b) <= max(tolerance*b, quantum, 3*stderr)
}
