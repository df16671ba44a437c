package search

import (
	"cmp"
	"math"
	"slices"
)

const (
	sourcePoints = 150 // max points of a source to learn from
	hintPoints   = 4   // number of its best points evaluated first
)

// warm adds the outcomes of a source to the process. The device is one more axis: the
// correlation between two devices is fitted like any other weight.
func (m *Model) warm(source []Outcome) {
	var list []known
	sum, n := 0.0, 0
	for _, o := range some(source, sourcePoints, func(o Outcome) float64 {
		if o.Failed {
			return math.Inf(1)
		}
		return o.Value
	}) {
		k := known{point: -1, code: append(m.code(o.Point), 1), state: failed, y: math.NaN(), cost: math.NaN()}
		if !o.Failed && o.Value > 0 {
			k.state, k.y = worked, math.Log(o.Value)
			sum += k.y
			n++
		}
		list = append(list, k)
	}
	if n == 0 {
		return
	}
	for i := range list {
		list[i].y -= sum / float64(n)
	}
	m.hints = m.bestOf(source)
	m.axes = append(m.axes, axis{device: true, width: 2})
	m.known, m.source = list, len(list)
}

// bestOf returns the best points of a source such that any two differ in more than one
// parameter.
func (m *Model) bestOf(source []Outcome) []int {
	sorted := slices.DeleteFunc(slices.Clone(source), func(o Outcome) bool { return o.Failed || !(o.Value > 0) })
	slices.SortStableFunc(sorted, func(a, b Outcome) int { return cmp.Compare(a.Value, b.Value) })
	var list []int
	for _, o := range sorted {
		near := func(p int) bool { return differ(m.code(p), m.code(o.Point)) < 2 }
		if len(list) < hintPoints && !slices.ContainsFunc(list, near) {
			list = append(list, o.Point)
		}
	}
	return list
}

func differ(a, b []uint16) int {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// some limits the length of a list. One third of the result are the best entries, the
// others are evenly spaced in the sorted rest.
func some[T any](list []T, most int, value func(T) float64) []T {
	if len(list) <= most {
		return list
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b T) int { return cmp.Compare(value(a), value(b)) })
	few := most / 3
	chosen, rest, others := sorted[:few:few], sorted[few:], most-few
	for i := range others {
		chosen = append(chosen, rest[i*len(rest)/others])
	}
	return chosen
}
