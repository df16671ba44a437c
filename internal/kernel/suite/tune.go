package suite

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Tune defines what to vary in a benchmark to make it faster.
type Tune struct {
	Parameters  []Tunable
	Constraints []*expr.Expr // each must be true, over tunables and the config's parameters
	Occupancy   *Occupancy   // nil if unset
}

// Tunable is a parameter of how a benchmark computes, not of what it computes. Every config has
// it, but it is not part of a config's name.
type Tunable struct {
	Name    string
	Values  []any
	Default any        // one of the values
	When    *expr.Expr // nil means always; if false, the parameter has its default
}

// Occupancy holds what a block of the kernel uses, as expressions over tunables and the
// config's parameters; nil if unset.
type Occupancy struct {
	Threads, Shared, Registers *expr.Expr
}

// Defaults returns the values in use when nothing is being tuned.
func (t *Tune) Defaults() map[string]any {
	values := make(map[string]any, len(t.Parameters))
	for _, p := range t.Parameters {
		values[p.Name] = p.Default
	}
	return values
}

// settle adds the tunables to the parameters of a config. A tunable whose condition is false
// has its default, whatever value was chosen.
func (t *Tune) settle(p Params, chosen map[string]any) (Params, *evalError) {
	out := slices.Clip(slices.Clone(p))
	variables := p.Map()
	for _, x := range t.Parameters {
		v, ok := chosen[x.Name]
		if x.When != nil && ok {
			active, err := x.When.Bool(variables)
			if err != nil {
				return nil, &evalError{formula{Expr: x.When}, err}
			}
			ok = active
		}
		if !ok {
			v = x.Default
		}
		variables[x.Name] = v
		out = append(out, Param{x.Name, v})
	}
	return out, nil
}

// allows returns the first constraint that does not hold, or nil if all hold.
func (t *Tune) allows(p Params) (broken *expr.Expr, err error) {
	variables := p.Map()
	for _, c := range t.Constraints {
		ok, err := c.Bool(variables)
		if err != nil || !ok {
			return c, err
		}
	}
	return nil, nil
}

// Complete adds the tunables to the parameters of a config, with their values in this suite.
// Commands, launches and the harness receive the result. The config keeps its own name and
// parameters, because the correct result does not depend on tunables.
func (b Benchmark) Complete(p Params) Params {
	if b.Tune == nil {
		return p
	}
	out, bad := b.Tune.settle(p, b.tuned)
	if bad != nil { // a config outside the suite, for which a condition has no meaning
		out, _ = b.Tune.settle(p, nil)
	}
	return out
}

// Tuned returns the suite with one benchmark only and other values for its tunables; those not
// in values keep their defaults. It leaves out configs that violate the constraints, and other
// benchmarks: they may share a build, which can have only one value of each tunable.
func (s *Suite) Tuned(benchmark string, values map[string]any) (*Suite, error) {
	i := slices.IndexFunc(s.Benchmarks, func(b Benchmark) bool { return b.Name == benchmark })
	if i < 0 || s.Benchmarks[i].Tune == nil {
		return nil, fmt.Errorf("benchmark %q has nothing to tune: add tune to it in the suite", benchmark)
	}
	b := s.Benchmarks[i]
	plain := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v, ok := plainValue(values[name])
		switch j := b.Tune.index(name); {
		case j < 0:
			return nil, fmt.Errorf("%q is not a tunable of benchmark %q (known: %s)", name, benchmark, listOf(b.Tune.names()))
		case !ok || !slices.Contains(b.Tune.Parameters[j].Values, v):
			return nil, fmt.Errorf("%v is not a value of tunable %q of benchmark %q", values[name], name, benchmark)
		}
		plain[name] = v
	}
	why := ""
	if !slices.ContainsFunc(b.Configs, func(c Config) bool {
		var ok bool
		ok, why = b.Allows(c.Params, plain)
		return ok
	}) {
		return nil, fmt.Errorf("the constraints of benchmark %q reject these values for every config: %s", benchmark, why)
	}
	return resolve(s.root, s.doc, s.listed, &tuning{benchmark, map[string]map[string]any{benchmark: plain}}, &strictyaml.Problems{Files: s.Files})
}

