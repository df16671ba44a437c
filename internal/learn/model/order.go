package model

import (
	"cmp"
	"slices"
)

// order says who comes first, as indices. What is equal is put by its prior, then by its
// name, so that a list does not change from one day to the next.
func order(list []Ranked, score []float64) []int {
	at := make([]int, len(list))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		x, y := list[a], list[b]
		return cmp.Or(
			cmp.Compare(rounded(score[b]), rounded(score[a])),
			cmp.Compare(y.Prior, x.Prior),
			cmp.Compare(x.Fix, y.Fix),
			cmp.Compare(x.Class, y.Class),
			cmp.Compare(x.GPU, y.GPU),
			cmp.Compare(x.Kernel, y.Kernel),
		)
	})
	return at
}
