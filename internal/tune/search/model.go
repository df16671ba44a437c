package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Source is for a warm start.
type Source struct{}

// Tunables of development.
var (
	Initial   = knob("Initial", 10)
	FitMax    = knob("FitMax", 100)
	PoolMax   = knob("PoolMax", 2500)
	Refit     = knob("Refit", 1.25)
	FitRounds = knob("FitRounds", 3)
	FailMode  = knob("FailMode", 0)
	Init      = knob("Init", 1)
)

// Model searches by a Gaussian process.
type Model struct {
	space  *space.Space
	axes   []feature
	rng    *rand.Rand
	unseen *unseen

	order   []int // points in the order they were asked
	place   map[int]int
	y       []float64 // log of the value; fantasised while there is none
	state   []state
	best    float64
	nextFit int
	logs    []float64

	g     gp
	cand  []int
	rows  [][]float64 // L^-1 k of the candidates
	vars  []float64   // explained variance
	inits []int
}

type state uint8

const (
	pending state = iota
	worked
	failed
)

// NewModel makes one.
func NewModel(s *space.Space, o Options) *Model {
	m := &Model{space: s, axes: featuresOf(s), rng: seeded(o.Seed, 2), unseen: newUnseen(s.Len()), place: map[int]int{}, best: math.Inf(1), nextFit: 0}
	for _, f := range m.axes {
		if f.apart {
			m.logs = append(m.logs, *priorApart)
		} else {
			m.logs = append(m.logs, *priorRank)
		}
	}
	m.logs = append(m.logs, *priorC, *priorNoise)
	return m
}

// Ask gives the points with the largest expected improvement.
func (m *Model) Ask(n int) []int {
	var list []int
	for len(list) < n && m.unseen.n > 0 {
		p := m.next()
		m.unseen.take(p)
		m.enter(p, pending)
		list = append(list, p)
	}
	return list
}

func (m *Model) enter(p int, s state) {
	m.place[p] = len(m.order)
	m.order = append(m.order, p)
	m.y = append(m.y, math.NaN())
	m.state = append(m.state, s)
}

// Tell learns.
func (m *Model) Tell(o Outcome) {
	m.unseen.take(o.Point)
	if _, ok := m.place[o.Point]; !ok {
		m.enter(o.Point, pending)
	}
	at := m.place[o.Point]
	if o.Failed {
		m.state[at] = failed
		return
	}
	m.state[at] = worked
	m.y[at] = math.Log(o.Value)
	m.best = min(m.best, m.y[at])
}

func (m *Model) next() int {
	if len(m.order) < int(*Initial) || math.IsInf(m.best, 1) {
		if *Init == 0 {
			p, _ := m.unseen.draw(m.rng)
			return p
		}
		return m.spread()
	}
	m.update()
	return m.propose()
}

// spread picks of some random points the one farthest from all so far.
func (m *Model) spread() int {
	best, far := -1, -1.0
	for range 50 {
		p, _ := m.unseen.draw(m.rng)
		d := math.Inf(1)
		for _, q := range m.order {
			d = min(d, m.distance(p, q))
		}
		if d > far {
			best, far = p, d
		}
	}
	return best
}

func (m *Model) distance(p, q int) float64 {
	a, b := m.space.Point(p), m.space.Point(q)
	sum := 0.0
	for _, x := range m.axes {
		if x.apart {
			if a[x.parameter] != b[x.parameter] {
				sum += 0.3
			}
			continue
		}
		sum += math.Sqrt(x.square[int(a[x.parameter])*x.width+int(b[x.parameter])])
	}
	return sum
}

func (m *Model) update() {
	if len(m.order) >= m.nextFit {
		m.refit()
		m.nextFit = max(len(m.order)+1, int(float64(len(m.order))**Refit))
		return
	}
	for i := len(m.g.points); i < len(m.order); i++ {
		p := m.space.Point(m.order[i])
		row := m.g.add(p)
		n := len(row) - 1
		for c, at := range m.cand {
			r := m.rows[c]
			x := (m.g.k.at(m.space.Point(at), p) - dot(r[:n], row[:n])) / row[n]
			m.rows[c] = append(r, x)
			m.vars[c] += x * x
		}
	}
}

