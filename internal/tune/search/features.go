package search

import (
	"math"
	"math/bits"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// axis is a parameter with more than one value.
type axis struct {
	parameter int
	width     int         // number of values
	device    bool        // not a parameter: this device or the source of a warm start
	squares   [][]float64 // squared distances of the values, one table per feature, one row per value
}

// axesOf defines how near the values of each parameter are. Three features are enough for
// kernels. The first is the rank. The second is how often two divides the value: it matters
// whether 96 or 128 threads fill the lanes, and whether tiles divide the problem. The third
// is being different at all, which needs no table.
func axesOf(s *space.Space) []axis {
	var list []axis
	for i, p := range s.Parameters() {
		if len(p.Values) < 2 {
			continue
		}
		a := axis{parameter: i, width: len(p.Values)}
		if p.Ordered() && len(p.Values) > 2 {
			ranks := make([]float64, a.width)
			for v := range ranks {
				ranks[v] = float64(v)
			}
			a.squares = append(a.squares, squares(ranks))
			if twos := twosOf(p); twos != nil {
				a.squares = append(a.squares, squares(twos))
			}
		}
		list = append(list, a)
	}
	return list
}

// twosOf returns how often two divides each value. It is nil if that adds nothing to the
// rank: for consecutive powers of two, and for values that are not counts.
func twosOf(p space.Parameter) []float64 {
	twos := make([]float64, len(p.Values))
	news := false
	for v := range p.Values {
		x, ok := space.Number(p.Values[v])
		if !ok || x < 1 || x != math.Floor(x) || x > 1<<40 {
			return nil
		}
		twos[v] = float64(bits.TrailingZeros64(uint64(x)))
		news = news || v > 0 && twos[v] != twos[v-1]+1
	}
	if !news {
		return nil
	}
	return twos
}

// squares returns the squared distances between positions, scaled to a max of 1.
func squares(at []float64) []float64 {
	n, most := len(at), 0.0
	for _, x := range at {
		for _, y := range at {
			most = max(most, math.Abs(x-y))
		}
	}
	list := make([]float64, n*n)
	for i := range list {
		if most > 0 {
			list[i] = square((at[i/n] - at[i%n]) / most)
		}
	}
	return list
}

func square(x float64) float64 { return x * x }
