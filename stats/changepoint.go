package stats

import (
	"cmp"
	"math"
	"slices"
)

// ChangePoint is a position in a series at which its level changes.
type ChangePoint struct {
	Index  int     // index of the first value at the new level
	Before float64 // mean from the previous change point, or the start
	After  float64 // mean up to the next change point, or the end
	P      float64 // p-value of Student's t test between the two
}

// Magnitude returns the size of the change relative to the level before or after, whichever makes it
// larger. A level of zero is ignored; if both are zero, Magnitude returns 0.
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

// ChangeFinder finds change points by the method of Apache Otava (Fleming and others, "Hunter", 2023).
// E-divisive in overlapping windows, with a t test instead of random permutations, finds candidates
// generously. Then the weakest are removed, one by one, until all that remain are significant and
// large enough. The same series gives the same points. Zero fields take their defaults.
//
// It assumes a series that stays at one level between changes, with independent, roughly normal noise.
// A slow drift is reported as steps; a NaN hides the changes in its window. About one in twenty series
// of 100 normal values without a change gets a point, mostly a small one. Callers that act on points
// should set MinMagnitude.
type ChangeFinder struct {
	Window       int     // number of values per window; default 50, at least 2
	MaxP         float64 // largest p-value of a change point; default 0.001
	MinMagnitude float64 // smallest Magnitude of a change point; default 0: any size
	// Quantum is the resolution of the values, 0 if unknown. Five values of 61 and one of 62 have no
	// spread on either side, so without Quantum a t test is certain about a single step of the timer.
	// Otava has this flaw; assuming at least the spread of rounding avoids it.
	Quantum float64
	// LikeOtava reproduces Otava's results exactly. After removing a point, Otava rejudges the next
	// two points and leaves the previous one with a verdict from fewer values. By default the neighbors
	// on both sides are rejudged, so every remaining point holds.
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

// candidateP returns the largest p-value of a candidate, chosen as in Otava. Candidates close to each
// other weaken each other; they are judged again once the wrong ones are removed.
func (f ChangeFinder) candidateP() float64 {
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

// window returns the candidates of the window at start, and the start of the next window: half a
// window later, or at the last candidate if that is further.
func (f ChangeFinder) window(series []float64, start int) (found []int, next int) {
	found = f.divide(series[start:min(start+f.Window, len(series))])
	next = start + f.Window/2
	for i := range found {
		found[i] += start
		next = max(next, found[i])
	}
	return found, next
}

// segment is a stretch without a candidate, together with its best split.
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

// divide splits a window at its strongest change, and repeats on the parts while the two sides of a
// split differ. It returns the splits in order.
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
		if s.at == 0 || f.compare(window, s.from, s.at, s.to).P > f.candidateP() {
			slices.Sort(found)
			return found
		}
		found = append(found, s.at)
		segments = slices.Replace(segments, i, i+1, newSegment(window, s.from, s.at), newSegment(window, s.at, s.to))
	}
}

// confirm removes the weakest candidates until every remaining one holds. After each removal, the
// neighbors are judged again on more values.
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
		weakest := argMax(points, func(p ChangePoint) float64 { return p.P })
		if points[weakest].P < f.MaxP {
			weakest = argMax(points, func(p ChangePoint) float64 { return -p.Magnitude() })
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

// argMax returns the index of the first point with the largest measure.
func argMax(points []ChangePoint, measure func(ChangePoint) float64) int {
	best := 0
	for i, p := range points {
		if cmp.Compare(measure(p), measure(points[best])) > 0 {
			best = i
		}
	}
	return best
}

// compare runs Student's t test between the values before at and those from at on. As in Otava, the
// variance of each side is divided by n, not by n-1.
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
