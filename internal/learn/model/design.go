package model

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// place is where a fix was tried: attempts of one place measure the same thing again.
type place struct {
	Key
	Kernel string
}

// cell is all that was seen at one place.
type cell struct {
	place
	n        int
	gain     float64 // mean, the better measured counting more
	variance float64 // of that mean, by measuring alone
	prior    float64
	claims   []Claim
}

// cells puts outcomes together by place. Outcomes on a kernel without a name have nothing in
// common and stay apart.
func cells(outcomes []Outcome) []cell {
	sorted := slices.Clone(outcomes)
	slices.SortFunc(sorted, compareOutcomes) // sums, and so the answer, do not depend on the order of learning
	var list []cell
	for i := 0; i < len(sorted); {
		o := sorted[i]
		c := cell{place: place{o.Key, o.Kernel}}
		var weight, gain, prior float64
		for ; i < len(sorted) && sorted[i].Key == o.Key && sorted[i].Kernel == o.Kernel; i++ {
			w := 1 / (square(sorted[i].Error) + square(leastError))
			weight, gain, prior = weight+w, gain+w*sorted[i].Gain, prior+sorted[i].Prior
			c.n++
			if len(c.claims) == 0 {
				c.claims = sorted[i].Claims
			}
			if o.Kernel == "" {
				i++
				break
			}
		}
		c.gain, c.variance, c.prior = gain/weight, 1/weight, prior/float64(c.n)
		list = append(list, c)
	}
	return list
}

// leastError is what a measurement on another day is off by, however steady it was.
const leastError = 0.01

func compareOutcomes(a, b Outcome) int {
	return cmp.Or(
		cmp.Compare(a.Fix, b.Fix), cmp.Compare(a.Class, b.Class), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Kernel, b.Kernel),
		cmp.Compare(a.Gain, b.Gain), cmp.Compare(a.Error, b.Error), cmp.Compare(a.Prior, b.Prior),
		slices.CompareFunc(a.Claims, b.Claims, compareClaims),
	)
}

func compareClaims(a, b Claim) int {
	return cmp.Or(cmp.Compare(a.Lesson, b.Lesson), cmp.Compare(a.Gain, b.Gain))
}

// term is an unknown of the model and what it is multiplied by.
type term struct {
	at int
	x  float64
}

// row says which unknowns make up the gain at a place.
type row struct {
	fix    int     // -1 for a fix that was never tried
	block  []term  // unknowns of this fix alone
	shared []term  // unknowns that all fixes share
	kernel int     // the kernel's own unknown, counted from 0; -1 where it has none
	absent []part  // unknowns of which no outcome says anything yet
	unit   float64 // what everything about this gain is measured in
}

// part names what an unknown stands for, and with what it is multiplied.
type part struct {
	kind kind
	x    float64
}

type kind uint8

// The kinds of unknowns: of a fix alone, then shared.
const (
	ofFix kind = iota
	ofSlope
	ofFixClass
	ofFixGPU

	ofAll
	ofRules
	ofClass
	ofGPU
	ofLesson
)

// shared is whether fixes share it.
func (k kind) shared() bool { return k >= ofAll }

// block is the unknowns of one fix.
type block struct {
	kinds   []kind
	at      map[name]int
	rows    []int // its cells
	columns []int // of the shared unknowns, those its cells have; kernels last
	plain   int   // how many of the columns are not kernels
}

// name is what an unknown is found by.
type name struct {
	kind kind
	of   string
}

// design is the outcomes as equations.
type design struct {
	relative bool // gains are off by so many percent of what is expected, not by so much
	cells    []cell
	rows     []row
	blocks   []block
	fixes    map[string]int
	shared   []kind
	at       map[name]int
	places   map[place]int
	// kernels on which more than one fix was tried have an unknown of their own; of one on
	// which a single fix was tried it is part of the scatter, which is the same and cheaper.
	kernels map[string]int
	alone   map[string]int // its only cell
}

