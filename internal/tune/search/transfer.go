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
	trusted      = 20  // points of this device, and the source has said what it can
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
	m.axes = append(m.axes, axis{device: true, width: 2})
	m.known, m.source = list, len(list)
}

// forget goes on without the source. It knew a good region at once, and nothing says that this
// is the best one here: near the points it led to it is even right. So the points that are
// spread out, which it spared the search, come now.
func (m *Model) forget() {
	m.known = m.known[m.source:]
	m.axes = m.axes[:len(m.axes)-1]
	clear(m.place)
	for i := range m.known {
		m.known[i].code = m.known[i].code[:len(m.axes)]
		m.place[m.known[i].point] = i
	}
	m.source, m.spread = 0, len(m.known)+design
	m.usual, m.sure = usual(m.axes)
	m.weights = m.weights.withoutDevice()
	m.gp, m.pool, m.nextFit = gp{}, pool{}, 0
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
