package stats

import "math"

// Spending is how much of the false alarm rate may be used up by the time a share
// t of the planned rounds is in: from 0 at 0 to 1 at 1. Whoever looks at 4, 8, 16 and 32
// rounds and stops when a test says so has four chances of a false alarm; spending
// divides one alpha among them.
type Spending func(t float64) float64

// PowerSpending is t^rho: 1 spends evenly with the rounds, 3 keeps most for the last
// looks.
func PowerSpending(rho float64) Spending {
	return func(t float64) float64 { return math.Pow(t, rho) }
}

// OBrienFlemingSpending is that of Lan and DeMets which stays close to the
// boundaries of O'Brien and Fleming: next to nothing early.
func OBrienFlemingSpending(alpha float64) Spending {
	z := -NormalQuantile(alpha / 2)
	return func(t float64) float64 { return 2 * NormalCDF(-z/math.Sqrt(t)) / alpha }
}

// PocockSpending is that of Lan and DeMets which stays close to the boundaries of
// Pocock: about the same z at every look.
func PocockSpending() Spending {
	return func(t float64) float64 { return math.Log1p((math.E - 1) * t) }
}

// Shares is the part of alpha that each look may spend, for looks at increasing
// numbers of rounds. They sum to 1, or to less if the function does not reach it. Nil if
// the numbers do not increase.
func (s Spending) Shares(looks []int) []float64 {
	if !increasing(looks) {
		return nil
	}
	shares := make([]float64, len(looks))
	var spent float64
	for i, n := range looks {
		upTo := s(float64(n) / float64(looks[len(looks)-1]))
		if upTo > spent { // and not NaN
			shares[i] = min(upTo, 1) - spent
			spent += shares[i]
		}
	}
	return shares
}

// Weights are shares that someone chose, scaled to sum to 1. Nil unless all are
// finite and none is negative.
func Weights(weights ...float64) []float64 {
	var sum float64
	for _, w := range weights {
		if !(w >= 0) {
			return nil
		}
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil
	}
	shares := make([]float64, len(weights))
	for i, w := range weights {
		shares[i] = w / sum
	}
	return shares
}

// SpendingP is the P of all looks so far, adjusted: the smallest p over its
// share, at most 1. To stop when it is alpha or less makes false alarms at a rate of alpha
// at most, whatever the looks have to do with each other (Bonferroni's inequality). A look
// without a share decides nothing.
func SpendingP(ps, shares []float64) float64 {
	smallest := 1.0
	for i, p := range ps[:min(len(ps), len(shares))] {
		if shares[i] > 0 {
			smallest = min(smallest, chance(p)/shares[i])
		}
	}
	return smallest
}

func increasing(looks []int) bool {
	last := 0
	for _, n := range looks {
		if n <= last {
			return false
		}
		last = n
	}
	return len(looks) > 0
}
