package stats

// dominance counts, over all pairs of one value from each set, which value is larger. Cliff's delta
// and the Mann-Whitney test both derive from it.
type dominance struct {
	pairs   float64
	greater float64 // pairs in which the first set's value is larger
	equal   float64
	ties    float64 // sum of t^3 - t over groups of t equal values in the combined sets
}

func newDominance(x, y Sorted) dominance {
	d := dominance{pairs: float64(len(x)) * float64(len(y))}
	below := 0 // values of y already passed
	for len(x) > 0 || len(y) > 0 {
		var v float64
		if len(y) == 0 || len(x) > 0 && x[0] <= y[0] {
			v = x[0]
		} else {
			v = y[0]
		}
		a, b := leading(x, v), leading(y, v)
		x, y = x[a:], y[b:]
		d.greater += float64(a) * float64(below)
		d.equal += float64(a) * float64(b)
		t := float64(a + b)
		d.ties += t*t*t - t
		below += b
	}
	return d
}

// leading returns how many values at the front of s equal v, the smallest value left.
func leading(s Sorted, v float64) int {
	n := 0
	for n < len(s) && !(s[n] > v) { // and not "== v": what is not a number must not stop the walk
		n++
	}
	return n
}
