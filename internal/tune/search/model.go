package search

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

const (
	design      = 6  // points that are spread out before the process is asked
	fitPoints   = 50 // that the weights are fitted to, at most
	fitRounds   = 8
	everyFourth = 4 // of the points more, and the weights are fitted again
	everyThird  = 3 // proposal is a neighbour of the best
)

// Model searches with a Gaussian process over the logarithm of the time. It evaluates
// where the improvement expected is largest, weighed with the chance that the point
// works at all and, when seconds count, with what the evaluation will cost.
type Model struct {
	space  *space.Space
	axes   []axis
	rng    *rand.Rand
	unseen *unseen
	byCost bool

	known  []known // in the order of the process: the source first, then as asked
	source int     // how many of them are of the source
	hints  []int   // the best points of the source, to begin with
	place  map[int]int
	best   float64 // logarithm of the least value

	usual   weights
	spread  []float64
	weights weights
	nextFit int
	gp      gp
	pool    pool
}

// known is a point that was evaluated, or is being evaluated.
type known struct {
	point int
	code  []uint16 // the values on the axes
	state state
	y     float64 // logarithm of the value where it worked
	cost  float64 // logarithm of the seconds; NaN where not known
}

type state uint8

const (
	pending state = iota
	worked
	failed
)

// NewModel makes one.
func NewModel(s *space.Space, o Options) *Model {
	m := &Model{
		space: s, axes: axesOf(s), rng: seeded(o.Seed, 2), unseen: newUnseen(s.Len()), byCost: o.ByCost,
		place: map[int]int{}, best: math.Inf(1),
	}
	if o.Source != nil {
		m.warm(o.Source)
	}
	m.usual, m.spread = usual(m.axes)
	m.weights = m.usual
	return m
}

// Ask gives the most promising points. Each one that is out counts as evaluated with
// what is expected of it, so that the next goes elsewhere.
func (m *Model) Ask(n int) []int {
	var list []int
	for len(list) < n && m.unseen.n > 0 {
		p := m.next()
		m.unseen.take(p)
		m.enter(p)
		list = append(list, p)
	}
	return list
}

func (m *Model) next() int {
	for len(m.hints) > 0 {
		p := m.hints[0]
		if m.hints = m.hints[1:]; m.unseen.has(p) {
			return p
		}
	}
	if m.source == 0 && (len(m.known) < design || math.IsInf(m.best, 1)) {
		return m.spreadOut()
	}
	m.learn()
	return m.promising()
}

// Tell learns an outcome.
func (m *Model) Tell(o Outcome) {
	m.unseen.take(o.Point)
	if _, ok := m.place[o.Point]; !ok {
		m.enter(o.Point)
	}
	k := &m.known[m.place[o.Point]]
	if o.Cost > 0 {
		k.cost = math.Log(o.Cost)
	}
	if o.Failed || !(o.Value > 0) || math.IsInf(o.Value, 1) {
		k.state = failed
		return
	}
	k.state, k.y = worked, math.Log(o.Value)
	if k.y < m.best {
		m.best = k.y
		m.near(o.Point)
	}
}

func (m *Model) enter(p int) {
	m.place[p] = len(m.known)
	m.known = append(m.known, known{point: p, code: m.code(p), y: math.NaN(), cost: math.NaN()})
}

// code gives the values of a point on the axes; the last axis of a warm start is the
// device.
func (m *Model) code(p int) []uint16 {
	code := make([]uint16, len(m.axes))
	point := m.space.Point(p)
	for i, a := range m.axes {
		if !a.device {
			code[i] = point[a.parameter]
		}
	}
	return code
}

// spreadOut takes of some random points the one farthest from all that were taken.
func (m *Model) spreadOut() int {
	best, far := 0, math.Inf(-1)
	k := newKernel(m.axes, m.usual)
	var scratch [][]float64
	for range 50 {
		p, _ := m.unseen.draw(m.rng)
		near := 0.0
		scratch = k.of(m.code(p), scratch)
		for _, q := range m.known {
			near = max(near, common(scratch, q.code))
		}
		if -near > far {
			best, far = p, -near
		}
	}
	return best
}

// learn brings the process up to what is known: one row more for every point, and now
// and then new weights, for which everything is done again.
func (m *Model) learn() {
	n := len(m.known)
	if n < m.nextFit {
		for i := len(m.gp.points); i < n; i++ {
			m.pool.grow(&m.gp, m.gp.add(m.known[i].code))
		}
		return
	}
	m.nextFit = n + max(1, n/everyFourth)
	if points, y, level := m.training(); len(y) >= 4 {
		m.weights = newFitter(m.axes, m.usual, m.spread, points, y, level).fit(m.weights, fitRounds)
	}
	m.gp = gp{k: newKernel(m.axes, m.weights), noise: m.weights.noise()}
	for _, k := range m.known {
		m.gp.add(k.code)
	}
	m.fill()
}

// training chooses what the weights are fitted to: what worked, or, when that is too
// much, some of it. With a source at least half is of this device.
func (m *Model) training() (points [][]uint16, y, level []float64) {
	value := func(i int) float64 { return m.known[i].y }
	own, other := m.workedIn(m.source, len(m.known)), m.workedIn(0, m.source)
	own = some(own, max(fitPoints/2, fitPoints-len(other)), value)
	list := append(some(other, fitPoints-len(own), value), own...)
	for _, i := range list {
		points = append(points, m.known[i].code)
		y = append(y, m.known[i].y)
		level = append(level, m.level(i))
	}
	return points, y, level
}

func (m *Model) workedIn(from, to int) []int {
	var list []int
	for i := from; i < to; i++ {
		if m.known[i].state == worked {
			list = append(list, i)
		}
	}
	return list
}

// level is 1 for points of this device: the source comes with its own level taken off.
func (m *Model) level(i int) float64 {
	if i < m.source {
		return 0
	}
	return 1
}
