package search

import (
	"math"
	"slices"
)

// fitter finds the weights with the highest likelihood.
type fitter struct {
	axes   []axis
	usual  weights
	spread []float64
	points [][]uint16
	y      []float64
	level  []float64 // 1 if the level of the value is unknown, 0 if it is 0

	k       kernel    // of the current trial weights
	factor  []float64 // scratch: the factor of the covariance, one row per point
	z, o    []float64 // scratch: whitened values and levels
	scratch [][]float64
}

func newFitter(axes []axis, usual weights, spread []float64, points [][]uint16, y, level []float64) *fitter {
	n := len(y)
	return &fitter{
		axes: axes, usual: usual, spread: spread, points: points, y: y, level: level,
		factor: make([]float64, n*n), z: make([]float64, n), o: make([]float64, n),
	}
}

// fit does a coordinate search from a start, with steps that shrink when no weight moved.
func (f *fitter) fit(start weights, rounds int) weights {
	best, w := slices.Clone(start), slices.Clone(start)
	f.k = newKernel(f.axes, w)
	score := f.likelihood(w)
	step := 1.0
	for range rounds {
		moved := false
		for i := range best {
			for _, by := range []float64{step, -step} {
				w[i] = best[i] + by
				f.rebuild(w, i)
				if s := f.likelihood(w); s > score+1e-6 {
					score, best[i], moved = s, w[i], true
					break
				}
				w[i] = best[i]
			}
			f.rebuild(w, i)
		}
		if !moved {
			step /= 2
		}
	}
	return best
}

// rebuild recomputes the tables that depend on a weight.
func (f *fitter) rebuild(w weights, changed int) {
	together, at := len(w)-2, 0
	for i, a := range f.axes {
		next := at + len(a.squares) + 1
		if changed == together || at <= changed && changed < next {
			a.fill(f.k.tables[i], w[at:next], w[together])
		}
		at = next
	}
}

// likelihood returns the log marginal likelihood, with the level and the variance of the
// process profiled out, minus a penalty for unusual weights.
func (f *fitter) likelihood(w weights) float64 {
	n := len(f.y)
	noise := w.noise()
	logDet := 0.0
	var oo, oz, zz float64
	for i := range n {
		row := f.factor[i*n : i*n+i+1]
		f.scratch = f.k.of(f.points[i], f.scratch)
		for j := range i {
			other := f.factor[j*n : j*n+j+1]
			row[j] = (common(f.scratch, f.points[j]) - dot(row[:j], other[:j])) / other[j]
		}
		d := math.Sqrt(max(1+noise-dot(row[:i], row[:i]), 1e-8))
		row[i] = d
		logDet += math.Log(d)
		f.o[i] = (f.level[i] - dot(row[:i], f.o[:i])) / d
		f.z[i] = (f.y[i] - dot(row[:i], f.z[:i])) / d
		oo += f.o[i] * f.o[i]
		oz += f.o[i] * f.z[i]
		zz += f.z[i] * f.z[i]
	}
	variance := max((zz-oz*oz/max(oo, 1e-12))/float64(n), 1e-12)
	odd := 0.0
	for i, x := range w {
		odd += square((x - f.usual[i]) / f.spread[i])
	}
	return -float64(n)/2*math.Log(variance) - logDet - odd/2
}
