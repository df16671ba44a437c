package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/measure"
)

// maxCases is the maximum number of cases of a suite: a run of this many takes days.
const maxCases = 100_000

// resolver turns a decoded file into a Suite and checks what spans several keys. It skips a
// benchmark with a part that could not be read, so that one mistake is reported once.
type resolver struct {
	*problems
	root     *node
	doc      *fileDoc
	listed   []Listed // by the harness; nil if it has not listed anything
	byName   map[string]*Listed
	tuning   *tuning // nil for the defaults
	suite    *Suite
	warnings problems
	broken   bool // some benchmark was skipped
	timeGate bool // whether the time of a case may fail a change
	metrics  map[metricsKey][]Metric
	reported map[*expr.Expr]bool // expressions already reported as failing
}

func resolve(root *node, doc *fileDoc, listed []Listed, t *tuning, p *problems) (*Suite, error) {
	r := &resolver{
		problems: p, root: root, doc: doc, listed: listed, tuning: t,
		suite:  &Suite{root: root, doc: doc, listed: listed, tuned: t.String(), Files: p.files, Digest: digest(root, t)},
		byName: map[string]*Listed{}, metrics: map[metricsKey][]Metric{}, reported: map[*expr.Expr]bool{},
	}
	for i, l := range listed {
		r.byName[l.Name] = &listed[i]
	}
	r.sections()
	r.declareMetrics()
	r.declareSides()
	r.benchmarks()
	r.checkOutputs()
	r.checkMetricVariables()
	r.checkQuarantine()
	if err := r.err(); err != nil {
		return nil, err
	}
	r.suite.Warnings = r.sorted(r.warnings.list)
	return r.suite, nil
}

// sections copies the sections that do not depend on benchmarks.
func (r *resolver) sections() {
	d, m, b := r.doc.Device, r.doc.Measure, r.doc.Budget
	r.suite.Name = r.doc.Name.string
	r.suite.Trust = cmp.Or(measure.Trust(r.doc.Trust), measure.Trusted)
	for _, glob := range r.doc.Definition {
		r.glob(glob, "definition")
		r.suite.Definition = append(r.suite.Definition, glob.string)
	}
	r.suite.Device = Device{
		Select: d.Select.string, Clocks: d.Clocks.ClockPolicy, Persistence: value(d.Persistence),
		PricePerHour: value(d.PricePerHour), MaxTemperature: value(d.MaxTemperature),
	}
	if d.Kind != auto {
		r.suite.Device.Kind = gpu.Kind(d.Kind)
	}
	r.suite.Measure = Measure{Samples: value(m.Samples), Warmup: value(m.Warmup), Rounds: m.Rounds, Turns: string(m.Turns)}
	r.policy()
	r.gate()
	r.suite.Budget = Budget{Time: b.Time.Duration, Dollars: value(b.Dollars)}

	r.checkRounds()
	r.checkHarness()
}

func (r *resolver) policy() {
	p, b := r.doc.Policy, r.doc.Baseline
	r.suite.Policy = Policy{
		Rule: string(p.Rule), Slower: p.Slower.value, Faster: p.Faster.value, Moves: p.Moves.value, Suite: p.Suite.value,
		Alpha: p.Alpha.value, Beta: p.Beta.value, Family: p.Family.value, Undecided: p.Undecided.value, Strict: value(p.Strict),
	}
	for _, c := range p.Cases {
		r.glob(c.Match, "match")
		r.suite.Policy.Cases = append(r.suite.Policy.Cases, CaseLimits{c.Match.string, c.Slower.value, c.Faster.value, c.Moves.value})
	}
	r.suite.Baseline = Baseline{string(b.Keep), b.File.string, b.Branch.string, b.Remote.string, b.Main.string}
}

func (r *resolver) checkRounds() {
	n := r.section("measure").get("rounds")
	if n == nil || n.kind != listNode {
		return
	}
	for i, rounds := range r.doc.Measure.Rounds {
		if i == 0 || rounds == 0 { // 0 means that it could not be read
			continue
		}
		if before := r.doc.Measure.Rounds[i-1]; rounds <= before {
			r.add(n.items[i], "", "rounds: %d is not greater than %d", rounds, before)
		}
	}
}