func (m *Model) refit() {
	var pts [][]uint16
	var y []float64
	for i, p := range m.order {
		if m.state[i] == worked {
			pts = append(pts, m.space.Point(p))
			y = append(y, m.y[i])
		}
	}
	if len(pts) >= 3 {
		m.logs = fit(m.axes, pts, y, m.logs, int(*FitRounds)).logs
	}
	d := len(m.logs) - 1
	m.g = gp{k: newKernel(m.axes, m.logs), noise: math.Exp(m.logs[d])}
	for _, p := range m.order {
		m.g.add(m.space.Point(p))
	}
	m.pool()
	m.rows = make([][]float64, len(m.cand))
	m.vars = make([]float64, len(m.cand))
	n := len(m.order)
	for c, at := range m.cand {
		r := make([]float64, n, n+n/2+8)
		q := m.space.Point(at)
		for j, p := range m.g.points {
			r[j] = m.g.k.at(q, p)
		}
		m.vars[c] = m.g.solveRow(r)
		m.rows[c] = r
	}
}

func (m *Model) pool() {
	m.cand = m.cand[:0]
	if m.unseen.n <= int(*PoolMax) {
		for _, p := range m.unseen.list[:m.unseen.n] {
			m.cand = append(m.cand, int(p))
		}
		return
	}
	seen := map[int]bool{}
	for _, at := range m.top(5) {
		for p := range m.space.Neighbours(at) {
			if m.unseen.has(p) && !seen[p] {
				seen[p] = true
				m.cand = append(m.cand, p)
			}
		}
	}
	for len(m.cand) < int(*PoolMax) {
		p, _ := m.unseen.draw(m.rng)
		if !seen[p] {
			seen[p] = true
			m.cand = append(m.cand, p)
		}
	}
}

// top lists the best points so far.
func (m *Model) top(n int) []int {
	var list []int
	for i, s := range m.state {
		if s == worked {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(m.y[a], m.y[b]) })
	list = list[:min(n, len(list))]
	for i, at := range list {
		list[i] = m.order[at]
	}
	return list
}

// values fills in what is not known with what is predicted.
func (m *Model) values() []float64 {
	y := append([]float64(nil), m.y...)
	worst := math.Inf(-1)
	var mean float64
	n := 0
	for i, s := range m.state {
		if s == worked {
			worst = max(worst, y[i])
			mean += y[i]
			n++
		}
	}
	mean /= float64(n)
	// Gauss-Seidel-like: sequentially predict from those before.
	z := make([]float64, len(y))
	for i := range y {
		li := m.g.l[i]
		e := dot(z[:i], li[:i])
		if m.state[i] != worked {
			y[i] = mean + e
			if m.state[i] == failed && *FailMode == 1 {
				y[i] = worst
			}
			if m.state[i] == failed && *FailMode == 2 {
				y[i] = mean + max(e, 0)
			}
		}
		z[i] = (y[i] - mean - e) / li[i]
	}
	return y
}

func (m *Model) propose() int {
	y := m.values()
	mean, variance := m.g.level(y)
	for i := range y {
		y[i] -= mean
	}
	z := m.g.whiten(y)
	labels := make([]float64, len(y))
	fails := 0
	for i, s := range m.state {
		labels[i] = 1
		if s == failed {
			labels[i] = -1
			fails++
		}
	}
	prior := 1 - 2*(float64(fails)+0.5)/(float64(len(y))+1)
	for i := range labels {
		labels[i] -= prior
	}
	zf := m.g.whiten(labels)
	sd := math.Sqrt(variance)
	best, most := -1, math.Inf(-1)
	for c, p := range m.cand {
		if !m.unseen.has(p) {
			continue
		}
		r := m.rows[c]
		mu := mean + dot(r, z)
		s := sd * math.Sqrt(max(1-m.vars[c], 1e-9))
		e := logEI((m.best-mu)/s) + math.Log(s)
		if fails > 0 {
			f := prior + dot(r, zf)
			e += math.Log(max(0.5*math.Erfc(-f/0.7/math.Sqrt2), 1e-3))
		}
		if e > most {
			best, most = c, e
		}
	}
	if best < 0 {
		p, _ := m.unseen.draw(m.rng)
		return p
	}
	return m.cand[best]
}

// logEI is the logarithm of the expected improvement of a standard normal.
func logEI(u float64) float64 {
	if u > -6 {
		return math.Log(u*0.5*math.Erfc(-u/math.Sqrt2) + math.Exp(-u*u/2)/math.Sqrt(2*math.Pi) + 1e-300)
	}
	return -u*u/2 - math.Log(math.Sqrt(2*math.Pi)) - 2*math.Log(-u)
}
