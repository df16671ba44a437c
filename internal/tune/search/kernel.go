package search

import (
	"math"
	"math/bits"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// kernel says how much the values at two points have in common: less with every rank
// between them, by a weight for each parameter, and less again for every parameter in
// which they differ at all, because neighbouring values (96 and 128 threads) can be
// worlds apart on a GPU.
type kernel struct {
	axes  []int       // the parameters that have a choice
	rank  [][]float64 // weighted squared distance, by axis, a row a value
	width []int       // values of the axis
}

// feature is one way in which the values of a parameter are near or far.
type feature struct {
	parameter int
	width     int
	square    []float64 // squared distance before it is weighted, a row a value
	apart     bool
}

func featuresOf(s *space.Space) []feature {
	var list []feature
	for i, p := range s.Parameters() {
		n := len(p.Values)
		if n < 2 {
			continue
		}
		rank := make([]float64, n)
		two := make([]float64, n)
		pow2 := true
		for x := range n {
			rank[x] = float64(x)
			v, ok := p.Number(x)
			if ok && v >= 1 && v == math.Floor(v) && v < 1<<40 {
				two[x] = float64(bits.TrailingZeros64(uint64(v)))
				pow2 = pow2 && (x == 0 || two[x] == two[x-1]+1)
			} else {
				pow2 = true
				break
			}
		}
		if p.Ordered() {
			list = append(list, newFeature(i, rank))
			if !pow2 && *useTwo > 0 && n > 2 {
				list = append(list, newFeature(i, two))
			}
		}
		f := feature{parameter: i, width: n, apart: true}
		list = append(list, f)
	}
	return list
}

var useTwo = knob("two", 1)

func newFeature(parameter int, at []float64) feature {
	n := len(at)
	f := feature{parameter: parameter, width: n, square: make([]float64, n*n)}
	most := 1e-9
	for _, x := range at {
		for _, y := range at {
			most = max(most, math.Abs(x-y))
		}
	}
	for x := range n {
		for y := range n {
			f.square[x*n+y] = square((at[x] - at[y]) / most)
		}
	}
	return f
}

// newKernel takes the logarithm of the weight of every feature.
func newKernel(features []feature, logs []float64) kernel {
	k := kernel{}
	c := math.Exp(logs[len(features)])
	for i := 0; i < len(features); {
		f := features[i]
		near := make([]float64, f.width*f.width)
		apart := 0.0
		for ; i < len(features) && features[i].parameter == f.parameter; i++ {
			w := math.Exp(logs[i])
			if features[i].apart {
				apart = w
				continue
			}
			for j, d := range features[i].square {
				near[j] += w * d
			}
		}
		for j, d := range near {
			if j/f.width == j%f.width {
				near[j] = 1
				continue
			}
			r := math.Sqrt(5 * d)
			near[j] = (1 + c*(1+r+r*r/3)*math.Exp(-r-apart)) / (1 + c)
		}
		k.axes = append(k.axes, f.parameter)
		k.width = append(k.width, f.width)
		k.rank = append(k.rank, near)
	}
	return k
}

func (k *kernel) at(a, b []uint16) float64 {
	p := 1.0
	for i, axis := range k.axes {
		p *= k.rank[i][int(a[axis])*k.width[i]+int(b[axis])]
	}
	return p
}
