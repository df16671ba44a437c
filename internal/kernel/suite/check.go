package suite

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Check defines the correct result of a benchmark. Exactly one of Oracle, Implementation
// and Expression is set.
type Check struct {
	Oracle         string    // a command
	Implementation string    // an implementation of the suite
	Expression     []Formula // one for each output
	Fuzz           Fuzz
	Inputs         []string // kinds of input data
	Seeds          int      // for each config and kind
	Tolerance      Tolerance
	Deterministic  string // "bitwise", "bounded" or "no"
}

// Formula computes the correct elements of an output. See expr.CompileElementwise.
type Formula struct {
	Output string
	Expr   *expr.Expr
}

// Fuzz defines the configs in which to search for wrong results.
type Fuzz struct {
	Configs       []Config
	Cover         string         // "full" or "pairwise"
	Jitter, Edges map[string]int // by parameter
}

// Tolerance holds how far a result may be off. A nil rule is unset.
type Tolerance struct {
	Atol, Rtol, Flash, Cosine, Matched *float64
}

func (r *resolver) check(e *entry[benchmarkDoc], b *Benchmark, params []string) *Check {
	at := e.node.Get("check")
	if at == nil || at.IsNull() || at.Kind == strictyaml.Map && len(at.Keys) == 0 {
		return nil
	}
	d := e.value.Check
	c := &Check{
		Oracle: d.Oracle.string, Implementation: d.Implementation.string,
		Seeds: 1, Deterministic: string(cmp.Or(d.Deterministic, "bounded")),
		Tolerance: Tolerance{d.Tolerance.Atol, d.Tolerance.Rtol, d.Tolerance.Flash, d.Tolerance.Cosine, d.Tolerance.Matched},
	}
	if d.Seeds != nil {
		c.Seeds = *d.Seeds
	}
	for _, kind := range d.Inputs {
		c.Inputs = append(c.Inputs, string(kind))
	}
	if c.Inputs == nil {
		c.Inputs = []string{"normal", "large", "equal_rows"}
	}
	sources := 0
	for _, written := range []bool{c.Oracle != "", c.Implementation != "", len(d.Expression) > 0} {
		if written {
			sources++
		}
	}
	switch known := append([]string{Candidate}, r.doc.Implementations.names()...); {
	case sources != 1:
		r.Add(at, "set exactly one of oracle, implementation and expression", "check: expected one source of correct results, got %d", sources)
	case len(e.value.Arguments) == 0:
		r.Add(at, "describe the kernel's arguments under arguments", "benchmark %q has check but no arguments", e.name)
	case c.Implementation == Candidate || c.Implementation != "" && r.suite.side(c.Implementation) == nil:
		r.Add(d.Implementation.at, strictyaml.DidYouMean(c.Implementation, known[1:]), "implementation %q cannot be the source of correct results", c.Implementation)
	}
	c.Expression = r.checkExpression(e, params)
	c.Fuzz = r.checkFuzz(e, b, params)
	return c
}

// checkExpression checks that every output has a formula that uses only inputs and
// parameters.
func (r *resolver) checkExpression(e *entry[benchmarkDoc], params []string) []Formula {
	written := e.value.Check.Expression
	if len(written) == 0 {
		return nil
	}
	known := slices.Clone(params)
	var outputs []string
	for _, a := range e.value.Arguments {
		role, _ := a.value.role()
		if role == tensor.Out || role == tensor.InOut {
			outputs = append(outputs, a.name)
		}
		if role == tensor.In || role == tensor.InOut {
			if slices.Contains(params, a.name) {
				r.Add(a.at, "rename one of them", "%q is both an input and a parameter, which is ambiguous in an expression", a.name)
			}
			known = append(known, a.name)
			for _, f := range expr.Aggregates() {
				known = append(known, expr.Aggregate(f, a.name))
			}
		}
	}
	var list []Formula
	for _, x := range written {
		if !slices.Contains(outputs, x.name) {
			r.Add(x.at, strictyaml.DidYouMean(x.name, outputs), "expression: %q is not an output", x.name)
			continue
		}
		r.checkVariables(x.value.formula, known)
		list = append(list, Formula{x.name, x.value.Expr})
	}
	for _, name := range outputs {
		if written.get(name) == nil {
			r.Add(e.node.Get("check").Get("expression"), "", "expression: output %q is missing", name)
		}
	}
	return list
}

func (r *resolver) checkFuzz(e *entry[benchmarkDoc], b *Benchmark, params []string) Fuzz {
	d := e.value.Check.Fuzz
	f := Fuzz{Configs: r.fuzzConfigs(e, b, params), Cover: string(cmp.Or(d.Cover, "full"))}
	f.Jitter = r.fuzzedParams(e, "jitter", d.Jitter, f.Configs, params)
	f.Edges = r.fuzzedParams(e, "edges", d.Edges, f.Configs, params)
	return f
}

// fuzzConfigs returns the configs of the benchmark or, if fuzz has its own matrix, every
// combination of it. A parameter that the matrix does not name keeps its values.
func (r *resolver) fuzzConfigs(e *entry[benchmarkDoc], b *Benchmark, params []string) []Config {
	written := e.value.Check.Fuzz.Matrix
	if len(written) == 0 {
		return b.Configs
	}
	for _, p := range written {
		if !slices.Contains(params, p.name) {
			r.Add(p.at, strictyaml.DidYouMean(p.name, params), "unknown parameter %q", p.name)
			return nil
		}
	}
	matrix := make(named[paramName, many[scalar]], len(params))
	size := 1
	for i, name := range params {
		if p := written.get(name); p != nil {
			matrix[i] = *p
		} else {
			matrix[i] = entry[many[scalar]]{name: name, value: valuesOf(b.Configs, name)}
		}
		if size *= len(matrix[i].value); size > maxCases {
			r.Add(written[0].at, "", "the fuzz matrix of benchmark %q has more than %d configs", e.name, maxCases)
			return nil
		}
	}
	configs := product(matrix, size)
	for i := range configs {
		configs[i].Name = ConfigName(configs[i].Params)
	}
	return configs
}

// valuesOf returns the distinct values of a parameter.
func valuesOf(configs []Config, name string) many[scalar] {
	var list many[scalar]
	seen := map[any]bool{}
	for _, c := range configs {
		if v, ok := c.Params.Get(name); ok && !seen[v] {
			seen[v] = true
			list = append(list, scalar{value: v})
		}
	}
	return list
}

// fuzzedParams checks the parameters whose values fuzzing changes. They must be whole numbers and
// not used in a command, because each value would need its own build.
func (r *resolver) fuzzedParams(e *entry[benchmarkDoc], key string, list named[paramName, int], configs []Config, params []string) map[string]int {
	out := map[string]int{}
	for _, p := range list {
		if !slices.Contains(params, p.name) {
			r.Add(p.at, strictyaml.DidYouMean(p.name, params), "unknown parameter %q", p.name)
			continue
		}
		if slices.ContainsFunc(r.suite.sides[0].templates, func(t template) bool { return t.param == p.name }) {
			r.Add(p.at, "list its values in the fuzz matrix", "%s: %q is used in a command, so every value needs its own build", key, p.name)
		}
		for _, v := range valuesOf(configs, p.name) {
			if x, ok := v.value.(float64); !ok || x != math.Trunc(x) {
				r.Add(p.at, "", "%s: %q of benchmark %q is not a whole number", key, p.name, e.name)
				break
			}
		}
		out[p.name] = p.value
	}
	return out
}
