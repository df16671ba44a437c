package search

import (
	"cmp"
	"math"
	"slices"
)

// Source is what another device, or an older search, found out about points of this
// space: a warm start.
type Source struct {
	Outcomes []Outcome
}

const (
	sourcePoints = 150 // of a source that are learned from, at most
	hintPoints   = 4   // of its best that are evaluated first
)

// warm puts the outcomes of a source into the process. The device is one more axis: how
// far points on two devices have to do with each other is fitted like any other weight.
func (m *Model) warm(s *Source) {
	var list []known
	sum, n := 0.0, 0
	for _, o := range some(s.Outcomes, sourcePoints, func(o Outcome) float64 {
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
	m.hints = m.bestOf(s)
	m.axes = append(m.axes, axis{device: true, width: 2})
	m.known, m.source = list, len(list)
}

// bestOf are the best points of a source, of which any two differ in more than one parameter.
func (m *Model) bestOf(s *Source) []int {
	sorted := slices.DeleteFunc(slices.Clone(s.Outcomes), func(o Outcome) bool { return o.Failed || !(o.Value > 0) })
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

// some chooses from a list that is too long the best third of what is wanted, and of
// the others every so many-th.
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
