package tune

import (
	"math"
	"slices"
)

// Race says how many samples a point is worth: few at first, more only where it may still
// win.
//
// It compares bounds of medians that hold for every distribution of the noise: the bounds
// are samples themselves, by their ranks. A point that is as good as the best is given up
// only if one of the bounds is on the wrong side of its median, which at every look has a
// chance of at most 1 in 100. Slack comes on top of it, for what changes between one process
// and the next and no number of samples can show.
type Race struct {
	Looks []int   // samples after which to look, rising; the last is all that a point gets
	Slack float64 // by how much slower a point has to be beyond all doubt: 0.03
}

// What a race is without anything said.
const (
	firstLook    = 2
	secondLook   = 7 // the fewest of which the least is a bound
	defaultSlack = 0.03
	boundError   = 0.01 // chance that a bound is on the wrong side
	hopeless     = 2    // times the best: seen twice in a row, no more is needed
)

// NewRace is a race in which the best points get so many samples.
func NewRace(samples int) Race {
	r := Race{Slack: defaultSlack}
	if samples > firstLook {
		r.Looks = append(r.Looks, firstLook)
	}
	for n := secondLook; n < samples; n *= 2 {
		r.Looks = append(r.Looks, n)
	}
	r.Looks = append(r.Looks, max(samples, 1))
	return r
}

// First is how many samples a point is given before anything is known of it.
func (r Race) First() int { return r.Looks[0] }

// More is how many samples to add, from those that there are and those of the best point
// so far. None are added when all are there or when the point has lost: then it cannot be
// the best any more.
func (r Race) More(samples, best []float64) (more int, lost bool) {
	if r.lost(samples, best) {
		return 0, true
	}
	for _, n := range r.Looks {
		if n > len(samples) {
			return n - len(samples), false
		}
	}
	return 0, false
}

func (r Race) lost(samples, best []float64) bool {
	if len(best) == 0 || len(samples) == 0 {
		return false
	}
	upper := upperBound(best)
	if low := slices.Min(samples); len(samples) >= firstLook && low > hopeless*upper {
		return true
	}
	lower, known := lowerBound(samples)
	return known && lower > upper*(1+r.Slack)
}

// lowerBound is a sample below which the median lies with a chance of at most boundError;
// with too few samples there is none.
func lowerBound(samples []float64) (float64, bool) {
	rank := boundRank(len(samples))
	if rank == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[rank-1], true
}

// upperBound is the same from above; with too few samples the largest has to do.
func upperBound(samples []float64) float64 {
	rank := max(boundRank(len(samples)), 1)
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)-rank]
}

// boundRank is the largest rank whose sample is above the median with a chance of at most
// boundError, 0 for none: fewer than rank of n samples are then below the median, of which
// each is with a chance of one half.
func boundRank(n int) int {
	chance, term := 0.0, math.Exp2(-float64(n))
	rank := 0
	for rank < n/2 {
		if chance += term; chance > boundError {
			break
		}
		rank++
		term *= float64(n-rank+1) / float64(rank)
	}
	return rank
}
