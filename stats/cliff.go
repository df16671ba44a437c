package stats

import "math"

// Cliff is Cliff's delta: the share of pairs in which the value of x is larger
// less the share in which that of y is, from -1 to 1. It asks for no distribution, and
// ties count for neither. NaN if either is empty.
func Cliff(x, y []float64) float64 { return Sort(x).Cliff(Sort(y)) }

// Cliff is that of the package, without its sorts.
func (s Sorted) Cliff(other Sorted) float64 {
	if !s.usable() || !other.usable() {
		return math.NaN()
	}
	d := newDominance(s, other)
	return (2*d.greater + d.equal - d.pairs) / d.pairs
}

// Effect says in a word how large a Cliff's delta is.
type Effect string

// The words of Romano and others (2006).
const (
	Negligible Effect = "negligible" // below 0.147
	Small      Effect = "small"      // below 0.33
	Medium     Effect = "medium"     // below 0.474
	Large      Effect = "large"
)

// EffectOf is the word for a delta of either sign; empty for NaN.
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
