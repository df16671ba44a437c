package sweep

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// entrant is an implementation in a comparison.
type entrant struct {
	name string
	*series
}

// rank compares all implementations pairwise. Tied implementations share a rank: the best
// rank is behind all that are shown to be faster, the worst is ahead of all that are shown
// to be slower.
//
// Ties are not transitive: a may be tied with b, and b with c, while a is faster than c.
// Then their ranks are 1 to 2, 1 to 3 and 2 to 3.
func rank(entrants []entrant) ([]Standing, []Pair, []stats.Paired) {
	pairs, evidence := allPairs(entrants)
	standings := make([]Standing, len(entrants))
	for i, e := range entrants {
		p := singleEvidence(e.at(e.rounds()), e.step)
		s := Standing{
			Implementation: e.name, Rounds: p.N, Time: math.Exp(p.Mean), Interval: ratio(p).Interval,
			Rank: 1, RankTo: len(entrants),
		}
		for _, pair := range pairs {
			s.count(pair)
		}
		standings[i] = s
	}
	slices.SortFunc(standings, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Implementation, b.Implementation))
	})
	return standings, pairs, evidence
}

// count updates the standing with one comparison.
func (s *Standing) count(p Pair) {
	other, faster := p.Against, p.Value > 1
	switch s.Implementation {
	case p.Of:
	case p.Against:
		other, faster = p.Of, !faster
	default:
		return
	}
	switch {
	case !p.Told:
		s.Tied = append(s.Tied, other)
	case faster:
		s.RankTo--
	default:
		s.Rank++
	}
}

// allPairs compares each implementation with those after it.
func allPairs(entrants []entrant) ([]Pair, []stats.Paired) {
	var pairs []Pair
	var evidence []stats.Paired
	var ps []float64
	for i, a := range entrants {
		for _, b := range entrants[i+1:] {
			rounds := shared(a.rounds(), b.rounds())
			p := compare(a.at(rounds), b.at(rounds), max(a.step, b.step))
			pair := Pair{Of: a.name, Against: b.name, Rounds: p.N, Ratio: ratio(p), P: twoSided(p)}
			if p.N == 0 { // no shared round: there is a ratio, but no evidence for it
				pair.Value = math.Exp(logTime(b.series) - logTime(a.series))
			}
			if enoughRounds(p) {
				pair.Spread = math.Expm1(p.SD)
			}
			pairs, evidence, ps = append(pairs, pair), append(evidence, p), append(ps, pair.P)
		}
	}
	for i, adjusted := range stats.Holm(ps) {
		pairs[i].Holm = adjusted
		pairs[i].Told = adjusted <= 1-Claims
	}
	return pairs, evidence
}

func logTime(s *series) float64 { return singleEvidence(s.at(s.rounds()), s.step).Mean }

// shared returns the values that two ascending lists have in common.
func shared(a, b []int) []int {
	var both []int
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			both, a, b = append(both, a[0]), a[1:], b[1:]
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return both
}
