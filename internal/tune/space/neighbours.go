package space

import (
	"iter"
	"slices"
)

// Neighbors iterates over the points that differ from point i in a single parameter.
func (s *Space) Neighbors(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		point := slices.Clone(s.Point(i))
		for k := range point {
			own := point[k]
			for v := range s.parameters[k].Values {
				point[k] = uint16(v)
				if j, ok := s.Index(point); ok && j != i && !yield(j) {
					return
				}
			}
			point[k] = own
		}
	}
}

// Adjacent iterates over the points that differ from point i in a single parameter, by one
// valid rank up or down; if the values have no order, by any value.
func (s *Space) Adjacent(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		point := slices.Clone(s.Point(i))
		for k, p := range s.parameters {
			own := point[k]
			for _, step := range []int{-1, 1} {
				for v := int(own) + step; v >= 0 && v < len(p.Values); v += step {
					point[k] = uint16(v)
					j, ok := s.Index(point)
					if !ok {
						continue
					}
					if !yield(j) {
						return
					}
					if p.Ordered() {
						break
					}
				}
			}
			point[k] = own
		}
	}
}
