package stats

import "math"

// Cliff returns Cliff's delta: the share of pairs in which the value of x is larger, minus the share in
// which the value of y is larger, from -1 to 1. It assumes no distribution, and ties count for neither
// side. It returns NaN if either set is empty or contains NaN.
func Cliff(x, y []float64) float64 { return Sort(x).Cliff(Sort(y)) }

// Cliff is like the function Cliff, for values that are already sorted.
func (s Sorted) Cliff(other Sorted) float64 {
	if !s.usable() || !other.usable() {
		return math.NaN()
	}
	d := newDominance(s, other)
	return (2*d.greater + d.equal - d.pairs) / d.pairs
}

// Effect names the size of a Cliff's delta.
type Effect string

// Effect sizes, with the thresholds of Romano and others (2006).
const (
	Negligible Effect = "negligible" // below 0.147
	Small      Effect = "small"      // below 0.33
	Medium     Effect = "medium"     // below 0.474
	Large      Effect = "large"
)

// EffectOf returns the effect size of a delta of either sign, or "" for NaN.
func EffectOf(delta float64) Effect {
	switch size := math.Abs(delta); {
	case math.IsNaN(size):
		return ""
	case size < 0.147:
		return Negligible
	case size < 0.33:
		return Small
	case size < 0.474:
		return Medium
	default:
		return Large
	}
}
