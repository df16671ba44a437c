package ratchet

import (
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// Dependence is by how much the variance of the mean of 1, 2, 4, 8, 16 and 32 rounds exceeds what
// independent rounds of the same spread would have. Where a round resembles the one before, its neighbors
// say little new, and a test that does not know makes many times the false claims that it promises.
//
// Without a number nothing is known of the testbed, and some dependence is assumed. A single 1 says that
// rounds were found to be independent.
type Dependence []float64

// What is assumed of a testbed that is not known: the ratio, and how many rounds a claim needs. With these,
// rounds that resemble their neighbors by 0.6 make about as many false claims as promised.
const (
	assumedRatio  = 2.75
	assumedRounds = 16
)

// dependentRounds is how many rounds a claim needs where they are known to depend on each other. A speed
// that lasts for some rounds looks, for as long, like a quiet machine.
const dependentRounds = 48

// obvious is how many times its limit a difference must be to be claimed with fewer rounds than that.
const obvious = 5

// Blocks of rounds from which a ratio is estimated: the largest, the size that must be known for anything
// to be said, and how many there must be. A ratio counts as above 1 if it is so by this many of its
// standard errors.
const (
	largestBlock = 32
	neededBlock  = 8
	leastBlocks  = 40
	sure         = 3
)

// DependenceRounds is how many rounds of the same code, over all cases, tell it.
const DependenceRounds = neededBlock * leastBlocks

// NewDependence estimates it from cases whose sides were the same code: of each the logarithms of the ratios
// of the sides, in the order of rounds. Their true mean is 0, so the means of blocks show how much means
// vary. It is nil if there are too few.
func NewDependence(cases [][]float64) Dependence {
	var scaled [][]float64
	for _, ratios := range cases {
		spread := stats.RobustSD(ratios)
		if len(ratios) < neededBlock || !(spread > 0) {
			continue
		}
		calm := make([]float64, len(ratios))
		for i, v := range ratios {
			calm[i] = max(-farAway, min(v/spread, farAway)) // what is wild is trimmed by the judge
		}
		scaled = append(scaled, calm)
	}
	d := Dependence{1}
	depends := false
	for size := 2; size <= largestBlock; size *= 2 {
		ratio, blocks := varianceRatio(scaled, size)
		if blocks < leastBlocks {
			if size <= neededBlock {
				return nil
			}
			break
		}
		depends = depends || ratio*(1-sure*math.Sqrt(2/float64(blocks))) > 1
		d = append(d, max(ratio, d[len(d)-1]))
	}
	if !depends {
		return Dependence{1}
	}
	return d
}

// varianceRatio compares the variance of means of blocks with that of rounds inside them.
func varianceRatio(cases [][]float64, size int) (ratio float64, blocks int) {
	var between, within float64
	for _, ratios := range cases {
		for block := range slices.Chunk(ratios[:len(ratios)/size*size], size) {
			mean, sd := stats.Mean(block), stats.StdDev(block)
			between += mean * mean
			within += sd * sd
			blocks++
		}
	}
	return float64(size) * between / max(within, math.SmallestNonzeroFloat64), blocks
}

// Words say what is known, and what follows for a gate.
func (d Dependence) Words() string {
	switch len(d) {
	case 0:
		return fmt.Sprintf("whether rounds here depend on each other is not known yet: a claim takes %d rounds, unless it is obvious", assumedRounds)
	case 1:
		return "rounds here do not depend on each other: a claim takes as few rounds as its size allows"
	}
	return fmt.Sprintf("rounds here depend on each other: the mean of %d of them varies %.1f times as much as that of independent ones; a claim takes %d rounds, unless it is obvious", assumedRounds, math.Sqrt(d.at(assumedRounds)), d.rounds())
}

// at is the ratio for a number of rounds. Beyond what was estimated it grows on as it did at the end.
func (d Dependence) at(rounds int) float64 {
	switch len(d) {
	case 0:
		return assumedRatio
	case 1:
		return d[0]
	}
	last := len(d) - 2
	i := min(int(math.Log2(float64(max(rounds, 1)))), last)
	size := math.Exp2(float64(i))
	return d[i] + (d[i+1]-d[i])*(float64(rounds)-size)/size
}

// rounds is how many a claim needs, unless the difference is obvious.
func (d Dependence) rounds() int {
	switch len(d) {
	case 0:
		return assumedRounds
	case 1:
		return 0
	}
	if d.at(largestBlock) <= assumedRatio {
		return assumedRounds
	}
	return dependentRounds
}

// dependence is what the policy takes rounds for. The first edition took them to be independent.
func (p Policy) dependence() Dependence {
	if p.Edition < secondEdition {
		return Dependence{1}
	}
	return p.Dependence
}

// claimRounds is how many rounds a claim needs, unless the difference is obvious. A plan with fewer
// rounds than that claims at its end.
func (p Policy) claimRounds() int { return min(p.dependence().rounds(), p.Looks[len(p.Looks)-1]) }

// claimShares is how the looks spend alpha. Where rounds may depend on each other, those that can claim only
// what is obvious leave theirs to the others, in proportion to their rounds: the later, the better is known
// how much of it is chance.
func (p Policy) claimShares() []float64 {
	least, total := p.claimRounds(), 0
	if least == 0 {
		return p.AlphaShares
	}
	for _, n := range p.Looks {
		if n >= least {
			total += n
		}
	}
	shares := slices.Clone(p.AlphaShares)
	for k, n := range p.Looks {
		if n >= least {
			shares[k] = float64(n) / float64(total)
		}
	}
	return shares
}

// claim is the P of a claim with a difference, of which p is the P by itself: 1 where there are too few rounds.
func (p Policy) claim(d difference, limit, value float64) float64 {
	if d.n < p.claimRounds() && math.Abs(d.mean) < obvious*limit {
		return 1
	}
	return value
}
