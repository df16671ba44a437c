package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts the p-values of several tests so that rejecting those below alpha
// makes any false alarm at all with a chance of at most alpha, whatever the tests have to
// do with each other. The order is kept. NaN counts as 1.
func Holm(ps []float64) []float64 {
	adjusted := make([]float64, len(ps))
	var largest float64
	for done, i := range ascending(ps) {
		largest = max(largest, float64(len(ps)-done)*chance(ps[i]))
		adjusted[i] = min(largest, 1)
	}
	return adjusted
}

// BenjaminiHochberg adjusts the p-values of several tests so that of those below
// alpha at most a share alpha are false alarms, on average. It assumes tests that are
// independent or positively related. The order is kept. NaN counts as 1.
func BenjaminiHochberg(ps []float64) []float64 {
	adjusted := make([]float64, len(ps))
	smallest := 1.0
	for rank, i := range slices.Backward(ascending(ps)) {
		smallest = min(smallest, float64(len(ps))/float64(rank+1)*chance(ps[i]))
		adjusted[i] = smallest
	}
	return adjusted
}

// ascending is the places of the p-values, the smallest first.
func ascending(ps []float64) []int {
	places := make([]int, len(ps))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(chance(ps[a]), chance(ps[b])) })
	return places
}

// chance is a p-value; what is none is no evidence.
func chance(p float64) float64 {
	if math.IsNaN(p) {
		return 1
	}
	return min(max(p, 0), 1)
}
