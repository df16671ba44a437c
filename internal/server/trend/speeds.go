package trend

import (
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

const (
	shortStay = 15 // points; a longer stay is a level, not a speed of the machine
	flips     = 3  // there and back and there again
)

// withoutFlips removes steps that only alternate between two levels. One such pair is a change that was
// reverted, and is reported. Three in a row are a machine, a driver or a memory layout with two speeds.
func (h history) withoutFlips(steps []change) ([]change, bool) {
	parts := h.stretches(steps)
	var out []int
	for i := 0; i+flips <= len(steps); {
		n := h.alternates(parts, i)
		if n < flips {
			i++
			continue
		}
		for k := i; k < i+n; k++ {
			out = append(out, k)
		}
		i += n
	}
	if len(out) == 0 {
		return steps, false
	}
	var left []change
	for i, c := range steps {
		if !slices.Contains(out, i) {
			left = append(left, c)
		}
	}
	return left, true
}

// alternates counts the steps from i on that return to the level before the last one.
func (h history) alternates(parts []stretch, i int) int {
	n := 1
	for ; i+n+1 < len(parts); n++ {
		stays := parts[i+n]
		apart := share(h.level(parts[i+n-1]), h.level(stays))
		if stays.n() > shortStay || share(h.level(parts[i+n-1]), h.level(parts[i+n+1])) > apart/3 {
			break
		}
	}
	return n
}

// gathers reports whether the values since the last step cluster around two levels, in an order that
// shows no step.
func (h history) gathers(steps []change) bool {
	parts := h.stretches(steps)
	last := parts[len(parts)-1]
	values := h.values[max(last.from, last.to-100):last.to]
	if len(values) < 2*minLevelPoints {
		return false
	}
	var often []float64
	for _, m := range stats.Modes(values, 0) {
		if m.Share >= 0.15 {
			often = append(often, m.At)
		}
	}
	return len(often) == 2 && share(often[0], often[1]) >= least
}
