package tune

// Remaining estimates how much a search may still gain, as a fraction of the time. It is
// the gain of the last evaluations: as many as are still to come, but at most the later
// half. Gains get rarer, so the estimate is optimistic. It returns false if there is too
// little data.
func Remaining(best []float64, more int) (float64, bool) {
	const least = 8 // min evaluations for a trend
	n := len(best)
	if n < least || more < 0 || !(best[n-1] > 0) {
		return 0, false
	}
	back := min(more, n/2)
	was := best[n-1-back]
	if !(was > 0) {
		return 0, false
	}
	return max(0, 1-best[n-1]/was), true
}
