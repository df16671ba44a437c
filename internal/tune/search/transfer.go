package search

import (
	"math"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Source is what another device, or an older search, found out about the same
// parameters: the points of its own space, which may have other values, and outcomes.
type Source struct {
	Space    *space.Space
	Outcomes []Outcome
}

// maxSource bounds how many outcomes of a source are learned from.
const maxSource = 200

// warm puts the outcomes of a source into the process. The device is one more axis: how
// far points on two devices have to do with each other is fitted like any other weight,
// so a source that misleads loses its say.
func (m *Model) warm(s *Source) {
	m.axes = append(m.axes, axis{parameter: -1, width: 2})
	sum, n := 0.0, 0
	var list []known
	for _, o := range s.Outcomes[:min(len(s.Outcomes), maxSource)] {
		code, ok := m.translate(s.Space, o.Point)
		if !ok {
			continue
		}
		k := known{point: -1, code: code, state: failed, y: math.NaN(), cost: math.NaN()}
		if !o.Failed && o.Value > 0 {
			k.state, k.y = worked, math.Log(o.Value)
			sum += k.y
			n++
		}
		list = append(list, k)
	}
	if n == 0 {
		m.axes = m.axes[:len(m.axes)-1]
		return
	}
	for _, k := range list {
		k.y -= sum / float64(n)
		m.known = append(m.known, k)
	}
	m.source = len(list)
}

// translate finds the values of another space's point on the axes of this one.
func (m *Model) translate(from *space.Space, point int) ([]uint16, bool) {
	config := from.Config(point)
	code := make([]uint16, len(m.axes))
	for i, a := range m.axes {
		if a.parameter < 0 {
			code[i] = 1
			continue
		}
		p := m.space.Parameters()[a.parameter]
		found := false
		for v, x := range p.Values {
			if x == config[p.Name] {
				code[i], found = uint16(v), true
			}
		}
		if !found {
			return nil, false
		}
	}
	return code, true
}
