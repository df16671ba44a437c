package suite

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/measure"
)

// benchmarks resolves the benchmarks of the file or, if it names none, those the harness lists.
func (r *resolver) benchmarks() {
	entries := r.doc.Benchmarks
	if len(entries) == 0 {
		if r.suite.Discover = r.listed == nil; r.suite.Discover {
			r.refuseTemplates(r.suite.sides[0].templates, "the suite takes its benchmarks")
			return
		}
		for _, l := range r.listed {
			entries = append(entries, entry[benchmarkDoc]{name: l.Name, at: r.section("harness")})
		}
	}
	for i := range entries {
		if !r.tuning.wants(entries[i].name) {
			continue
		}
		if entries[i].broken {
			r.broken = true
			continue
		}
		r.benchmark(&entries[i])
	}
}

// refuseTemplates rejects placeholders in the candidate's commands if its harness must be
// built and started before any config exists to fill them in.
func (r *resolver) refuseTemplates(templates []template, who string) {
	for _, t := range templates {
		r.AddAt(t.at.Inside(t.char), "define a matrix", "${%s} has no value: %s from the harness", t.param, who)
	}
}

func (r *resolver) benchmark(e *entry[benchmarkDoc]) {
	b := Benchmark{Name: e.name, Discover: len(e.value.Matrix) == 0 && len(e.value.Include) == 0, doc: &e.value}
	b.gates = overlay(e.value.Preflight.gatesDoc, r.doc.Preflight)
	sides := r.sidesOf(e, &b)
	switch {
	case !b.Discover:
		b.Configs = r.configs(e)
	case r.listed == nil:
		r.refuseTemplates(sides[0].templates, fmt.Sprintf("benchmark %q takes its configs", e.name))
	default:
		b.Configs, b.Discover = r.listedConfigs(e), false
	}
	r.tune(e, &b)
	if len(b.Configs) > 0 {
		r.checkKernel(e, &b)
	}
	r.suite.Benchmarks = append(r.suite.Benchmarks, b)
	if b.Discover {
		return
	}
	if len(b.Configs) == 0 {
		r.broken = true
		return
	}
	for _, s := range sides {
		r.checkTemplates(&b, s)
	}
	p := &plan{entry: e, benchmark: &b, sides: sides, hits: make([]int, len(e.value.Overrides))}
	p.settings = settings{settingsDoc: r.doc.Measure.settingsDoc, gate: true}
	p.apply(settingsDoc{}, r.listedWork(e), nil)
	p.apply(e.value.settingsDoc, e.value.workDoc, e.value.Gate)
	for _, c := range b.Configs {
		if !r.cases(p, c) {
			return
		}
	}
	for i, n := range p.hits {
		if n == 0 {
			r.warnings.Add(e.value.Overrides[i].When.at, "", "overrides: no config matches")
		}
	}
}

// plan holds what the configs of a benchmark have in common.
type plan struct {
	*entry[benchmarkDoc]
	settings
	benchmark *Benchmark
	sides     []*side
	hits      []int // configs that each override matches
}

// sidesOf returns the implementations of a benchmark: those it names, or all of the suite,
// or, if the suite names none, those the harness lists.
func (r *resolver) sidesOf(e *entry[benchmarkDoc], b *Benchmark) []*side {
	b.Implementations = []string{Candidate}
	switch listed := r.byName[e.name]; {
	case e.value.Implementations != nil:
		seen := map[string]bool{}
		for _, name := range e.value.Implementations {
			switch {
			case r.suite.side(name.string) == nil:
				known := append([]string{Candidate}, r.doc.Implementations.names()...)
				r.Add(name.at, strictyaml.DidYouMean(name.string, known), "unknown implementation %q", name.string)
			case seen[name.string]:
				r.Add(name.at, "", "implementation %q appears twice", name.string)
			case name.string != Candidate:
				b.Implementations = append(b.Implementations, name.string)
			}
			seen[name.string] = true
		}
	case len(r.doc.Implementations) > 0:
		b.Implementations = append(b.Implementations, r.doc.Implementations.names()...)
	case b.Discover && listed != nil:
		for _, name := range listed.Implementations {
			r.declareListed(e, name)
			if !slices.Contains(b.Implementations, name) {
				b.Implementations = append(b.Implementations, name)
			}
		}
	}
	sides := make([]*side, 0, len(b.Implementations))
	for _, name := range b.Implementations {
		if s := r.suite.side(name); s != nil {
			sides = append(sides, s)
		}
	}
	return sides
}

// settings holds the settings of a config after applying the suite, the benchmark and the
// overrides, in this order.
type settings struct {
	settingsDoc
	workDoc
	gate bool
}

func (s *settings) apply(o settingsDoc, w workDoc, gate *bool) {
	s.settingsDoc, s.workDoc = overlay(o, s.settingsDoc), overlay(w, s.workDoc)
	if gate != nil {
		s.gate = *gate
	}
}

// cases appends the cases of one config. It returns false if a limit is reached.
func (r *resolver) cases(p *plan, config Config) bool {
	variables, complete := config.Params.Map(), p.benchmark.Complete(config.Params)
	s := p.settings
	for i, o := range p.value.Overrides {
		if r.matches(o.When, variables, config.Name) {
			s.apply(o.settingsDoc, o.workDoc, o.Gate)
			p.hits[i]++
		}
	}
	c := Case{
		Params: config.Params, Samples: value(s.Samples), Warmup: value(s.Warmup),
		Flops: r.work(s.Flops, variables, config), Bytes: r.work(s.Bytes, variables, config),
	}
	if s.Timer != auto {
		c.Timer = measure.Timer(s.Timer)
	}
	for _, cache := range s.Cache {
		for i, side := range p.sides {
			if len(r.suite.cases) == maxCases {
				r.Add(p.at, "use a smaller matrix", "the suite has more than %d cases", maxCases)
				return false
			}
			gate := s.gate && side.name == Candidate
			c.CaseKey = measure.CaseKey{
				Benchmark: p.name, Config: config.Name, Cache: measure.Cache(cache), Implementation: side.name,
			}
			c.Gate = gate && r.timeGate
			c.Metrics = r.metricsOf(c, gate)
			if i == 0 {
				r.tryMetrics(c)
			}
			if !side.assign(len(r.suite.cases), complete) {
				r.Add(p.at, "use fewer values for the parameters in commands", "implementation %q has more than %d variants", side.name, maxVariants)
				return false
			}
			r.suite.cases = append(r.suite.cases, c)
		}
	}
	return true
}

// work computes the flops or bytes of a config; 0 means unknown.
func (r *resolver) work(x formula, variables map[string]any, config Config) float64 {
	if !x.set() {
		return 0
	}
	v, err := x.Number(variables)
	if err == nil && v <= 0 {
		err = fmt.Errorf("expected a number above 0, got %v", v)
	}
	if err != nil {
		r.failed(x, config.Name, err)
		return 0
	}
	return v
}