// TunesBuild reports whether the tunables of a benchmark change how an implementation is built,
// and not only how it is started or called.
func (s *Suite) TunesBuild(implementation string, b Benchmark) bool {
	side := s.side(implementation)
	if side == nil || b.Tune == nil {
		return false
	}
	texts := side.Build.texts()
	for _, e := range side.Build.Env {
		texts = append(texts, text(e.value))
	}
	return slices.ContainsFunc(placeholders(texts), func(t template) bool { return b.Tune.index(t.param) >= 0 })
}

// Allows reports whether the constraints of a benchmark hold for a config with these values of
// its tunables. If not, it also returns why.
func (b Benchmark) Allows(p Params, values map[string]any) (bool, string) {
	if b.Tune == nil {
		return true, ""
	}
	full, bad := b.Tune.settle(p, values)
	if bad != nil {
		return false, bad.err.Error()
	}
	broken, err := b.Tune.allows(full)
	switch {
	case err != nil:
		return false, fmt.Sprintf("%s: %v", broken, err)
	case broken != nil:
		return false, broken.String() + " is false"
	}
	return true, ""
}

func (t *Tune) index(name string) int {
	return slices.IndexFunc(t.Parameters, func(p Tunable) bool { return p.Name == name })
}

func (t *Tune) names() []string {
	names := make([]string, len(t.Parameters))
	for i, p := range t.Parameters {
		names[i] = p.Name
	}
	return names
}

// tuning holds the values that a resolver uses in place of the defaults.
type tuning struct {
	only   string                    // the one benchmark to keep; empty means all
	values map[string]map[string]any // by benchmark
}

// wants reports whether the suite keeps a benchmark.
func (t *tuning) wants(benchmark string) bool {
	return t == nil || t.only == "" || t.only == benchmark
}

