package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// Runoff chooses among the best points of a search by measuring them again. The lowest of
// many noisy values is rarely that of the best point. Every entrant is measured once per
// lap; entrants that are clearly slower drop out.
type Runoff struct {
	entrants []entrant
	lap      []int // points still to be measured in this lap
	laps     int
	draws    int
}

type entrant struct {
	point  int
	values []float64 // logarithms
	out    bool
}

const (
	runoffEntrants = 24
	runoffWithin   = 0.15 // of the best value, in log time: noise that can hide a winner
	minLaps        = 8    // min laps before an entrant drops out
	maxLaps        = 40   // max laps
)

// NewRunoff returns a runoff among the best outcomes of a search.
func NewRunoff(told []Outcome) *Runoff {
	values := map[int][]float64{}
	var points []int
	for _, o := range told {
		if o.Failed || !(o.Value > 0) {
			continue
		}
		if values[o.Point] == nil {
			points = append(points, o.Point)
		}
		values[o.Point] = append(values[o.Point], math.Log(o.Value))
	}
	least := func(p int) float64 { return slices.Min(values[p]) }
	slices.SortStableFunc(points, func(a, b int) int { return cmp.Compare(least(a), least(b)) })
	r := &Runoff{}
	for _, p := range points[:min(len(points), runoffEntrants)] {
		if least(p)-least(points[0]) <= runoffWithin {
			// The search's value is not used, because it is biased: it selected the point.
			r.entrants = append(r.entrants, entrant{point: p})
		}
	}
	return r
}

// Next returns the next point to measure; false when the runoff is over.
func (r *Runoff) Next() (int, bool) {
	if len(r.lap) == 0 && !r.newLap() {
		return 0, false
	}
	p := r.lap[0]
	r.lap = r.lap[1:]
	r.draws++
	return p, true
}

func (r *Runoff) newLap() bool {
	r.drop()
	var list []int
	for _, e := range r.entrants {
		if !e.out {
			list = append(list, e.point)
		}
	}
	if r.laps == maxLaps || len(list) < 2 {
		return false
	}
	r.laps++
	r.lap = list
	return true
}

// Tell records a value of a point that Next returned.
func (r *Runoff) Tell(point int, value float64) {
	for i := range r.entrants {
		if e := &r.entrants[i]; e.point == point && value > 0 {
			e.values = append(e.values, math.Log(value))
		}
	}
}

// drop removes entrants whose median is behind the leader's by more than chance explains.
func (r *Runoff) drop() {
	if r.laps < minLaps {
		return
	}
	lead := r.leader()
	if lead < 0 {
		return
	}
	first := stats.Median(r.entrants[lead].values)
	doubt := 3 * r.scatter() * math.Sqrt(2/float64(r.laps))
	for i := range r.entrants {
		e := &r.entrants[i]
		if i == lead || e.out {
			continue
		}
		e.out = len(e.values) == 0 || stats.Median(e.values)-first > doubt+1e-4
	}
}

// scatter returns the pooled standard deviation of values around the mean of their entrant.
// Pooling matters because with a clock of two levels, a few values of one entrant may show
// only one level.
func (r *Runoff) scatter() float64 {
	sum, free := 0.0, 0
	for _, e := range r.entrants {
		if e.out || len(e.values) < 2 {
			continue
		}
		mean := 0.0
		for _, v := range e.values {
			mean += v / float64(len(e.values))
		}
		for _, v := range e.values {
			sum += square(v - mean)
		}
		free += len(e.values) - 1
	}
	return math.Sqrt(sum / float64(max(free, 1)))
}

func (r *Runoff) leader() int {
	best, least := -1, math.Inf(1)
	for i, e := range r.entrants {
		if len(e.values) == 0 || e.out {
			continue
		}
		if m := stats.Median(e.values); m < least {
			best, least = i, m
		}
	}
	return best
}

// Draws returns how many values were requested.
func (r *Runoff) Draws() int { return r.draws }

// Winner returns the point with the lowest median; false without entrants.
func (r *Runoff) Winner() (int, bool) {
	if at := r.leader(); at >= 0 {
		return r.entrants[at].point, true
	}
	if len(r.entrants) > 0 {
		return r.entrants[0].point, true
	}
	return 0, false
}
