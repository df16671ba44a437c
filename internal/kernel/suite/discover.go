package suite

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Listed is a benchmark as a harness lists it, with the field names of the protocol's reply
// to "cases". A config may have its own name, if another tool named it.
type Listed struct {
	Name            string   `json:"name"`
	Implementations []string `json:"implementations,omitempty"`
	Flops           string   `json:"flops,omitempty"` // expressions over the parameters
	Bytes           string   `json:"bytes,omitempty"`
	Configs         []Config `json:"configs,omitempty"` // empty for a benchmark without parameters
}

// Fill returns a copy of the suite in which everything left open is discovered: benchmarks,
// configs, implementations and work that the file does not set come from the harness.
func (s *Suite) Fill(listed []Listed) (*Suite, error) {
	if listed == nil {
		listed = []Listed{}
	}
	p := &strictyaml.Problems{Files: s.Files}
	at := (&resolver{root: s.root}).section("harness")
	seen := map[string]bool{}
	for _, l := range listed {
		if problem, hint := benchmarkRule.check(l.Name); problem != "" {
			p.Add(at, hint, "the harness lists a benchmark with an invalid name: %s", problem)
		}
		if seen[l.Name] {
			p.Add(at, "", "the harness lists benchmark %q twice", strictyaml.Shorten(l.Name))
		}
		seen[l.Name] = true
	}
	if len(listed) > maxCases {
		p.Add(at, "", "the harness lists %d benchmarks, the limit is %d", len(listed), maxCases)
	}
	if s.Discover && len(listed) == 0 {
		p.Add(at, "list benchmarks in the suite", "the harness lists no benchmarks")
	}
	if err := failure(p); err != nil {
		return nil, err
	}
	return resolve(s.root, s.doc, listed, nil, p)
}

// declareListed adds an implementation that only the harness lists.
func (r *resolver) declareListed(e *entry[benchmarkDoc], name string) {
	if r.suite.side(name) != nil {
		return
	}
	if problem, hint := implementationRule.check(name); problem != "" {
		r.Add(e.at, hint, "benchmark %q, as listed by the harness: %s", e.name, problem)
		return
	}
	if len(r.suite.sides) > maxSides {
		r.Add(e.at, "list them in the suite", "the harness lists more than %d implementations", maxSides)
		return
	}
	s := newSide(name, r.suite.sides[0].variantDoc)
	r.suite.sides = append(r.suite.sides, s)
	r.suite.Implementations = append(r.suite.Implementations, s.implementation())
}

// listedConfigs returns the configs of a benchmark as the harness lists them.
func (r *resolver) listedConfigs(e *entry[benchmarkDoc]) []Config {
	l := r.byName[e.name]
	if l == nil {
		var known []string
		for _, other := range r.listed {
			known = append(known, other.Name)
		}
		r.Add(e.at, strictyaml.DidYouMean(e.name, known), "the harness does not list benchmark %q", e.name)
		return nil
	}
	if len(l.Configs) > maxCases {
		r.Add(e.at, "", "the harness lists %d configs for benchmark %q, the limit is %d", len(l.Configs), e.name, maxCases)
		return nil
	}
	if len(l.Configs) == 0 {
		return []Config{{}}
	}
	before := r.Found
	order := r.order(e, l.Configs)
	if r.Found > before {
		return nil
	}
	configs := make([]Config, len(l.Configs))
	for i, c := range l.Configs {
		configs[i] = Config{Name: c.Name, Params: r.inOrder(e, c.Params, order)}
		switch problem, hint := benchmarkRule.check(c.Name); {
		case c.Name == "":
			configs[i].Name = ConfigName(configs[i].Params)
		case problem != "":
			r.Add(e.at, hint, "benchmark %q, as listed by the harness, has a config with the invalid name %q", e.name, strictyaml.Shorten(c.Name))
		}
	}
	r.checkAllVariables(e.value, order)
	if r.Found > before {
		return nil
	}
	return r.distinct(e, r.exclude(e.value.Exclude, configs))
}

// order returns the parameter names in order of first appearance.
func (r *resolver) order(e *entry[benchmarkDoc], configs []Config) []string {
	var order []string
	for _, c := range configs {
		for _, p := range c.Params {
			if slices.Contains(order, p.Name) {
				continue
			}
			if problem, hint := paramRule.check(p.Name); problem != "" {
				r.Add(e.at, hint, "benchmark %q, as listed by the harness: %s", e.name, problem)
			}
			if order = append(order, p.Name); len(order) > maxParams {
				r.Add(e.at, "", "benchmark %q, as listed by the harness, has more than %d parameters", e.name, maxParams)
				return order
			}
		}
	}
	return order
}

func (r *resolver) inOrder(e *entry[benchmarkDoc], params Params, order []string) Params {
	out := make(Params, 0, len(params))
	for _, name := range order {
		v, ok := params.Get(name)
		if !ok {
			continue
		}
		plain, ok := plainValue(v)
		if !ok {
			r.Add(e.at, "", "benchmark %q, as listed by the harness: parameter %q must be a finite number, short text, true or false", e.name, name)
		}
		out = append(out, Param{name, plain})
	}
	return out
}

// plainValue converts a value to one of the three types of a parameter.
func plainValue(v any) (any, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		return v, len(v) <= maxParamText && printable(v)
	case bool:
		return v, true
	}
	return nil, false
}

// listedWork returns the work of a benchmark as declared by the harness.
func (r *resolver) listedWork(e *entry[benchmarkDoc]) workDoc {
	l := r.byName[e.name]
	if l == nil {
		return workDoc{}
	}
	return workDoc{Flops: r.listedFormula(e, "flops", l.Flops), Bytes: r.listedFormula(e, "bytes", l.Bytes)}
}

func (r *resolver) listedFormula(e *entry[benchmarkDoc], key, source string) formula {
	if source == "" {
		return formula{}
	}
	x := formula{key: key, at: e.at, listed: e.name}
	compiled, err := expr.Compile(source)
	if err != nil {
		addExpression(r.Problems, x, err)
		return formula{}
	}
	x.Expr = compiled
	return x
}
