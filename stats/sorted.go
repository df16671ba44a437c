package stats

import (
	"math"
	"slices"
)

// Sorted holds values in ascending order. Most functions of this package sort their input first; use
// Sorted to sort once and call several.
type Sorted []float64

// Sort returns a sorted copy of the values.
func Sort(x []float64) Sorted {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}

// Merge returns all values of its parts in ascending order, for example one side of a case from its
// rounds. It merges the parts without sorting them again.
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

// usable reports whether there are values and none is NaN. Sorting puts NaN first.
func (s Sorted) usable() bool { return len(s) > 0 && !math.IsNaN(s[0]) }
