package search

import "math"

// weights are the logarithms of what a kernel is made of, in this order: for every axis
// one for each of its features and one for being different at all; how much axes act
// together; and the noise.
type weights []float64

// What kernels usually have, and how far they are from it: the fit starts here and is
// held back to here while there are few points.
var (
	usualNear     = knob("near", 0.7)
	usualApart    = knob("apart", -2)
	usualTogether = knob("together", -1)
	usualNoise    = knob("noise", -6)

	spreadNear     = knob("sdNear", 2)
	spreadApart    = knob("sdApart", 1.5)
	spreadTogether = knob("sdTogether", 1)
	spreadNoise    = knob("sdNoise", 2)
)

// usual gives the weights before anything is known, and how sure that is.
func usual(axes []axis) (w weights, spread []float64) {
	for _, a := range axes {
		for range a.squares {
			w, spread = append(w, *usualNear), append(spread, *spreadNear)
		}
		w, spread = append(w, *usualApart), append(spread, *spreadApart)
	}
	return append(w, *usualTogether, *usualNoise), append(spread, *spreadTogether, *spreadNoise)
}

func (w weights) noise() float64 { return math.Exp(w[len(w)-1]) }

// kernel says how much the values at two points have in common. It is a product over
// the axes of one plus something that falls with the distance: multiplied out that is
// every axis alone, every pair of axes, and so on. With few points what each parameter
// does alone is most of what can be known.
type kernel struct {
	width  []int
	tables [][]float64 // one an axis, a row a value
}

func newKernel(axes []axis, w weights) kernel {
	k := kernel{width: make([]int, len(axes)), tables: make([][]float64, len(axes))}
	together := math.Exp(w[len(w)-2])
	next := 0
	for i, a := range axes {
		table := make([]float64, a.width*a.width)
		for _, s := range a.squares {
			by := 5 * math.Exp(w[next])
			next++
			for j, d := range s {
				table[j] += by * d
			}
		}
		apart := math.Exp(w[next])
		next++
		for j, d := range table {
			if j/a.width == j%a.width {
				table[j] = 1
				continue
			}
			r := math.Sqrt(d)
			matern := (1 + r + d/3) * math.Exp(-r-apart)
			table[j] = (1 + together*matern) / (1 + together)
		}
		k.width[i], k.tables[i] = a.width, table
	}
	return k
}

// of prepares the kernel for one point against many.
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