func (r *resolver) checkHarness() {
	n := r.section("harness")
	if n.kind != mapNode || n.incomplete || r.suite.Trust == measure.Checked { // pawl's own launcher needs no harness
		return
	}
	command := n.get("command")
	switch {
	case command == nil:
		r.add(n, "set it to the command that starts the program that runs the kernel", "missing key %q in harness", "command")
	case command.isText() && strings.TrimSpace(command.text) == "":
		r.add(command, "", "harness.command is empty")
	}
}

// section returns the node of a section. If only the defaults have it, its position is that of
// the file as a whole.
func (r *resolver) section(key string) *node {
	n := r.root.get(key)
	if n.file != defaults().file {
		return n
	}
	in := *n
	in.file, in.line, in.col = r.root.file, r.root.line, r.root.col
	return &in
}

// value returns what a pointer points to, or the zero value for nil.
func value[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

func (r *resolver) declareMetrics() {
	for _, e := range r.doc.Metrics {
		if e.broken {
			r.broken = true
			continue
		}
		m := e.value
		if e.name == measure.MetricTime {
			r.timeGate = value(m.Gate)
			if m.Expr.set() || m.Unit.at != nil || m.Better != "" {
				r.add(e.at, "only its gate can be set", "the metric time is measured and cannot be computed")
			}
			continue
		}
		switch {
		case !m.Expr.set():
			r.add(e.at, "", "metric %q has no expr", e.name)
		case m.Better == "":
			r.add(e.at, "set better: lower or better: higher", "metric %q does not say which direction is better", e.name)
		}
		r.suite.Metrics = append(r.suite.Metrics, Metric{
			Name: e.name, Unit: m.Unit.string, Better: measure.Better(m.Better), Gate: value(m.Gate), Expr: m.Expr.Expr,
		})
	}
}

// metricsKey holds everything that decides which metrics a case has.
type metricsKey struct {
	gate, flops, bytes bool
	params             string
}

// metricsOf returns the metrics that can be computed for a case. Cases with the same key share
// the list.
func (r *resolver) metricsOf(c Case, gate bool) []Metric {
	key := metricsKey{gate, c.Flops > 0, c.Bytes > 0, strings.Join(c.Params.names(), ",")}
	if found, ok := r.metrics[key]; ok {
		return found
	}
	known := c.variables()
	var list []Metric
	for _, m := range r.suite.Metrics {
		if m.Expr == nil {
			continue
		}
		computable := true
		for _, v := range m.Expr.Variables() {
			_, ok := known[v.Name]
			computable = computable && (ok || v.Name == measure.MetricTime)
		}
		if computable {
			m.Gate = m.Gate && gate
			list = append(list, m)
		}
	}
	r.metrics[key] = list
	return list
}

// tryMetrics computes the metrics of a case once, to find one that cannot work before an hour
// of measuring.
func (r *resolver) tryMetrics(c Case) {
	for _, m := range c.Metrics {
		if _, err := m.Of(c, measure.Samples{1e6}); err != nil {
			r.failed(r.doc.Metrics.get(m.Name).value.Expr, c.Config, err)
		}
	}
}

// failed reports an expression that does not work for a config, once.
func (r *resolver) failed(x formula, config string, err error) {
	if r.reported[x.Expr] {
		return
	}
	r.reported[x.Expr] = true
	if config != "" {
		x.key = fmt.Sprintf("%s of config %s", x.key, config)
	}
	r.expression(x, err)
}

// checkMetricVariables reports variables that no benchmark has. It must run after all
// parameters are known.
func (r *resolver) checkMetricVariables() {
	if r.broken || r.suite.NeedsHarness() {
		return
	}
	known := slices.Clone(measuredVariables)
	for _, b := range r.suite.Benchmarks {
		for _, c := range b.Configs {
			for _, p := range c.Params {
				if !slices.Contains(known, p.Name) {
					known = append(known, p.Name)
				}
			}
		}
	}
	for _, e := range r.doc.Metrics {
		if e.value.Expr.set() {
			r.checkVariables(e.value.Expr, known)
		}
	}
}

// checkVariables reports the first variable of an expression that is not in known.
func (r *resolver) checkVariables(x formula, known []string) {
	for _, v := range x.Variables() {
		if !slices.Contains(known, v.Name) {
			r.expression(x, unknownVariable(v, known))
			return
		}
	}
}
