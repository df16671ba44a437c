package tune

import (
	"math"
	"slices"
)

// Race decides how many samples a point gets: few at first, more only if it may still win.
//
// It compares confidence bounds of medians that hold for every noise distribution: the
// bounds are order statistics of the samples. A point as good as the best is dropped only
// if one of the bounds is on the wrong side of its median. At every look the probability of
// that is at most 1 in 100. Slack is added for differences between processes, which no
// number of samples can show.
type Race struct {
	Looks []int   // sample counts at which to check, ascending; the last is the max per point
	Slack float64 // relative slowdown that must be certain before a point is dropped: 0.03
}

// Defaults of a race.
const (
	firstLook    = 2
	secondLook   = 7 // min samples for which the smallest is a bound
	defaultSlack = 0.03
	boundError   = 0.01 // probability that a bound is on the wrong side
	hopeless     = 2    // times the best: two samples above it are enough to drop a point
)

// NewRace returns a race in which the best points get the given number of samples.
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

// More returns how many samples to add, given those of the point and of the best point so
// far. It returns 0 if the point has all its samples or has lost, which means that it
// cannot be the best.
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

// lowerBound returns a lower bound of the median, wrong with probability at most
// boundError; false with too few samples.
func lowerBound(samples []float64) (float64, bool) {
	rank := boundRank(len(samples))
	if rank == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[rank-1], true
}

// upperBound returns the upper bound of the median; with too few samples, the largest one.
func upperBound(samples []float64) float64 {
	rank := max(boundRank(len(samples)), 1)
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)-rank]
}

// boundRank returns the largest rank whose sample is above the median with probability at
// most boundError; 0 for none. That happens if fewer than rank of n samples are below the
// median, where each is with probability one half.
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

// Remaining estimates how much a search may still gain, as a fraction of the time. It is
// the gain of the last evaluations: as many as are still to come, but at most the later
// half. Gains get rarer, so the estimate is optimistic. It returns false if there is too
// little data.
func Remaining(best []float64, more int) (float64, bool) {
	const least = 8 // min evaluations for a trend
	n := len(best)
	if n < least || more < 0 || !(best[n-1] > 0) {
		return 0, false
	}
	back := min(more, n/2)
	was := best[n-1-back]
	if !(was > 0) {
		return 0, false
	}
	return max(0, 1-best[n-1]/was), true
}
