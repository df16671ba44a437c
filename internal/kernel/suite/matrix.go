package suite

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// configs expands the matrix of a benchmark, removes excluded configs and adds included ones.
// All configs of a benchmark have the same parameters in the same order, so equal parameters
// always give an equal name. It returns nil after a mistake.
func (r *resolver) configs(e *entry[benchmarkDoc]) []Config {
	b := e.value
	names := b.Matrix.names()
	if len(b.Matrix) == 0 {
		names = b.Include[0].names()
	}
	if len(names) > maxParams {
		r.Add(e.at, "", "benchmark %q has %d parameters, the limit is %d", e.name, len(names), maxParams)
		return nil
	}
	before := r.Found
	r.checkAllVariables(b, names)
	if len(b.Matrix) == 0 && len(b.Exclude) > 0 {
		r.Add(b.Exclude[0].at, "", "exclude: there is no matrix to exclude configs from")
	}
	size := 1
	for _, p := range b.Matrix {
		if size *= len(p.value); size > maxCases {
			r.Add(e.at, "", "the matrix of benchmark %q has more than %d configs", e.name, maxCases)
			return nil
		}
	}
	if r.Found > before {
		return nil
	}
	var configs []Config
	if len(b.Matrix) > 0 {
		configs = r.exclude(b.Exclude, product(b.Matrix, size))
	}
	for i, include := range b.Include {
		if params := r.included(include, names, e.node.Get("include").Items[i]); params != nil {
			configs = append(configs, Config{Params: params})
		}
	}
	if r.Found > before {
		return nil
	}
	for i := range configs {
		configs[i].Name = ConfigName(configs[i].Params)
	}
	return r.distinct(e, configs)
}

// checkAllVariables checks the variables of all expressions over parameters.
func (r *resolver) checkAllVariables(b benchmarkDoc, params []string) {
	work := []workDoc{b.workDoc}
	filters := slices.Clone(b.Exclude)
	for _, o := range b.Overrides {
		work, filters = append(work, o.workDoc), append(filters, o.When)
	}
	for _, w := range work {
		for _, x := range []formula{w.Flops, w.Bytes} {
			r.checkVariables(x, params)
		}
	}
	for _, f := range filters {
		r.checkVariables(f.when, params)
		for _, p := range f.params {
			if !slices.Contains(params, p.name) {
				r.Add(p.at, strictyaml.DidYouMean(p.name, params), "unknown parameter %q", p.name)
			}
		}
	}
}

// product returns every combination of values; the last parameter varies fastest.
func product(matrix named[paramName, many[scalar]], size int) []Config {
	configs := make([]Config, size)
	for i := range configs {
		params := make(Params, len(matrix))
		rest := i
		for p := len(matrix) - 1; p >= 0; p-- {
			values := matrix[p].value
			params[p] = Param{matrix[p].name, values[rest%len(values)].value}
			rest /= len(values)
		}
		configs[i].Params = params
	}
	return configs
}

func (r *resolver) exclude(filters []filter, configs []Config) []Config {
	if len(filters) == 0 {
		return configs
	}
	hits := make([]int, len(filters))
	kept := slices.DeleteFunc(configs, func(c Config) bool {
		out := false
		variables := c.Params.Map()
		for i, f := range filters {
			if r.matches(f, variables, ConfigName(c.Params)) {
				hits[i]++
				out = true
			}
		}
		return out
	})
	for i, n := range hits {
		if n == 0 {
			r.warnings.Add(filters[i].at, "", "exclude: no config matches")
		}
	}
	return kept
}

// matches reports whether a filter selects a config.
func (r *resolver) matches(f filter, variables map[string]any, config string) bool {
	if f.when.set() {
		yes, err := f.when.Bool(variables)
		if err != nil {
			r.failed(f.when, config, err)
		}
		return yes
	}
	for _, p := range f.params {
		if variables[p.name] != p.value.value {
			return false
		}
	}
	return true
}

// included returns the parameters of an included config in the order of the benchmark. The
// config must have exactly the parameters of the others.
func (r *resolver) included(config named[paramName, scalar], names []string, at *strictyaml.Node) Params {
	params := make(Params, len(names))
	complete := true
	for i, name := range names {
		e := config.get(name)
		if e == nil {
			r.Add(at, "all configs of a benchmark must have the same parameters", "include: parameter %q is missing", name)
			complete = false
			continue
		}
		params[i] = Param{name, e.value.value}
	}
	for _, e := range config {
		if !slices.Contains(names, e.name) {
			r.Add(e.at, strictyaml.DidYouMean(e.name, names), "unknown parameter %q", e.name)
			complete = false
		}
	}
	if !complete {
		return nil
	}
	return params
}

// distinct rejects two configs with the same name, whose numbers would end up in one series,
// and an empty list.
func (r *resolver) distinct(e *entry[benchmarkDoc], configs []Config) []Config {
	before := r.Found
	if len(configs) == 0 {
		r.Add(e.at, "", "benchmark %q has no configs left", e.name)
	}
	first := map[string]Params{}
	for i, c := range configs {
		at := e.at
		if included := i - (len(configs) - len(e.value.Include)); included >= 0 && len(e.value.Include) > 0 {
			at = e.node.Get("include").Items[included]
		}
		other, twice := first[c.Name]
		switch {
		case len(c.Name) > maxConfigName:
			r.Add(at, "", "the name of config %s has %d characters, the limit is %d", strictyaml.Shorten(c.Name), len(c.Name), maxConfigName)
		case twice && slices.Equal(other, c.Params):
			r.Add(at, "", "config %s of benchmark %q appears twice", c.Name, e.name)
		case twice:
			r.Add(at, "", "two configs of benchmark %q are named %s: {%s} and {%s}", e.name, c.Name, other, c.Params)
		}
		first[c.Name] = c.Params
	}
	if r.Found > before {
		return nil
	}
	return configs
}

// String formats parameters in the syntax of a suite.
func (p Params) String() string {
	var list []string
	for _, param := range p {
		list = append(list, param.Name+": "+formatValue(param.Value))
	}
	return strings.Join(list, ", ")
}
