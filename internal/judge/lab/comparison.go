package lab

import (
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// Side is one of the two sides of a comparison.
type Side int

// The sides.
const (
	Base Side = iota
	Candidate
)

// Comparison gives methods the rounds of two sides. All methods see the same rounds.
type Comparison interface {
	// Round returns a round of a side with its samples. Median returns the same round for methods that
	// need only its median, and is faster.
	Round(side Side, i int) ratchet.Round
	Median(side Side, i int) ratchet.Round
	// Most returns the maximum number of rounds of a side.
	Most(side Side) int
	// Together reports whether rounds with the same index were measured in the same minutes.
	Together() bool
	// Stored returns what a ledger would keep of the base, and the current session of the candidate
	// with its rounds.
	Stored(reference bool) (ratchet.Baseline, ratchet.Session, []ratchet.Round)
}

// samples returns the samples that a tool without rounds sees: one run of each side, or everything
// that was recorded.
func samples(c Comparison, side Side) stats.Sorted {
	n := c.Most(side)
	if c.Together() {
		n = 1
	}
	parts := make([]stats.Sorted, n)
	for i := range parts {
		parts[i] = c.Round(side, i).Sorted
	}
	return stats.Merge(parts...)
}

// medians returns the medians of the first rounds of a side.
func medians(c Comparison, side Side, most int) []float64 {
	list := make([]float64, min(most, c.Most(side)))
	for i := range list {
		list[i] = c.Median(side, i).Median
	}
	return list
}
