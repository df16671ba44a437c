package model

import (
	"math"
	"slices"
)

// learned finds the scales under which the outcomes are the least surprising, held back by
// what is usual: few outcomes change little. What kernels have in common couples all
// fixes and makes each look expensive, so it counts as scatter until the rest is found; how
// much of the scatter it is comes last.
func learned(list []cell) *fit {
	weights := slices.Repeat([]float64{1}, len(list))
	d := newDesign(list, false)
	if len(list) == 0 {
		return d.solve(usual, weights)
	}
	apart := usual
	apart.kernel = 0
	s, score := climb(d, apart, weights)
	relative := newDesign(list, true)
	if t, other := climb(relative, apart, weights); other > score {
		d, s = relative, t
	}
	for range 3 {
		before := weights
		weights = reweigh(d.solve(s, weights))
		if moved(before, weights) < 0.5 {
			break // hardly anything is far off: the scales would stay
		}
		s, _ = climb(d, s, weights)
	}
	return together(d, s, weights)
}

// moved is the largest change of a weight, as a logarithm.
func moved(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(math.Log(a[i]/b[i])))
	}
	return most
}

// together finds how much of the scatter is that of kernels.
func together(d *design, s scales, weights []float64) *fit {
	s.kernel = usual.kernel
	best := d.solve(s, weights)
	if len(d.kernels) == 0 {
		return best // nothing tells
	}
	score := best.evidence
	for _, share := range []float64{0.02, 0.4, 0.6, 0.8} {
		s.kernel = share
		f := d.solve(s, weights)
		if p := f.evidence - square((share-usual.kernel)/0.3)/2; p > score {
			best, score = f, p
		}
	}
	return best
}

// climb goes from scale to scale, up or down in steps of a half, as long as it helps.
func climb(d *design, s scales, weights []float64) (scales, float64) {
	const step = 1.5
	likely := func(s scales) float64 {
		penalty := 0.0
		for _, p := range s.parts() {
			penalty += square(math.Log(*p.scale/p.usual) / p.spread)
		}
		return d.solve(s, weights).evidence - penalty/2
	}
	score := likely(s)
	better := func(i int, by float64) (moved bool) {
		for {
			next := s
			*next.parts()[i].scale *= by
			p := likely(next)
			if p <= score+1e-9 {
				return moved
			}
			s, score, moved = next, p, true
		}
	}
	for range 2 {
		moved := false
		for i := range s.parts() {
			moved = better(i, step) || better(i, 1/step) || moved
		}
		if !moved {
			break
		}
	}
	return s, score
}

// scale is one of the scales, what it usually is, and how far from that (as a logarithm).
type scale struct {
	scale         *float64
	usual, spread float64
}

func (s *scales) parts() []scale {
	return []scale{
		{&s.noise, usual.noise, 1},
		{&s.fix, usual.fix, 0.7},
		{&s.class, usual.class, 0.7},
		{&s.gpu, usual.gpu, 0.7},
		{&s.slope, usual.slope, 0.5},
	}
}

// reweigh lets outcomes that are further off than scatter explains count less, so that no
// single one moves anything by more than a bounded amount, however far off it is.
func reweigh(f *fit) []float64 {
	weights := make([]float64, len(f.rows))
	for i := range f.rows {
		mean, way := f.posterior(scaled{&f.rows[i], 1})
		off := (square(f.cells[i].gain-mean) + way.dot(way)) / f.scatter(i, 1)
		weights[i] = min(1, square(bearable)/off)
	}
	return weights
}

// bearable is how many standard deviations an outcome may be off before it counts less.
const bearable = 2.2
