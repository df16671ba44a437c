package ratchet

import (
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// looks holds the results of all looks at a case so far. Looking four times and stopping as soon as a test is
// significant gives four chances of an error, so every look may spend only its share of the error rate.
type looks struct {
	difference          // at the last look
	rounds      int     // per side
	claimRounds int     // rounds that a claim needs, unless the difference is obvious
	slower      float64 // P against "not worse at all", adjusted, of all looks
	faster      float64 // P against "not better at all", adjusted, of all looks
	kept        float64 // P against "worse by the limit or more", adjusted, of the last look
}

// look repeats all looks up to the current number of rounds.
func (e Evidence) look(p Policy, l limits) looks {
	out := looks{rounds: e.Rounds(), slower: 1, faster: 1, kept: 1}
	if !e.Paired { // a single look, at the end
		out.difference = e.apartDifference(p)
		machine := math.Log1p(p.Apart)
		out.slower = p.claimApart(e, out.above(0), out.above(machine))
		out.faster = p.claimApart(e, out.below(0), out.below(-machine))
		out.kept = out.below(l.slower)
		return out
	}
	out.claimRounds = p.claimRounds()
	all := newPairs(p, e)
	last := p.lookAt(out.rounds)
	var slower, faster []float64 // p-value of each look
	for k := range last + 1 {
		n := p.Looks[k]
		if k == last {
			n = out.rounds
		}
		out.difference = all.difference(p, n)
		slower = append(slower, p.claim(out.difference, l.slower, out.above(0)))
		faster = append(faster, p.claim(out.difference, l.slower, out.below(0)))
	}
	shares := p.claimShares()
	out.slower, out.faster = stats.SpendingP(slower, shares), stats.SpendingP(faster, shares)
	if !out.masksSlowdown(l.slower) {
		narrow := out.difference
		narrow.varianceFactor = 1
		out.kept = stats.SpendingP([]float64{narrow.below(l.slower)}, p.BetaShares[last:])
	}
	return out
}

// limits holds the limits of one case, as logarithms.
type limits struct{ slower, faster, moves float64 }

func (p Policy) limits(name string) limits {
	slower, faster, moves := p.Slower, p.MinSpeedup, p.MoveGain
	benchmark, _, _ := strings.Cut(name, "/")
	for _, c := range p.Cases {
		if !measure.MatchCase(c.Match, name, benchmark) {
			continue
		}
		if c.Slower > 0 {
			slower = c.Slower
		}
		if c.Faster > 0 {
			faster = c.Faster
		}
		if c.Moves > 0 {
			moves = c.Moves
		}
	}
	return limits{math.Log1p(slower), math.Log1p(faster), math.Log1p(moves)}
}
