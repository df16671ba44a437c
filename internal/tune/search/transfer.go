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

// sourcePoints bounds how many outcomes of a source are learned from.
const sourcePoints = 150

// warm puts the outcomes of a source into the process. The device is one more axis: how
// far points on two devices have to do with each other is fitted like any other weight,
// so a source that misleads loses its say.
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
	m.axes = append(m.axes, axis{device: true, width: 2})
	m.known, m.source = list, len(list)
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
