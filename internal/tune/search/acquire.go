package search

import "math"

// promising returns the candidate with the largest expected improvement.
func (m *Model) promising() int {
	y, mean, variance := m.values()
	for i := range y {
		y[i] -= mean * m.level(i)
	}
	z, sd := m.gp.whiten(y), math.Sqrt(variance)
	works := m.logSuccessProbability()
	cost := m.costs()
	target := m.best
	if math.IsInf(target, 1) { // no value on this device yet: aim below its level
		target = mean
	}
	var only map[int]bool
	if (len(m.known)-m.source)%neighborInterval == 0 {
		only = m.untried()
	}
	best, most := -1, math.Inf(-1)
	for c, p := range m.pool.points {
		if !m.unseen.has(p) || len(only) > 0 && !only[p] {
			continue
		}
		row := m.pool.rows[c]
		s := sd * math.Sqrt(max(1-m.pool.explained[c], 1e-9))
		score := logImprovement((target-mean-dot(row, z))/s) + math.Log(s)
		if score <= most { // the other terms only lower it
			continue
		}
		if score += works(row) - cost(row); score > most {
			best, most = p, score
		}
	}
	if best < 0 {
		best, _ = m.unseen.draw(m.rng)
	}
	return best
}

// untried returns the unseen neighbors of the best point along the parameter with the
// fewest known neighbors. What the process concludes about a parameter from afar (no shared
// memory is slow) can be wrong near the best point. It would not check again. So every
// parameter of the best point is varied once.
func (m *Model) untried() map[int]bool {
	top := m.top(1)
	if len(top) == 0 {
		return nil
	}
	m.near(top[0])
	own := m.space.Point(top[0])
	seen := make([]int, len(own))
	free := make([][]int, len(own))
	for q := range m.space.Neighbors(top[0]) {
		k := 0
		for other := m.space.Point(q); other[k] == own[k]; {
			k++
		}
		if m.unseen.has(q) {
			free[k] = append(free[k], q)
		} else {
			seen[k]++
		}
	}
	only, least := map[int]bool{}, math.MaxInt
	for k, list := range free {
		if len(list) == 0 || seen[k] > least {
			continue
		}
		if seen[k] < least {
			clear(only)
			least = seen[k]
		}
		for _, q := range list {
			only[q] = true
		}
	}
	return only
}

// values returns the logarithms of all values, and the level and the variance of the
// process. A point without a value counts with the prediction from those before it.
func (m *Model) values() (y []float64, mean, variance float64) {
	n := len(m.known)
	y = make([]float64, n)
	sum, count := 0.0, 0
	for i, k := range m.known {
		if k.state == worked && i >= m.source {
			sum += k.y
			count++
		}
	}
	guess := sum / max(float64(count), 1)
	z, o := make([]float64, n), make([]float64, n)
	for i, k := range m.known {
		row, level := m.gp.rows[i], m.level(i)
		y[i] = k.y
		if k.state != worked {
			y[i] = dot(z[:i], row[:i]) + guess*(level-dot(o[:i], row[:i]))
		}
		o[i] = (level - dot(o[:i], row[:i])) / row[i]
		z[i] = (y[i] - dot(z[:i], row[:i])) / row[i]
	}
	oo := dot(o, o)
	if oo > 0 {
		mean = dot(o, z) / oo
	}
	for i := range z {
		variance += square(z[i] - mean*o[i])
	}
	return y, mean, max(variance/float64(n), 1e-12)
}

// logSuccessProbability returns the logarithm of the probability that a candidate works, from a separate
// process over successes and failures.
func (m *Model) logSuccessProbability() func(row []float64) float64 {
	labels := make([]float64, len(m.known))
	fails := 0
	for i, k := range m.known {
		labels[i] = 1
		if k.state == failed {
			labels[i] = -1
			fails++
		}
	}
	if fails == 0 {
		return func([]float64) float64 { return 0 }
	}
	usual := 1 - 2*(float64(fails)+0.5)/(float64(len(labels))+1)
	for i := range labels {
		labels[i] -= usual
	}
	z := m.gp.whiten(labels)
	const sure = 0.7
	return func(row []float64) float64 {
		return math.Log(max(0.5*math.Erfc(-(usual+dot(row, z))/(sure*math.Sqrt2)), 1e-3))
	}
}

// costs returns the logarithm of the expected cost of evaluating a candidate, relative to
// the cheapest so far.
func (m *Model) costs() func(row []float64) float64 {
	mean, least, n := 0.0, math.Inf(1), 0
	for _, k := range m.known[m.source:] {
		if !math.IsNaN(k.cost) {
			mean += k.cost
			least = min(least, k.cost)
			n++
		}
	}
	if !m.byCost || n == 0 {
		return func([]float64) float64 { return 0 }
	}
	mean /= float64(n)
	c := make([]float64, len(m.known))
	for i, k := range m.known[m.source:] {
		if !math.IsNaN(k.cost) {
			c[m.source+i] = k.cost - mean
		}
	}
	z := m.gp.whiten(c)
	return func(row []float64) float64 { return max(mean+dot(row, z)-least, 0) }
}

// logImprovement returns the logarithm of the expected improvement of a standard normal
// variable whose mean is u better than the target.
func logImprovement(u float64) float64 {
	if u > -25 {
		return math.Log(u*0.5*math.Erfc(-u/math.Sqrt2) + math.Exp(-u*u/2)/math.Sqrt(2*math.Pi))
	}
	// The tail, where the two terms above would cancel.
	return -u*u/2 - math.Log(math.Sqrt(2*math.Pi)) - 2*math.Log(-u) + math.Log1p(-3/(u*u))
}