// String returns a text that distinguishes tuned suites in their digest.
func (t *tuning) String() string {
	if t == nil {
		return ""
	}
	lines := []string{"tuned " + t.only}
	for _, benchmark := range slices.Sorted(maps.Keys(t.values)) {
		lines = append(lines, benchmark)
		for _, name := range slices.Sorted(maps.Keys(t.values[benchmark])) {
			v := t.values[benchmark][name]
			lines = append(lines, fmt.Sprintf("%s %T %s", name, v, formatValue(v)))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// tune checks the tune section of a benchmark. Its configs must be known.
func (r *resolver) tune(e *entry[benchmarkDoc], b *Benchmark) {
	d := e.value.Tune
	if d == nil || len(b.Configs) == 0 {
		return
	}
	before := r.Found
	known := b.Configs[0].Params.names()
	t := &Tune{}
	for _, p := range d.Parameters {
		t.Parameters = append(t.Parameters, r.tunable(p, known))
		known = append(known, p.name)
	}
	if len(known) > maxParams {
		r.Add(e.at, "", "benchmark %q has %d parameters with its tunables, the limit is %d", e.name, len(known), maxParams)
	}
	for _, c := range d.Constraints {
		r.checkVariables(c, known)
		t.Constraints = append(t.Constraints, c.Expr)
	}
	if o := d.Occupancy; o != nil {
		for _, x := range []formula{o.Threads, o.Shared, o.Registers} {
			r.checkVariables(x, known)
		}
		t.Occupancy = &Occupancy{o.Threads.Expr, o.Shared.Expr, o.Registers.Expr}
	}
	if r.Found > before {
		return
	}
	r.tryDefaults(d, t, b)
	if r.Found > before {
		return
	}
	b.Tune = t
	if r.tuning != nil {
		b.tuned = r.tuning.values[b.Name]
	}
	if r.tuning != nil && r.tuning.only != "" {
		b.Configs = slices.DeleteFunc(b.Configs, func(c Config) bool {
			ok, _ := b.Allows(c.Params, b.tuned)
			return !ok
		})
	}
}

// tunable checks one tunable; its condition may use the parameters before it.
func (r *resolver) tunable(p entry[tunable], known []string) Tunable {
	t := Tunable{Name: p.name, When: p.value.When.Expr}
	if slices.Contains(known, p.name) {
		r.Add(p.at, "a parameter of the matrix defines what is computed, a tunable defines how", "%q is already a parameter", p.name)
	}
	for _, v := range p.value.Values {
		t.Values = append(t.Values, v.value)
	}
	if len(t.Values) > maxTunableValues {
		r.Add(p.at, "", "%q has %d values, the limit is %d", p.name, len(t.Values), maxTunableValues)
	}
	t.Default = t.Values[0]
	if at := p.value.Default.at; at != nil {
		if t.Default = p.value.Default.value; !slices.Contains(t.Values, t.Default) {
			r.Add(at, "", "default: %s is not one of the values of %q", at.Describe(), p.name)
		}
	}
	r.checkVariables(p.value.When, known)
	if len(t.Values) == 1 {
		r.warnings.Add(p.at, "", "%q has one value: there is nothing to tune", p.name)
	}
	return t
}

// tryDefaults checks that everything works with the default values: the space must contain the
// point in use today, or there is nothing to compare with.
func (r *resolver) tryDefaults(d *tuneDoc, t *Tune, b *Benchmark) {
	seen := map[*strictyaml.Node]bool{}
	for _, c := range b.Configs {
		p, bad := t.settle(c.Params, t.Defaults())
		if bad != nil {
			for _, x := range d.Parameters {
				if x.value.When.Expr == bad.Expr {
					r.misfit(&evalError{x.value.When, bad.err}, c.Name, seen)
				}
			}
			return
		}
		variables := p.Map()
		for _, x := range d.Constraints {
			ok, err := x.Bool(variables)
			if err == nil && !ok {
				err = &expr.Error{Msg: "the constraint is false for the defaults", Hint: "choose other defaults: the search space must contain the values in use"}
			}
			if err != nil {
				r.misfit(&evalError{x, err}, c.Name, seen)
			}
		}
		if d.Occupancy == nil {
			continue
		}
		for _, x := range []formula{d.Occupancy.Threads, d.Occupancy.Shared, d.Occupancy.Registers} {
			v, err := 0.0, error(nil)
			if x.set() {
				v, err = x.Number(variables)
			}
			if err == nil && v < 0 {
				err = errors.New("must be at least 0")
			}
			if err != nil {
				r.misfit(&evalError{x, err}, c.Name, seen)
			}
		}
	}
}

// allNames returns the parameter names of every config, tunables included.
func (b *Benchmark) allNames() []string {
	names := b.Configs[0].Params.names()
	if b.Tune != nil {
		names = append(names, b.Tune.names()...)
	}
	return names
}

// valuesOf returns all possible values of a parameter of the benchmark.
func (b *Benchmark) valuesOf(name string) []any {
	if b.Tune != nil {
		if i := b.Tune.index(name); i >= 0 {
			return b.Tune.Parameters[i].Values
		}
	}
	var list []any
	for _, v := range valuesOf(b.Configs, name) {
		list = append(list, v.value)
	}
	return list
}

// tunable is a tunable as written: its values, or a mapping with more keys.
type tunable struct{ tunableDoc }

func (t *tunable) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	if n.Kind == strictyaml.Map {
		d.Mapping(n, reflect.ValueOf(&t.tunableDoc).Elem(), f)
		return
	}
	t.Values.ReadYAML(d, n, f)
}

func (*tunable) schema(s *schemaWriter, f strictyaml.Field) object {
	return object{"anyOf": []object{(*many[scalar])(nil).schema(s, f), s.structure(reflect.TypeFor[tunableDoc](), nil)}}
}

// maxTunableValues is the maximum number of values of one tunable.
const maxTunableValues = 1000
