package suite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// Preflight holds what is known about a config's kernel before it runs, and what is required
// of it.
type Preflight struct {
	Kernel    string  // glob over the kernels of the build; empty if unset
	Shared    int     // static shared memory of a block in bytes; -1 if unset
	Dynamic   int     // dynamic shared memory of a block in bytes; -1 if unset
	Threads   int     // per block; 0 if unset
	Spills    string  // "auto", "allow", "warn" or "stop"
	Occupancy float64 // minimum, as a fraction; 0 means no minimum
}

// Claims holds the performance that the suite claims for a config; 0 means no claim.
type Claims struct {
	GFLOPS float64
	GBps   float64
	TimeUS float64
}

// Preflight returns what the suite states about a config before it is built. Values that it
// does not set come from launch.
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
		n, bad := evalSizes([]formula{x.formula}, all.Map(), x.min)
		if bad != nil {
			return out, fmt.Errorf("preflight of %s/%s: %s: %w", b.Name, ConfigName(p), bad.key, bad.err)
		}
		*x.to = n[0]
	}
	return out, nil
}

// figure is a whole number set in the file, and where to store it.
type figure struct {
	formula
	min int
	to  *int
}

func (d preflightDoc) numbers(out *Preflight) []figure {
	all := []figure{{d.Shared, 0, &out.Shared}, {d.Dynamic, 0, &out.Dynamic}, {d.Threads, 1, &out.Threads}}
	return slices.DeleteFunc(all, func(f figure) bool { return !f.set() })
}

// Claims returns what the suite claims for a config.
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

// claim is a claim set in the file, and where to store it.
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

func (c claim) value(p Params) (float64, *evalError) {
	v, err := c.Number(p.Map())
	if err == nil && v <= 0 {
		err = errors.New("must be above 0")
	}
	if err != nil {
		return 0, &evalError{c.formula, err}
	}
	return v, nil
}

// Preflight returns the requirements for a kernel that belongs to no benchmark.
func (s *Suite) Preflight() Preflight { return s.doc.Preflight.plain() }

// plain returns the requirements for a kernel about which nothing else is known.
func (g gatesDoc) plain() Preflight {
	return Preflight{Shared: -1, Dynamic: -1, Spills: cmp.Or(string(g.Spills), auto), Occupancy: g.Occupancy.value}
}

// checkPreflight checks the variables and placeholders in a benchmark's preflight and claims.
func (r *resolver) checkPreflight(e *entry[benchmarkDoc], names []string) {
	d := e.value.Preflight
	for _, x := range []formula{d.Shared, d.Dynamic, d.Threads, e.value.Claims.GFLOPS, e.value.Claims.GBps, e.value.Claims.TimeUS} {
		r.checkVariables(x, names)
	}
	r.checkPlaceholders(e, names, d.Kernel)
}

// checkPlaceholders reports the placeholders of texts that are not parameters of a benchmark.
func (r *resolver) checkPlaceholders(e *entry[benchmarkDoc], params []string, texts ...text) {
	for _, t := range placeholders(texts) {
		if !slices.Contains(params, t.param) {
			r.AddAt(t.at.Inside(t.char), strictyaml.DidYouMean(t.param, params), "${%s} is not a parameter of benchmark %q", t.param, e.name)
		}
	}
}

// tryPreflight reports expressions that do not work for a config.
func (r *resolver) tryPreflight(e *entry[benchmarkDoc], c Config, seen map[*strictyaml.Node]bool) {
	d := e.value.Preflight
	for _, n := range d.numbers(&Preflight{}) {
		_, bad := evalSizes([]formula{n.formula}, c.Params.Map(), n.min)
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
