package space

import (
	"fmt"
	"iter"
	"slices"
)

// Space is a set of points, numbered from 0. It is immutable and safe for concurrent use.
type Space struct {
	parameters []Parameter
	defaults   []uint16
	indices    []uint16 // of the values, one row per point
	table      []uint32 // open addressing: index of the point + 1
	partial    bool
}

// FromPoints builds a space from known, distinct points, such as a recording.
func FromPoints(parameters []Parameter, points [][]uint16) (*Space, error) {
	if len(points) > MaxPoints {
		return nil, fmt.Errorf("tuning space: %d points (max %d)", len(points), MaxPoints)
	}
	s := newSpace(parameters, len(points))
	for i, point := range points {
		if len(point) != len(parameters) {
			return nil, fmt.Errorf("tuning space: point %d has %d values for %d parameters", i, len(point), len(parameters))
		}
		for k, v := range point {
			if int(v) >= len(parameters[k].Values) {
				return nil, fmt.Errorf("tuning space: point %d has value number %d of %q, which has %d values", i, v, parameters[k].Name, len(parameters[k].Values))
			}
		}
		if !s.add(point) {
			return nil, fmt.Errorf("tuning space: point %d is a duplicate", i)
		}
	}
	return s, nil
}

func newSpace(parameters []Parameter, points int) *Space {
	slots := 16
	for slots < 2*points {
		slots *= 2
	}
	return &Space{
		parameters: parameters,
		indices:    make([]uint16, 0, points*len(parameters)),
		table:      make([]uint32, slots),
	}
}

// Parameters returns the parameters, with their values in rank order.
func (s *Space) Parameters() []Parameter { return s.parameters }

// Len returns the number of points.
func (s *Space) Len() int { return len(s.indices) / len(s.parameters) }

// Complete reports whether the space has every valid point. Otherwise it is a uniform
// sample.
func (s *Space) Complete() bool { return !s.partial }

// Point returns the value indices of a point. The caller must not change the slice.
func (s *Space) Point(i int) []uint16 {
	n := len(s.parameters)
	return s.indices[i*n : i*n+n : i*n+n]
}

// Index finds a point by its value indices.
func (s *Space) Index(indices []uint16) (int, bool) {
	found := s.table[s.slot(indices)]
	return int(found) - 1, found != 0
}

// Default returns the point at which every parameter has its default, if it exists.
func (s *Space) Default() (int, bool) {
	if s.defaults == nil {
		return 0, false
	}
	return s.Index(s.defaults)
}

// Config returns the values of a point by parameter name.
func (s *Space) Config(i int) map[string]any {
	config := make(map[string]any, len(s.parameters))
	for k, v := range s.Point(i) {
		config[s.parameters[k].Name] = s.parameters[k].Values[v]
	}
	return config
}

func (s *Space) add(indices []uint16) bool {
	at := s.slot(indices)
	if s.table[at] != 0 {
		return false
	}
	s.indices = append(s.indices, indices...)
	s.table[at] = uint32(s.Len())
	return true
}

// slot returns the table index of a point, or the free slot for it.
func (s *Space) slot(indices []uint16) int {
	mask := uint64(len(s.table) - 1)
	hash := uint64(0x9e3779b97f4a7c15)
	for _, v := range indices {
		hash = (hash ^ uint64(v)) * 0xff51afd7ed558ccd
		hash ^= hash >> 32
	}
	at := hash & mask
	for s.table[at] != 0 && !slices.Equal(s.Point(int(s.table[at])-1), indices) {
		at = (at + 1) & mask
	}
	return int(at)
}

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
