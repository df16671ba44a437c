package stats

import (
	"math"
	"slices"
)

// Sorted is values in ascending order. Most of this package starts with a sort;
// who asks several questions of the same values sorts them once.
type Sorted []float64

// Sort copies the values into ascending order.
func Sort(x []float64) Sorted {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}

// Merge is all the values of its parts: a side of a case from its rounds, without
// sorting them again.
func Merge(parts ...Sorted) Sorted {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return slices.Clone(parts[0])
	}
	half := len(parts) / 2
	a, b := Merge(parts[:half]...), Merge(parts[half:]...)
	all := make(Sorted, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] || math.IsNaN(b[0]) {
			all, b = append(all, b[0]), b[1:]
		} else {
			all, a = append(all, a[0]), a[1:]
		}
	}
	return append(append(all, a...), b...)
}

// usable tells whether there are values and all are numbers. Sorting puts what
// is not a number first.
func (s Sorted) usable() bool { return len(s) > 0 && !math.IsNaN(s[0]) }

// positive tells whether there are values and all are above zero.
func (s Sorted) positive() bool { return len(s) > 0 && s[0] > 0 }
