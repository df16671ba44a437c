package trend

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// history is a series without outliers.
type history struct{ values []float64 }

// stretch is the part of a history between two changes.
type stretch struct{ from, to int }

func (s stretch) n() float64 { return float64(s.to - s.from) }

// stretches returns the parts into which changes divide the history.
func (h history) stretches(steps []change) []stretch {
	list := make([]stretch, 0, len(steps)+1)
	from := 0
	for _, c := range steps {
		list = append(list, stretch{from, c.first})
		from = c.first
	}
	return append(list, stretch{from, len(h.values)})
}

// level returns the mean of a stretch.
func (h history) level(s stretch) float64 {
	var sum float64
	for _, v := range h.values[s.from:s.to] {
		sum += v
	}
	return sum / s.n()
}

// settled returns the steps to levels that last. If two steps have too few points between them for a
// level, the larger is the step, and the points between are part of the transition.
func (h history) settled(steps []change) []change {
	for i := 0; i+1 < len(steps); {
		if steps[i+1].first-steps[i].first >= minLevelPoints {
			i++
			continue
		}
		parts := h.stretches(steps)
		here, before, after := h.level(parts[i+1]), h.level(parts[i]), h.level(parts[i+2])
		smaller := i
		if share(before, here) > share(here, after) {
			smaller = i + 1
		}
		steps = slices.Delete(slices.Clone(steps), smaller, smaller+1)
		i = max(0, i-1)
	}
	return steps
}

// fit is a straight line through a stretch, and its distance from the values.
type fit struct {
	begin, end float64 // values of the line at its ends
	residual   float64 // sum of squares
	flat       float64 // the same for a constant level
	p          float64 // probability that the level is constant
}

func (h history) line(s stretch) fit {
	n := s.n()
	mx, my := (n-1)/2, h.level(s)
	var xx, xy, yy float64
	for i, v := range h.values[s.from:s.to] {
		x := float64(i) - mx
		xx += x * x
		xy += x * (v - my)
		yy += (v - my) * (v - my)
	}
	f := straight(n, mx, my, xx, xy, yy)
	f.end = 2*my - f.begin // at the last value
	return f
}

// straight returns the least-squares line from its sums about the means mx and my. It starts at x = 0
// and ends at x = 1.
func straight(n, mx, my, xx, xy, yy float64) fit {
	f := fit{begin: my, end: my, residual: yy, flat: yy, p: 1}
	if n < 3 || xx == 0 {
		return f
	}
	k := xy / xx
	f.begin, f.end = my-k*mx, my+k*(1-mx)
	f.residual = max(0, yy-k*xy)
	if se := math.Sqrt(f.residual / (n - 2) / xx); se > 0 {
		f.p = 2 * stats.TCDF(-math.Abs(k)/se, n-2)
	} else if k != 0 {
		f.p = 0
	}
	return f
}

// criterion is the Schwarz criterion (BIC): the residual plus a penalty for parameters. Lower is better.
func criterion(residual, n, parameters float64) float64 {
	return n*math.Log(max(residual/n, 1e-300)) + parameters*math.Log(n)
}
