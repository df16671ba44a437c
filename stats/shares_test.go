package stats

import "math"

// Spending is an alpha spending function: the share of the false alarm rate that may be spent once a
// share t of the planned rounds is complete, from 0 at 0 to 1 at 1. Looking at 4, 8, 16 and 32 rounds
// and stopping when a test is significant gives four chances of a false alarm; Spending divides one
// alpha among them.
type Spending func(t float64) float64

// PowerSpending returns t^rho: a rho of 1 spends evenly with the rounds, 3 keeps most for the last
// looks.
func PowerSpending(rho float64) Spending {
	return func(t float64) float64 { return math.Pow(t, rho) }
}

// OBrienFlemingSpending returns the function of Lan and DeMets that approximates the boundaries of
// O'Brien and Fleming: it spends almost nothing early.
func OBrienFlemingSpending(alpha float64) Spending {
	z := -NormalQuantile(alpha / 2)
	return func(t float64) float64 { return 2 * NormalCDF(-z/math.Sqrt(t)) / alpha }
}

// PocockSpending returns the function of Lan and DeMets that approximates the boundaries of Pocock:
// about the same z at every look.
func PocockSpending() Spending {
	return func(t float64) float64 { return math.Log1p((math.E - 1) * t) }
}

// Shares returns the share of alpha that each look may spend, for looks at increasing numbers of
// rounds. The shares sum to 1, or to less if the function does not reach 1. Shares returns nil if the
// numbers do not increase.
func (s Spending) Shares(looks []int) []float64 {
	if !increasing(looks) {
		return nil
	}
	shares := make([]float64, len(looks))
	var spent float64
	for i, n := range looks {
		upTo := s(float64(n) / float64(looks[len(looks)-1]))
		if upTo > spent { // false for NaN too
			shares[i] = min(upTo, 1) - spent
			spent += shares[i]
		}
	}
	return shares
}

// Weights scales chosen weights to shares that sum to 1. It returns nil if a weight is negative or not
// finite, or if all are zero.
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
