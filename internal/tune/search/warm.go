package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

const (
	guidedEvaluations   = 20 // evaluations guided by the source
	maxBlindEvaluations = 45 // max evaluations by the model without the source
)

// Warm starts from the outcomes of another device. A source leads to a good region at once,
// and its predictions stay right near there. Nothing would then reveal that this device's
// best region is a different one, and a model with a good point hardly explores. So after
// some evaluations a second search starts, without the source and its outcomes. When that
// search finds something better or reaches its limit, it gets all outcomes.
type Warm struct {
	guided, blind         *Model
	follow                int
	asked                 map[int]bool // pending or known points: whether blind asked for them
	blindly               int          // how many of them blind asked for
	others                []Outcome    // outcomes that blind was not told
	guidedBest, blindBest float64
	joined                bool
}

// newModel returns a Model, or a Warm strategy if there is a source.
func newModel(s *space.Space, o Options) Strategy {
	if len(o.Source) == 0 {
		return NewModel(s, o)
	}
	return NewWarm(s, o)
}

// NewWarm returns a Warm strategy. The options must have a source.
func NewWarm(s *space.Space, o Options) *Warm {
	cold := o
	cold.Source = nil
	w := &Warm{
		guided: NewModel(s, o), blind: NewModel(s, cold), follow: guidedEvaluations,
		asked: map[int]bool{}, guidedBest: math.Inf(1), blindBest: math.Inf(1),
	}
	if o.evaluations() < guidedEvaluations+maxBlindEvaluations || w.guided.source == 0 {
		w.follow = s.Len() // too few evaluations for a second search, or an empty source
	}
	return w
}

// Ask returns points from the model whose turn it is.
func (w *Warm) Ask(n int) []int {
	var list []int
	for len(list) < n {
		m, blindly := w.guided, w.joined || len(w.asked) >= w.follow
		if blindly {
			m = w.blind
		}
		next := m.Ask(1)
		if len(next) == 0 {
			break
		}
		w.note(next[0], blindly)
		list = append(list, next[0])
	}
	return list
}

// note records which model asked for a point, so that the other does not.
func (w *Warm) note(point int, blindly bool) {
	w.asked[point] = blindly
	w.guided.unseen.take(point)
	w.blind.unseen.take(point)
	if blindly {
		w.blindly++
	}
}

// Tell passes the outcome to the model that asked for it; after the join, to blind only.
func (w *Warm) Tell(o Outcome) {
	blindly, known := w.asked[o.Point]
	if !known {
		w.note(o.Point, false)
	}
	if w.joined {
		w.blind.Tell(o)
		return
	}
	value := o.Value
	if o.Failed || !(value > 0) {
		value = math.Inf(1)
	}
	if blindly {
		w.blind.Tell(o)
		w.blindBest = min(w.blindBest, value)
	} else {
		w.guided.Tell(o)
		w.others = append(w.others, o)
		w.guidedBest = min(w.guidedBest, value)
	}
	if w.blindly > 0 && w.blindBest < w.guidedBest || w.blindly >= maxBlindEvaluations {
		w.join()
	}
}

func (w *Warm) join() {
	w.joined = true
	for _, o := range w.others {
		w.blind.Tell(o)
	}
	w.others = nil
	w.blind.nextFit = 0 // the weights were fitted to few of the points known now
}

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
