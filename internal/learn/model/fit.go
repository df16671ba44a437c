package model

import "math"

// scales are the standard deviations of the model's parts.
type scales struct {
	fix    float64 // how far a fix is off its rule, everywhere
	slope  float64 // how much more or less optimistic one rule is than the others
	class  float64 // what the bottleneck changes about a fix
	gpu    float64 // what the GPU changes about a fix
	noise  float64 // how gains of one fix scatter from kernel to kernel
	kernel float64 // share of the noise's variance that all fixes on a kernel have in common
}

// What is held before any outcome. Gains are logarithms: 0.08 is about 8 %.
var usual = scales{fix: 0.055, slope: 0.15, class: 0.055, gpu: 0.03, noise: 0.1, kernel: 0.2}

const (
	ruleTrust         = 0.7 // rules promise more than they keep
	ruleTrustSpread   = 0.35
	levelSpread       = 0.03 // of all gains, of those of a class, of those on a GPU
	lessonTrust       = 0.15 // share of the way to a lesson's claim that is believed unseen
	lessonTrustSpread = 0.2
)

// centre is what an unknown is expected to be.
func centre(k kind) float64 {
	switch k {
	case ofRules:
		return ruleTrust
	case ofLesson:
		return lessonTrust
	default:
		return 0
	}
}

// variance is how far an unknown may be off its centre.
func (s scales) variance(k kind) float64 {
	switch k {
	case ofFix:
		return square(s.fix)
	case ofSlope:
		return square(s.slope)
	case ofFixClass:
		return square(s.class)
	case ofFixGPU:
		return square(s.gpu)
	case ofRules:
		return square(ruleTrustSpread)
	case ofLesson:
		return square(lessonTrustSpread)
	default:
		return square(levelSpread)
	}
}

// fit is what is known of all unknowns after the outcomes: their joint normal distribution,
// held as factors of its precision. The unknowns of one fix meet those of another only
// through what all fixes share, so each fix is eliminated alone and what remains is small.
type fit struct {
	*design
	scales
	weights  []float64 // of cells: below 1 for those that are far off
	blocks   []solved
	size     int       // shared unknowns, with kernels
	factor   []float64 // of their precision, the fixes eliminated
	half     []float64 // factor⁻¹ times the right side
	evidence float64   // logarithm of the outcomes' density, up to a constant
}

// solved is one fix, given the shared unknowns.
type solved struct {
	size    int
	factor  []float64
	columns []float64 // factor⁻¹ times the coupling to each of the block's shared columns
	half    []float64
}

// scatter is the variance of a cell's gain given the unknowns.
func (f *fit) scatter(i int, weight float64) float64 {
	return ((1-f.kernel)*square(f.noise*f.rows[i].unit) + f.cells[i].variance) / weight
}

// solve conditions the model on its outcomes, exactly. With scales.kernel at 0 kernels have
// nothing in common and are left out.
func (d *design) solve(s scales, weights []float64) *fit {
	f := &fit{design: d, scales: s, weights: weights, size: len(d.shared), blocks: make([]solved, len(d.blocks))}
	if s.kernel > 0 {
		f.size += len(d.kernels)
	}
	q := f.size
	f.factor, f.half = make([]float64, q*q), make([]float64, q)
	for i := range q {
		v := s.kernel * square(s.noise)
		if i < len(d.shared) {
			v = s.variance(d.shared[i])
		}
		f.factor[i*q+i] = 1 / v
		f.evidence -= math.Log(v) / 2
	}
	local := make([]int, q)
	for i := range d.blocks {
		f.eliminate(i, local)
	}
	f.evidence -= cholesky(f.factor, q) / 2
	forward(f.factor, q, f.half)
	f.evidence += dot(f.half, f.half) / 2
	return f
}

// eliminate adds the cells of one fix to the equations of the shared unknowns and takes
// the fix's own unknowns out of them.
func (f *fit) eliminate(at int, local []int) {
	d, b, q := f.design, &f.design.blocks[at], f.size
	columns := b.columns
	if f.kernel == 0 {
		columns = columns[:b.plain]
	}
	for i, c := range columns {
		local[c] = i
	}
	m := len(b.kinds)
	s := solved{size: m, factor: make([]float64, m*m), columns: make([]float64, m*len(columns)), half: make([]float64, m)}
	for i, k := range b.kinds {
		v := f.variance(k)
		s.factor[i*m+i] = 1 / v
		f.evidence -= math.Log(v) / 2
	}
	var terms []term
	for _, i := range b.rows {
		r, c := &d.rows[i], d.cells[i]
		v := f.scatter(i, f.weights[i])
		terms = append(terms[:0], r.shared...)
		switch {
		case f.kernel == 0:
		case r.kernel >= 0:
			terms = append(terms, term{len(d.shared) + r.kernel, r.unit})
		default:
			v += f.kernel * square(f.noise*r.unit)
		}
		y := c.gain - d.expected(r)
		f.evidence -= (math.Log(v) + y*y/v) / 2
		for j, t := range r.block {
			w := t.x / v
			s.half[t.at] += w * y
			for _, u := range r.block[:j+1] {
				s.factor[max(t.at, u.at)*m+min(t.at, u.at)] += w * u.x
			}
			for _, u := range terms {
				s.columns[local[u.at]*m+t.at] += w * u.x
			}
		}
		for j, t := range terms {
			f.half[t.at] += t.x * y / v
			for _, u := range terms[:j+1] {
				f.factor[max(t.at, u.at)*q+min(t.at, u.at)] += t.x * u.x / v
			}
		}
	}
	f.evidence -= cholesky(s.factor, m) / 2
	forward(s.factor, m, s.half)
	f.evidence += dot(s.half, s.half) / 2
	for i, c := range columns {
		column := s.columns[i*m : i*m+m]
		forward(s.factor, m, column)
		f.half[c] -= dot(column, s.half)
		for j, other := range columns[:i+1] {
			f.factor[max(c, other)*q+min(c, other)] -= dot(column, s.columns[j*m:j*m+m])
		}
	}
	f.blocks[at] = s
}

// expected is the gain of a row before any outcome.
func (d *design) expected(r *row) float64 {
	var y float64
	for _, t := range r.shared {
		y += t.x * centre(d.shared[t.at])
	}
	for _, p := range r.absent {
		y += p.x * centre(p.kind)
	}
	return y
}
