package lab

import (
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// Side is one of the two that are compared.
type Side int

// The sides.
const (
	Base Side = iota
	Candidate
)

// Comparison is two sides whose rounds a method may ask for. All methods that look at
// it see the same rounds.
type Comparison interface {
	// Round is a round of a side with its samples, and Median the same round for who
	// needs only that: it is quicker to make.
	Round(side Side, i int) ratchet.Round
	Median(side Side, i int) ratchet.Round
	// Most is how many rounds of a side can be had.
	Most(side Side) int
	// Together says that rounds of one index were measured in the same minutes.
	Together() bool
	// Stored is what a ledger would keep of the base, and the session in which the
	// candidate is measured now, with its rounds.
	Stored(reference bool) (ratchet.Baseline, ratchet.Session, []ratchet.Round)
}

// samples are those that a tool without rounds looks at: one run of each side, or
// everything that was recorded.
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

// medians are those of the first rounds of a side.
func medians(c Comparison, side Side, most int) []float64 {
	list := make([]float64, min(most, c.Most(side)))
	for i := range list {
		list[i] = c.Median(side, i).Median
	}
	return list
}
