package search

import "math"

// Source is what another device, or an older search, found out about points of this
// space: a warm start.
type Source struct {
	Outcomes []Outcome
}

// maxSource bounds how many outcomes of a source are learned from.
const maxSource = 200

// warm puts the outcomes of a source into the process. The device is one more axis: how
// far points on two devices have to do with each other is fitted like any other weight,
// so a source that misleads loses its say.
func (m *Model) warm(s *Source) {
	list, sum, n := make([]known, 0, len(s.Outcomes)), 0.0, 0
	for _, o := range s.Outcomes[:min(len(s.Outcomes), maxSource)] {
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
	m.axes = append(m.axes, axis{parameter: -1, width: 2})
	m.known, m.source = list, len(list)
}
