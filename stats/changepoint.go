package stats

import (
	"cmp"
	"math"
	"slices"
)

// ChangePoint is a place in a series from which on its level is another.
type ChangePoint struct {
	Index  int     // of the first value of the new level
	Before float64 // mean since the change point before, or the start
	After  float64 // mean up to the next one, or the end
	P      float64 // of Student's t test between the two
}

// Magnitude is the change as a share of the level before or after, whichever makes
// it larger. Levels of zero have no share: 0.
func (c ChangePoint) Magnitude() float64 {
	var m float64
	if c.Before != 0 {
		m = math.Abs(c.After/c.Before - 1)
	}
	if c.After != 0 {
		m = max(m, math.Abs(c.Before/c.After-1))
	}
	return m
}

// ChangeFinder finds change points in the way of Apache Otava (Fleming and others,
// "Hunter", 2023): E-divisive in overlapping windows, with a t test in place of random
// permutations, finds candidates generously; then the weakest are taken back, one after
// the other, until all that are left are significant and large enough. The same series
// gives the same points. What is left zero takes its default.
//
// It assumes a series that stays at a level between changes, with independent, roughly
// normal noise. A slow drift comes out as steps; a value that is no number hides what its
// window holds. Of series of 100 normal values without a change about one in twenty gets
// a point, mostly a small one: who acts on points asks for a magnitude.
type ChangeFinder struct {
	Window       int     // 50 values; at least 2
	MaxP         float64 // 0.001
	MinMagnitude float64 // 0: any size
	// Quantum is the step in which values were read, 0 if unknown. Five values of 61 and one
	// of 62 have no spread on either side, and a t test without it takes one step of the
	// timer for certain. Otava does; a spread of the rounding mends it.
	Quantum float64
	// LikeOtava gives Otava's answers to the last point. When it takes a point back, it
	// judges the next two anew and leaves the one before with the verdict of fewer values;
	// here it is the neighbours on both sides, and every point that is left holds.
	LikeOtava bool
}

func (f ChangeFinder) withDefaults() ChangeFinder {
	if f.Window == 0 {
		f.Window = 50
	}
	f.Window = max(f.Window, 2)
	if f.MaxP == 0 {
		f.MaxP = 0.001
	}
	return f
}

// generous is the P that makes a candidate, as Otava chooses it: candidates that
// are close to each other weaken each other, and are judged once more when the wrong ones
// are gone.
func (f ChangeFinder) generous() float64 {
	switch {
	case f.MaxP < 0.05:
		return f.MaxP * 10
	case f.MaxP < 0.5:
		return f.MaxP * 2
	default:
		return f.MaxP
	}
}

// Find returns the change points of a series, in order.
func (f ChangeFinder) Find(series []float64) []ChangePoint {
	f = f.withDefaults()
	var candidates []int
	for start := 0; start < len(series); {
		var found []int
		found, start = f.window(series, start)
		candidates = append(candidates, found...)
	}
	return f.confirm(series, candidates)
}

// window finds the candidates of the window that begins at start, and where the
// next one begins: half a window on, or at the last candidate if that is further.
func (f ChangeFinder) window(series []float64, start int) (found []int, next int) {
	found = f.divide(series[start:min(start+f.Window, len(series))])
	next = start + f.Window/2
	for i := range found {
		found[i] += start
		next = max(next, found[i])
	}
	return found, next
}

// segment is a stretch without a candidate, and the best place for one.
type segment struct {
	from, to int
	at       int // 0 if there is none: a candidate always has values before it
	q        float64
}

func newSegment(window []float64, from, to int) segment {
	s := segment{from: from, to: to}
	if at, q := bestSplit(window[from:to]); at > 0 {
		s.at, s.q = from+at, q
	}
	return s
}

// divide splits a window where it falls apart most, then again, for as long as the
// two sides differ.
func (f ChangeFinder) divide(window []float64) []int {
	var found []int
	segments := []segment{newSegment(window, 0, len(window))}
	for {
		i := 0
		for j, s := range segments {
			if s.q > segments[i].q || segments[i].at == 0 {
				i = j
			}
		}
		s := segments[i]
		if s.at == 0 || f.compare(window, s.from, s.at, s.to).P > f.generous() {
			slices.Sort(found)
			return found
		}
		found = append(found, s.at)
		segments = slices.Replace(segments, i, i+1, newSegment(window, s.from, s.at), newSegment(window, s.at, s.to))
	}
}

// confirm takes back the weakest candidates until every one that is left holds.
// With each that goes, its neighbours have more values to be judged by.
func (f ChangeFinder) confirm(series []float64, candidates []int) []ChangePoint {
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	points := make([]ChangePoint, len(candidates))
	for i, at := range candidates {
		points[i].Index = at
	}
	judge := func(i int) {
		from, to := 0, len(series)
		if i > 0 {
			from = points[i-1].Index
		}
		if i+1 < len(points) {
			to = points[i+1].Index
		}
		points[i] = f.compare(series, from, points[i].Index, to)
	}
	for i := range points {
		judge(i)
	}
	for len(points) > 0 {
		weakest := most(points, func(p ChangePoint) float64 { return p.P })
		if points[weakest].P < f.MaxP {
			weakest = most(points, func(p ChangePoint) float64 { return -p.Magnitude() })
			if points[weakest].Magnitude() > f.MinMagnitude {
				break
			}
		}
		points = slices.Delete(points, weakest, weakest+1)
		first := weakest - 1
		if f.LikeOtava {
			first = weakest
		}
		for i := max(first, 0); i < min(first+2, len(points)); i++ {
			judge(i)
		}
	}
	return points
}

// most is the first point for which the measure is largest.
func most(points []ChangePoint, measure func(ChangePoint) float64) int {
	best := 0
	for i, p := range points {
		if cmp.Compare(measure(p), measure(points[best])) > 0 {
			best = i
		}
	}
	return best
}

// compare is Student's t test between the values before and from at on. As in
// Otava the variances are those of the sides themselves, divided by n and not by n-1.
func (f ChangeFinder) compare(series []float64, from, at, to int) ChangePoint {
	n, m := float64(at-from), float64(to-at)
	before, squares := moments(series[from:at])
	after, others := moments(series[at:to])
	p := ChangePoint{Index: at, Before: before, After: after, P: 1}
	df := n + m - 2
	if !(df > 0) || before == after {
		return p
	}
	variance := max(((n-1)*squares/n+(m-1)*others/m)/df, f.Quantum*f.Quantum/12)
	t := math.Abs(after-before) / math.Sqrt(variance*(1/n+1/m))
	p.P = 2 * TCDF(-t, df)
	return p
}
