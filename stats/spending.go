package stats

// SpendingP returns the adjusted p-value of all looks so far: the smallest p divided by its share, at
// most 1. Stopping when it is at most alpha keeps the false alarm rate at or below alpha, however the
// looks depend on each other (Bonferroni's inequality). A look without a share is ignored.
func SpendingP(ps, shares []float64) float64 {
	smallest := 1.0
	for i, p := range ps[:min(len(ps), len(shares))] {
		if shares[i] > 0 {
			smallest = min(smallest, clampP(p)/shares[i])
		}
	}
	return smallest
}
