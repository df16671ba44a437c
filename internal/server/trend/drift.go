package trend

import (
	"math"
	"slices"
)

// shortestDrift is the minimum number of points of a drift: fewer can show any direction by chance.
const shortestDrift = 30

// withDrifts finds drifts and completes the list of steps. A search for levels turns a slow slope into a
// staircase. If a line, or a slope between two levels, describes it as well with fewer parameters, it is
// one drift instead.
func (h history) withDrifts(steps []change) []change {
	parts := h.stretches(steps)
	var list []change
	ended := 0.0 // final level of the drift before; 0 if none ends here
	for i := 0; i < len(parts); {
		d, j, found := h.longest(parts, i)
		if i > 0 { // the change from the previous part
			c := steps[i-1]
			before, after := h.level(parts[i-1]), h.level(parts[i])
			if ended > 0 {
				before = ended
			}
			if j > i {
				after = d.before
			}
			if share(before, after) >= least {
				list = append(list, change{kind: Step, first: c.first, last: parts[j].to - 1, before: before, after: after, p: c.p})
			}
		}
		ended = 0
		if found {
			list, ended = append(list, d), d.after
		}
		i = j + 1
	}
	return list
}

// longest returns the drift that starts in part i and covers the most following parts, and the last of them.
func (h history) longest(parts []stretch, i int) (d change, last int, found bool) {
	for j := h.staircase(parts, i); j > i; j-- {
		whole := stretch{parts[i].from, parts[j].to}
		if h.sloped(whole, parts[i:j+1]) {
			if d, ok := h.drift(whole); ok {
				return d, j, true
			}
		}
		if d, ok := h.ramp(parts[i : j+1]); ok {
			return d, j, true
		}
	}
	d, found = h.drift(parts[i])
	return d, i, found
}

// staircase returns the last of the parts from i on that all change in the same direction.
func (h history) staircase(parts []stretch, i int) int {
	j := i
	for up := false; j+1 < len(parts); j++ {
		rises := h.level(parts[j+1]) > h.level(parts[j])
		if j > i && rises != up {
			break
		}
		up = rises
	}
	return j
}

// sloped reports whether a line describes the whole better than the levels of its parts.
func (h history) sloped(whole stretch, parts []stretch) bool {
	var levels float64
	for _, p := range parts {
		levels += h.line(p).flat
	}
	line := criterion(h.line(whole).residual, whole.n(), 2)
	return whole.n() >= shortestDrift && line < criterion(levels, whole.n(), float64(2*len(parts)-1))
}

// drift returns the drift of a stretch without steps, if there is one. A difference of ten in the
// criterion is called very strong.
func (h history) drift(s stretch) (change, bool) {
	f := h.line(s)
	if s.n() < shortestDrift || share(f.begin, f.end) < least || f.p > maxP {
		return change{}, false
	}
	if criterion(f.residual, s.n(), 2)+10 > criterion(f.flat, s.n(), 1) {
		return change{}, false
	}
	return change{kind: Drift, first: s.from, last: s.to - 1, before: f.begin, after: f.end, p: f.p}, true
}

// ramp returns a slope from one level to another, if it describes the parts better than levels do. It
// searches for the ends at the changes and between them.
func (h history) ramp(parts []stretch) (change, bool) {
	whole := stretch{parts[0].from, parts[len(parts)-1].to}
	if len(parts) < 3 || len(parts) > maxStairs {
		return change{}, false
	}
	var knots []int
	var levels float64
	for _, p := range parts {
		levels += h.line(p).flat
		for q := range 4 {
			knots = append(knots, p.from+q*(p.to-p.from)/4)
		}
	}
	knots = slices.Compact(append(knots, whole.to-1))
	best := slope{fit: fit{residual: math.Inf(1)}}
	for i, from := range knots {
		for _, to := range knots[i+1:] {
			if to-from >= shortestDrift {
				if f := h.slope(whole, from, to); f.residual < best.residual {
					best = f
				}
			}
		}
	}
	for d := (whole.to - whole.from) / 16; d > 0 && best.to > 0; d /= 2 { // search between the changes
		for _, try := range [][2]int{{best.from - d, best.to}, {best.from + d, best.to}, {best.from, best.to - d}, {best.from, best.to + d}} {
			if from, to := try[0], try[1]; from >= whole.from && to < whole.to && to-from >= shortestDrift {
				if f := h.slope(whole, from, to); f.residual < best.residual {
					best = f
				}
			}
		}
	}
	n := whole.n()
	if math.IsInf(best.residual, 1) || share(best.begin, best.end) < least || best.p > maxP ||
		criterion(best.residual, n, 4) > criterion(levels, n, float64(2*len(parts)-1)) {
		return change{}, false
	}
	return change{kind: Drift, first: best.from, last: best.to, before: best.begin, after: best.end, p: best.p}, true
}

// maxStairs bounds the work: more parts than that are not a slope.
const maxStairs = 12

// slope is a stretch that is level until from, straight until to, and level again after it.
type slope struct {
	from, to int
	fit
}

func (h history) slope(s stretch, from, to int) slope {
	along := func(i int) float64 { return min(1, max(0, float64(i-from)/float64(to-from))) }
	n, my := s.n(), h.level(s)
	var mx float64
	for i := s.from; i < s.to; i++ {
		mx += along(i)
	}
	mx /= n
	var xx, xy, yy float64
	for i := s.from; i < s.to; i++ {
		x, y := along(i)-mx, h.values[i]-my
		xx += x * x
		xy += x * y
		yy += y * y
	}
	return slope{from, to, straight(n, mx, my, xx, xy, yy)}
}

// share returns the difference of two levels, as a fraction of the smaller.
func share(a, b float64) float64 { return max(a, b)/min(a, b) - 1 }
