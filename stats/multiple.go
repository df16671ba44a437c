package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts the p-values of several tests. The chance of any false alarm among those below alpha is
// then at most alpha, however the tests depend on each other. The order of ps is kept. NaN counts as 1.
func Holm(ps []float64) []float64 {
	adjusted := make([]float64, len(ps))
	var largest float64
	for done, i := range ascending(ps) {
		largest = max(largest, float64(len(ps)-done)*clampP(ps[i]))
		adjusted[i] = min(largest, 1)
	}
	return adjusted
}

// BenjaminiHochberg adjusts the p-values of several tests. Of those below alpha, at most a share alpha
// are false alarms on average. It assumes tests that are independent or positively dependent. The
// order of ps is kept. NaN counts as 1.
func BenjaminiHochberg(ps []float64) []float64 {
	adjusted := make([]float64, len(ps))
	smallest := 1.0
	for rank, i := range slices.Backward(ascending(ps)) {
		smallest = min(smallest, float64(len(ps))/float64(rank+1)*clampP(ps[i]))
		adjusted[i] = smallest
	}
	return adjusted
}

// ascending returns the indexes of the p-values, smallest first.
func ascending(ps []float64) []int {
	places := make([]int, len(ps))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(clampP(ps[a]), clampP(ps[b])) })
	return places
}

// clampP returns p clamped to [0, 1]; NaN counts as 1, no evidence.
func clampP(p float64) float64 {
	if math.IsNaN(p) {
		return 1
	}
	return min(max(p, 0), 1)
}
