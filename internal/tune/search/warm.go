package search

import (
	"math"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

const (
	followed = 20 // evaluations by what the source taught
	alone    = 45 // evaluations by a model that knows nothing, at most
)

// Warm begins with what another device taught. A source leads to a good region at once, and
// near the points it led to it stays right: nothing there would ever say that the best region of
// this device is another one, and a model with a good point in its hands hardly looks
// elsewhere. So after some evaluations a second search begins that knows neither the source nor
// what came of it. When it has found something better, or has had its time, it is told all.
type Warm struct {
	guided, blind         *Model
	follow                int
	asked                 map[int]bool // points that are out or known: whether blind asked for them
	blindly               int          // how many of them
	others                []Outcome    // that blind was not told
	guidedBest, blindBest float64
	joined                bool
}

// newModel makes a model, or two where there is a source.
func newModel(s *space.Space, o Options) Strategy {
	if o.Source == nil {
		return NewModel(s, o)
	}
	return NewWarm(s, o)
}

// NewWarm makes one from options with a source.
func NewWarm(s *space.Space, o Options) *Warm {
	cold := o
	cold.Source = nil
	w := &Warm{
		guided: NewModel(s, o), blind: NewModel(s, cold), follow: followed,
		asked: map[int]bool{}, guidedBest: math.Inf(1), blindBest: math.Inf(1),
	}
	if o.evaluations() < followed+alone || w.guided.source == 0 {
		w.follow = s.Len() // too short for a second search, or nothing was taught
	}
	return w
}

// Ask gives points of the model whose turn it is.
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

// note keeps who asked for a point; the other model will not.
func (w *Warm) note(point int, blindly bool) {
	w.asked[point] = blindly
	w.guided.unseen.take(point)
	w.blind.unseen.take(point)
	if blindly {
		w.blindly++
	}
}

// Tell hands the outcome to the model that asked for it, and to both in the end.
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
	if w.blindly > 0 && w.blindBest < w.guidedBest || w.blindly >= alone {
		w.join()
	}
}

func (w *Warm) join() {
	w.joined = true
	for _, o := range w.others {
		w.blind.Tell(o)
	}
	w.others = nil
	w.blind.nextFit = 0 // the weights were fitted to few of what is known now
}
