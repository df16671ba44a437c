package model

// path is where the uncertainty of a gain comes from: two gains vary together as far as
// their paths are the same.
type path struct {
	shared []float64
	blocks []blockPath
}

type blockPath struct {
	fix int
	x   []float64
}

// dot is the covariance of two gains.
func (p path) dot(o path) float64 {
	var v float64
	if len(p.shared) > 0 && len(o.shared) > 0 {
		v = dot(p.shared, o.shared)
	}
	for _, a := range p.blocks {
		for _, b := range o.blocks {
			if a.fix == b.fix {
				v += dot(a.x, b.x)
			}
		}
	}
	return v
}

// scaled is a row times a factor.
type scaled struct {
	*row
	by float64
}

// posterior is mean and path of a sum of rows.
func (f *fit) posterior(rows ...scaled) (float64, path) {
	var mean float64
	p := path{shared: make([]float64, f.size)}
	for _, r := range rows {
		mean += r.by * f.expected(r.row)
		for _, t := range r.shared {
			p.shared[t.at] += r.by * t.x
		}
		if f.kernel > 0 && r.kernel >= 0 {
			p.shared[len(f.shared)+r.kernel] += r.by * r.unit
		}
		if r.fix >= 0 {
			x := p.block(r.fix, f.blocks[r.fix].size)
			for _, t := range r.block {
				x[t.at] += r.by * t.x
			}
		}
	}
	for _, b := range p.blocks {
		s, columns := &f.blocks[b.fix], f.design.blocks[b.fix].columns
		forward(s.factor, s.size, b.x)
		mean += dot(b.x, s.half)
		for i := range len(s.columns) / s.size {
			p.shared[columns[i]] -= dot(b.x, s.columns[i*s.size:(i+1)*s.size])
		}
	}
	forward(f.factor, f.size, p.shared)
	return mean + dot(p.shared, f.half), p
}

// block is the part of the path inside a fix, made where there is none yet.
func (p *path) block(fix, size int) []float64 {
	for _, b := range p.blocks {
		if b.fix == fix {
			return b.x
		}
	}
	p.blocks = append(p.blocks, blockPath{fix, make([]float64, size)})
	return p.blocks[len(p.blocks)-1].x
}

// guess is what to expect at a place.
func (f *fit) guess(p place, prior float64, claims []Claim) guess {
	r := f.describe(p, prior, claims, false)
	all := square(f.noise)
	common := f.kernel * all
	g := guess{common: common * r.squared(), own: (all - common) * r.squared()}
	rows := []scaled{{&r, 1}}
	// near takes over what one cell tells: k is the share of its surprise that is expected
	// here too, of the variance that both have in common.
	near := func(i int, both, noise float64) float64 {
		k := both * r.unit * f.rows[i].unit / noise
		g.mean = k * f.cells[i].gain
		rows = append(rows, scaled{&f.rows[i], -k})
		return both*r.squared() - k*both*r.unit*f.rows[i].unit
	}
	here, seen := f.places[p]
	alone, single := f.alone[p.Kernel]
	switch {
	case seen && r.kernel < 0: // tried here, and of the kernel nothing else tells
		g.own, g.common = near(here, all, f.scatter(here, f.weights[here])+common*f.rows[here].squared()), 0
	case seen:
		g.own, g.common = near(here, all-common, f.scatter(here, f.weights[here])), 0
	case single: // one other fix was tried: it tells something of the kernel
		g.common = near(alone, common, f.scatter(alone, f.weights[alone])+common*f.rows[alone].squared())
	case r.kernel >= 0:
		g.common = 0 // it is one of the unknowns
	}
	g.tail = g.own + g.common
	for _, a := range r.absent {
		v := square(a.x) * f.variance(a.kind)
		if a.kind == ofClass || a.kind == ofGPU {
			g.common += v
		} else {
			g.own += v
		}
	}
	mean, way := f.posterior(rows...)
	g.mean += mean
	g.path = way
	return g
}

// squared is the unit of variances.
func (r *row) squared() float64 { return r.unit * r.unit }
