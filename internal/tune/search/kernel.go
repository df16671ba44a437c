package search

import "math"

// weights holds the logarithms of the kernel's parameters in this order: for every axis one
// per feature and one for being different at all; how much axes interact; and the noise.
type weights []float64

// Prior means and spreads of the weights, found on recorded spaces. The fit starts at the
// means and stays near them while there are few points.
const (
	usualNear, spreadNear         = 0.7, 2.0
	usualApart, spreadApart       = -2.0, 1.5
	usualDevice, spreadDevice     = -1.0, 1.0
	usualTogether, spreadTogether = -1.0, 1.0
	usualNoise, spreadNoise       = -6.0, 2.0
)

// prior returns the prior weights and their spread.
func prior(axes []axis) (w weights, spread []float64) {
	for _, a := range axes {
		for range a.squares {
			w, spread = append(w, usualNear), append(spread, spreadNear)
		}
		if a.device {
			w, spread = append(w, usualDevice), append(spread, spreadDevice)
			continue
		}
		w, spread = append(w, usualApart), append(spread, spreadApart)
	}
	return append(w, usualTogether, usualNoise), append(spread, spreadTogether, spreadNoise)
}

func (w weights) noise() float64 { return math.Exp(w[len(w)-1]) }

// kernel is the covariance of the values at two points. It is a product over the axes of
// one plus a term that falls with the distance. Expanded, that covers every axis alone,
// every pair of axes, and so on. With few points, mostly the single effects can be learned.
type kernel struct {
	width  []int
	tables [][]float64 // one per axis, one row per value
}

func newKernel(axes []axis, w weights) kernel {
	k := kernel{width: make([]int, len(axes)), tables: make([][]float64, len(axes))}
	at := 0
	for i, a := range axes {
		k.width[i], k.tables[i] = a.width, make([]float64, a.width*a.width)
		a.fill(k.tables[i], w[at:at+len(a.squares)+1], w[len(w)-2])
		at += len(a.squares) + 1
	}
	return k
}

// fill computes the table of an axis for its weights.
func (a axis) fill(table []float64, own weights, together float64) {
	clear(table)
	for f, s := range a.squares {
		by := 5 * math.Exp(own[f])
		for j, d := range s {
			table[j] += by * d
		}
	}
	apart, both := math.Exp(own[len(a.squares)]), math.Exp(together)
	if a.device {
		copy(table, []float64{1, math.Exp(-apart), math.Exp(-apart), 1})
		return
	}
	for x := range a.width {
		table[x*a.width+x] = 1
		for y := range x {
			d := table[x*a.width+y]
			r := math.Sqrt(d)
			matern := (1 + r + d/3) * math.Exp(-r-apart)
			v := (1 + both*matern) / (1 + both)
			table[x*a.width+y], table[y*a.width+x] = v, v
		}
	}
}

// of prepares the kernel for comparing one point with many.
func (k *kernel) of(a []uint16, scratch [][]float64) [][]float64 {
	scratch = scratch[:0]
	for i, v := range a {
		w := k.width[i]
		scratch = append(scratch, k.tables[i][int(v)*w:int(v)*w+w])
	}
	return scratch
}

func common(rows [][]float64, b []uint16) float64 {
	p := 1.0
	for i, v := range b {
		p *= rows[i][v]
	}
	return p
}
