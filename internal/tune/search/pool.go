package search

import (
	"cmp"
	"slices"
)

const (
	poolPoints = 1000
	scanPoints = 4000 // the points with the best means enter the pool
)

// pool holds the candidates that the process evaluates, with their rows of the factor. For
// a small space it is every unseen point. For a large one it is the best of a scan, the
// neighbors of the best point, and some random points.
type pool struct {
	whole     bool
	points    []int
	codes     [][]uint16
	rows      [][]float64
	explained []float64 // of the variance
	in        map[int]bool
}

// put adds a candidate.
func (p *pool) put(g *gp, point int, code []uint16) {
	if p.in[point] {
		return
	}
	row, explained := g.row(code, len(g.points)*5/4+8)
	p.in[point] = true
	p.points = append(p.points, point)
	p.codes = append(p.codes, code)
	p.rows = append(p.rows, row)
	p.explained = append(p.explained, explained)
}

// grow extends every candidate by the new row of the factor.
func (p *pool) grow(g *gp, row []float64) {
	n := len(row) - 1
	g.scratch = g.k.of(g.points[n], g.scratch)
	for c, r := range p.rows {
		x := (common(g.scratch, p.codes[c]) - dot(r[:n], row[:n])) / row[n]
		p.rows[c] = append(r, x)
		p.explained[c] += x * x
	}
}

// fill builds a new pool.
func (m *Model) fill() {
	m.pool = pool{in: map[int]bool{}, whole: m.unseen.n <= poolPoints}
	if m.pool.whole {
		for _, p := range m.unseen.list[:m.unseen.n] {
			m.pool.put(&m.gp, int(p), m.code(int(p)))
		}
		return
	}
	for _, p := range m.top(5) {
		m.near(p)
	}
	for _, p := range m.scan() {
		m.pool.put(&m.gp, p, m.code(p))
	}
	for range poolPoints / 4 {
		if p, ok := m.unseen.draw(m.rng); ok {
			m.pool.put(&m.gp, p, m.code(p))
		}
	}
}

// near adds the unseen neighbors of a point to the pool.
func (m *Model) near(point int) {
	if m.pool.whole || m.pool.in == nil || len(m.gp.rows) == 0 {
		return
	}
	for p := range m.space.Neighbors(point) {
		if m.unseen.has(p) {
			m.pool.put(&m.gp, p, m.code(p))
		}
	}
}

// scan predicts many points and returns those with the best means. A mean costs 1 % of a
// variance.
func (m *Model) scan() []int {
	list := make([]int, 0, min(m.unseen.n, scanPoints))
	if m.unseen.n <= cap(list) {
		for _, p := range m.unseen.list[:m.unseen.n] {
			list = append(list, int(p))
		}
	} else {
		for len(list) < cap(list) {
			p, _ := m.unseen.draw(m.rng)
			list = append(list, p)
		}
	}
	y, mean, _ := m.values()
	for i := range y {
		y[i] -= mean * m.level(i)
	}
	by := m.gp.unwhiten(m.gp.whiten(y))
	means := make([]predicted, len(list))
	for i, p := range list {
		m.gp.scratch = m.gp.k.of(m.code(p), m.gp.scratch)
		sum := 0.0
		for j, q := range m.gp.points {
			sum += by[j] * common(m.gp.scratch, q)
		}
		means[i] = predicted{p, sum}
	}
	slices.SortFunc(means, func(a, b predicted) int {
		if a.mean != b.mean {
			return cmp.Compare(a.mean, b.mean)
		}
		return cmp.Compare(a.point, b.point)
	})
	list = list[:0]
	for _, p := range means[:min(len(means), poolPoints*3/4)] {
		list = append(list, p.point)
	}
	return list
}

type predicted struct {
	point int
	mean  float64
}

// top returns the best points of this device.
func (m *Model) top(n int) []int {
	var list []int
	for i, k := range m.known[m.source:] {
		if k.state == worked {
			list = append(list, m.source+i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(m.known[a].y, m.known[b].y) })
	list = list[:min(n, len(list))]
	for i, at := range list {
		list[i] = m.known[at].point
	}
	return list
}
