package ratchet

import (
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// Dependence holds the factors by which the variance of the mean of 1, 2, 4, 8, 16 and 32 rounds exceeds
// that of independent rounds with the same spread. If rounds resemble their neighbors, more of them add
// little information. A test that ignores this makes many times its nominal rate of false claims.
//
// If it is empty, nothing is known about the testbed, and some dependence is assumed. A single 1 means
// that rounds were found to be independent.
type Dependence []float64

// Assumptions for an unknown testbed: the variance ratio, and the number of rounds that a claim needs. With
// these, rounds with a correlation of 0.6 between neighbors make about the nominal rate of false claims.
const (
	assumedRatio  = 2.75
	assumedRounds = 16
)

// dependentRounds is the number of rounds that a claim needs if rounds are known to be dependent. A speed
// that lasts for several rounds looks like a quiet machine during that time.
const dependentRounds = 48

// obvious is the multiple of its limit at which a difference can be claimed with fewer rounds.
const obvious = 5

// Parameters for estimating a ratio from blocks of rounds: the largest block size, the size that must be
// estimated for any result, and the minimum number of blocks. A ratio counts as above 1 if it exceeds 1 by
// this many standard errors.
const (
	largestBlock = 32
	neededBlock  = 8
	minBlocks    = 40
	sure         = 3
)

// DependenceRounds is the number of rounds of identical code, over all cases, needed for an estimate.
const DependenceRounds = neededBlock * minBlocks

// NewDependence estimates the dependence from cases with the same code on both sides. Each case is given by
// the log ratios of its sides, in the order of rounds. Their true mean is 0, so the means of blocks show how
// much means vary. NewDependence returns nil if there are too few rounds.
func NewDependence(cases [][]float64) Dependence {
	var scaled [][]float64
	for _, ratios := range cases {
		spread := stats.RobustSD(ratios)
		if len(ratios) < neededBlock || !(spread > 0) {
			continue
		}
		calm := make([]float64, len(ratios))
		for i, v := range ratios {
			calm[i] = max(-outlierSDs, min(v/spread, outlierSDs)) // the judge trims wild rounds too
		}
		scaled = append(scaled, calm)
	}
	d := Dependence{1}
	depends := false
	for size := 2; size <= largestBlock; size *= 2 {
		ratio, blocks := varianceRatio(scaled, size)
		if blocks < minBlocks {
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

// varianceRatio compares the variance of block means with that of the rounds within blocks.
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

// Words describes what is known, and the consequence for a gate.
func (d Dependence) Words() string {
	switch len(d) {
	case 0:
		return fmt.Sprintf("it is not known yet whether rounds here depend on each other: a claim needs %d rounds, unless it is obvious", assumedRounds)
	case 1:
		return "rounds here do not depend on each other: a claim needs only as many rounds as its size requires"
	}
	return fmt.Sprintf("rounds here depend on each other: the mean of %d rounds varies %.1f times as much as that of independent rounds; a claim needs %d rounds, unless it is obvious", assumedRounds, math.Sqrt(d.at(assumedRounds)), d.rounds())
}

// at returns the ratio for a number of rounds. Beyond the estimated range it extrapolates linearly.
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

// rounds returns the number of rounds that a claim needs, unless the difference is obvious.
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

// dependence returns the dependence that the policy assumes. The first edition treats rounds as independent.
func (p Policy) dependence() Dependence {
	if p.Edition < secondEdition {
		return Dependence{1}
	}
	return p.Dependence
}

// claimRounds returns the number of rounds that a claim needs, unless the difference is obvious. If the plan
// has fewer rounds, claims are made at its end.
func (p Policy) claimRounds() int { return min(p.dependence().rounds(), p.Looks[len(p.Looks)-1]) }

// claimShares returns how the looks spend alpha. If rounds may be dependent, the looks with enough rounds
// for any claim divide alpha in proportion to their rounds: with more rounds, chance is better known. The
// earlier looks, which can claim only obvious differences, keep their AlphaShares.
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

// claim returns the p-value for claiming a difference whose own p-value is value: 1 if there are too few
// rounds.
func (p Policy) claim(d difference, limit, value float64) float64 {
	if d.n < p.claimRounds() && math.Abs(d.mean) < obvious*limit {
		return 1
	}
	return value
}
