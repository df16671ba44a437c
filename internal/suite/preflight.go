package suite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Preflight is what is known of a config's kernel before it runs, and what is asked
// of it.
type Preflight struct {
	Kernel    string  // glob over the kernels of the build; empty when the suite does not say
	Shared    int     // static shared memory of a block in bytes; -1 when the suite does not say
	Dynamic   int     // dynamic shared memory of a block in bytes; -1 when the suite does not say
	Threads   int     // of a block; 0 when the suite does not say
	Spills    string  // "auto", "allow", "warn" or "stop"
	Occupancy float64 // the least, as a part of one; 0 for any
}

// Claims is what the suite says a config reaches; 0 where it claims nothing.
type Claims struct {
	GFLOPS float64
	GBps   float64
	TimeUS float64
}

// Preflight is what the suite says of a config before it is built. What it does not
// say itself is taken from launch.
func (b Benchmark) Preflight(p Params) (Preflight, error) {
	out := b.gates.plain()
	if b.doc == nil {
		return out, nil
	}
	d := b.doc.Preflight
	all := b.Complete(p)
	out.Kernel = fill(d.Kernel.string, orNone(all))
	launch, err := b.Launch(p)
	if err != nil {
		return out, err
	}
	if launch != nil {
		out.Kernel = cmp.Or(out.Kernel, launch.Kernel)
		out.Dynamic = launch.Shared
		out.Threads = launch.Block[0] * launch.Block[1] * launch.Block[2]
	}
	for _, x := range d.numbers(&out) {
		n, bad := wholes([]formula{x.formula}, all.Map(), x.least)
		if bad != nil {
			return out, fmt.Errorf("preflight of %s/%s: %s: %w", b.Name, ConfigName(p), bad.key, bad.err)
		}
		*x.to = n[0]
	}
	return out, nil
}

// figure is a whole number that is written, and where it goes.
type figure struct {
	formula
	least int
	to    *int
}

func (d preflightDoc) numbers(out *Preflight) []figure {
	all := []figure{{d.Shared, 0, &out.Shared}, {d.Dynamic, 0, &out.Dynamic}, {d.Threads, 1, &out.Threads}}
	return slices.DeleteFunc(all, func(f figure) bool { return !f.set() })
}

// Claims is what the suite claims of a config.
func (b Benchmark) Claims(p Params) (Claims, error) {
	var out Claims
	if b.doc == nil {
		return out, nil
	}
	for _, c := range b.doc.Claims.list(&out) {
		v, bad := c.value(b.Complete(p))
		if bad != nil {
			return out, fmt.Errorf("claims of %s/%s: %s: %w", b.Name, ConfigName(p), bad.key, bad.err)
		}
		*c.to = v
	}
	return out, nil
}

// claim is one that is written, and where it goes.
type claim struct {
	formula
	to *float64
}

func (d claimsDoc) list(out *Claims) []claim {
	var list []claim
	for _, c := range []claim{{d.GFLOPS, &out.GFLOPS}, {d.GBps, &out.GBps}, {d.TimeUS, &out.TimeUS}} {
		if c.set() {
			list = append(list, c)
		}
	}
	return list
}

func (c claim) value(p Params) (float64, *misfit) {
	v, err := c.Number(p.Map())
	if err == nil && v <= 0 {
		err = errors.New("want a number above 0")
	}
	if err != nil {
		return 0, &misfit{c.formula, err}
	}
	return v, nil
}

// Preflight is what is asked of a kernel that is no benchmark's.
func (s *Suite) Preflight() Preflight { return s.doc.Preflight.plain() }

// plain is what is asked of a kernel of which nothing else is known.
func (g gatesDoc) plain() Preflight {
	return Preflight{Shared: -1, Dynamic: -1, Spills: cmp.Or(string(g.Spills), auto), Occupancy: g.Occupancy.value}
}

// over lays a benchmark's own gates over the suite's.
func (g gatesDoc) over(base gatesDoc) gatesDoc {
	if g.Spills == "" {
		g.Spills = base.Spills
	}
	if g.Occupancy.at == nil {
		g.Occupancy = base.Occupancy
	}
	return g
}

// checkPreflight checks what a benchmark says before it is built.
func (r *resolver) checkPreflight(e *entry[benchmarkDoc], names []string) {
	d := e.value.Preflight
	for _, x := range []formula{d.Shared, d.Dynamic, d.Threads, e.value.Claims.GFLOPS, e.value.Claims.GBps, e.value.Claims.TimeUS} {
		if x.set() {
			r.knows(x, names)
		}
	}
	for _, t := range places([]text{d.Kernel}) {
		if !slices.Contains(names, t.param) {
			r.addAt(t.at.inside(t.char), didYouMean(t.param, names), "${%s} is not a parameter of benchmark %q", t.param, e.name)
		}
	}
}

// misfitsOfPreflight finds expressions that do not work for a config.
func (r *resolver) misfitsOfPreflight(e *entry[benchmarkDoc], c Config, seen map[*node]bool) {
	d := e.value.Preflight
	for _, n := range d.numbers(&Preflight{}) {
		_, bad := wholes([]formula{n.formula}, c.Params.Map(), n.least)
		r.misfit(bad, c.Name, seen)
	}
	for _, x := range e.value.Claims.list(&Claims{}) {
		_, bad := x.value(c.Params)
		r.misfit(bad, c.Name, seen)
	}
}

func orNone(p Params) Params {
	if p == nil {
		return Params{}
	}
	return p
}
