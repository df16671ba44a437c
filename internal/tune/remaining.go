package tune

// Remaining is about how much a search may still gain, as a part of the best time: what its last
// evaluations brought, as many as are still to come, but no more than the later half. Gains of a
// search get rarer, so it errs on the side of hope. False while there is too little to go by.
func Remaining(best []float64, more int) (float64, bool) {
	const least = 8 // evaluations before a trend means anything
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