func newDesign(list []cell, relative bool) *design {
	d := &design{
		relative: relative, cells: list, rows: make([]row, len(list)), fixes: map[string]int{}, at: map[name]int{},
		places: map[place]int{}, kernels: map[string]int{}, alone: map[string]int{},
	}
	d.shared = []kind{ofAll, ofRules}
	tried := map[string]int{}
	for _, c := range list {
		tried[c.Kernel]++
	}
	for i, c := range list {
		if c.Kernel != "" {
			d.places[c.place] = i
		}
		if c.Kernel != "" && tried[c.Kernel] == 1 {
			d.alone[c.Kernel] = i
		}
	}
	delete(tried, "")
	names := slices.SortedFunc(maps.Keys(tried), func(a, b string) int {
		return cmp.Or(cmp.Compare(tried[b], tried[a]), cmp.Compare(a, b))
	})
	for _, k := range names[:min(len(names), mostKernels)] {
		if tried[k] > 1 {
			d.kernels[k] = len(d.kernels)
		}
	}
	for i, c := range list {
		d.rows[i] = d.describe(c.place, c.prior, c.claims, true)
		b := &d.blocks[d.rows[i].fix]
		b.rows = append(b.rows, i)
	}
	for i := range d.blocks {
		d.touch(&d.blocks[i])
	}
	return d
}

// mostKernels bounds the work. Kernels past it, those with the fewest fixes tried, count as
// if each of their fixes had been tried on a kernel of its own.
const mostKernels = 256

// touch finds the shared unknowns of a block.
func (d *design) touch(b *block) {
	seen := map[int]bool{}
	add := func(at int) {
		if !seen[at] {
			seen[at] = true
			b.columns = append(b.columns, at)
		}
	}
	for _, i := range b.rows {
		for _, t := range d.rows[i].shared {
			add(t.at)
		}
	}
	b.plain = len(b.columns)
	for _, i := range b.rows {
		if k := d.rows[i].kernel; k >= 0 {
			add(len(d.shared) + k)
		}
	}
}

// describe says what makes up the gain at a place. With grow, unknowns that are new are
// added; otherwise they are told as absent.
func (d *design) describe(p place, prior float64, claims []Claim, grow bool) row {
	r := row{fix: -1, kernel: -1, unit: d.unit(prior, claims)}
	if at, ok := d.fixes[p.Fix]; ok {
		r.fix = at
	} else if grow {
		r.fix = len(d.blocks)
		d.fixes[p.Fix] = r.fix
		d.blocks = append(d.blocks, block{kinds: []kind{ofFix, ofSlope}, at: map[name]int{}})
	}
	if at, ok := d.kernels[p.Kernel]; ok {
		r.kernel = at
	}
	add := func(k kind, of string, x float64) {
		kinds, at := &d.shared, d.at
		if !k.shared() {
			if r.fix < 0 {
				r.absent = append(r.absent, part{k, x})
				return
			}
			kinds, at = &d.blocks[r.fix].kinds, d.blocks[r.fix].at
		}
		i, ok := at[name{k, of}]
		if !ok && !grow {
			r.absent = append(r.absent, part{k, x})
			return
		}
		if !ok {
			i = len(*kinds)
			at[name{k, of}] = i
			*kinds = append(*kinds, k)
		}
		if k.shared() {
			r.shared = append(r.shared, term{i, x})
		} else {
			r.block = append(r.block, term{i, x})
		}
	}
	if r.fix < 0 {
		r.absent = append(r.absent, part{ofFix, r.unit}, part{ofSlope, prior})
	} else {
		r.block = append(r.block, term{0, r.unit}, term{1, prior})
	}
	add(ofFixClass, p.Class, r.unit)
	add(ofFixGPU, p.GPU, r.unit)
	r.shared = append(r.shared, term{0, 1}, term{1, prior})
	add(ofClass, p.Class, 1)
	add(ofGPU, p.GPU, 1)
	// A claim moves the expectation away from that of the rule, towards itself. Many claims
	// count as much as one: lessons are cheap to write.
	for _, c := range claims {
		add(ofLesson, c.Lesson, departs(c, prior)/float64(len(claims)))
	}
	return r
}

// departs is how far a claim is from what the rule lets expect.
func departs(c Claim, prior float64) float64 { return c.Gain - ruleTrust*prior }

// unit is 1, or in a relative design the gain expected at a place over a usual one.
func (d *design) unit(prior float64, claims []Claim) float64 {
	if !d.relative {
		return 1
	}
	expected := ruleTrust * prior
	for _, c := range claims {
		expected += lessonTrust * departs(c, prior) / float64(len(claims))
	}
	return min(max((math.Abs(expected)/ruleTrust+usualPrior/2)/(1.5*usualPrior), 0.4), 4)
}
