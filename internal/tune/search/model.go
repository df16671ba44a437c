package search

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

const (
	design           = 6  // spread-out points before the process is used
	fitPoints        = 50 // max points that the weights are fitted to
	fitRounds        = 8
	refitFraction    = 4 // refit the weights after 1/4 more points
	neighborInterval = 3 // every third proposal is a neighbor of the best
)

// Model searches with a Gaussian process over the logarithm of the time. It evaluates the
// point with the largest expected improvement, weighted by the probability that it works
// and, if seconds count, by the expected cost.
type Model struct {
	space  *space.Space
	axes   []axis
	rng    *rand.Rand
	unseen *unseen
	byCost bool

	known  []known // in process order: the source first, then as asked
	source int     // how many of them are from the source
	hints  []int   // best points of the source, evaluated first
	place  map[int]int
	best   float64 // logarithm of the lowest value

	usual   weights
	spread  []float64
	weights weights
	nextFit int
	gp      gp
	pool    pool
}

// known is a point that was evaluated or is pending.
type known struct {
	point int
	code  []uint16 // the value indices on the axes
	state state
	y     float64 // logarithm of the value if it worked
	cost  float64 // logarithm of the seconds; NaN if unknown
}

type state uint8

const (
	pending state = iota
	worked
	failed
)

// NewModel returns a Model strategy.
func NewModel(s *space.Space, o Options) *Model {
	m := &Model{
		space: s, axes: axesOf(s), rng: seeded(o.Seed, 2), unseen: newUnseen(s.Len()), byCost: o.ByCost,
		place: map[int]int{}, best: math.Inf(1),
	}
	m.warm(o.Source)
	m.usual, m.spread = prior(m.axes)
	m.weights = m.usual
	return m
}

// Ask returns the most promising points. A pending point counts as evaluated with its
// predicted value, so that the next proposal is elsewhere.
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

// Tell records an outcome.
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

// code returns the value indices of a point on the axes. With a warm start the last axis is
// the device.
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

// spreadOut returns, out of some random points, the one farthest from all points taken.
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

// learn updates the process: one row per new point, and occasionally new weights, for which
// everything is recomputed.
func (m *Model) learn() {
	n := len(m.known)
	if n < m.nextFit {
		for i := len(m.gp.points); i < n; i++ {
			m.pool.grow(&m.gp, m.gp.add(m.known[i].code))
		}
		return
	}
	m.nextFit = n + max(1, n/refitFraction)
	if points, y, level := m.training(); len(y) >= 4 {
		m.weights = newFitter(m.axes, m.usual, m.spread, points, y, level).fit(m.weights, fitRounds)
	}
	m.gp = gp{k: newKernel(m.axes, m.weights), noise: m.weights.noise()}
	for _, k := range m.known {
		m.gp.add(k.code)
	}
	m.fill()
}

// training chooses the points for fitting the weights: those that worked, or a subset if
// there are too many. With a source, at least half are of this device.
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

// level is 1 for points of this device. The source's own level is already subtracted.
func (m *Model) level(i int) float64 {
	if i < m.source {
		return 0
	}
	return 1
}
