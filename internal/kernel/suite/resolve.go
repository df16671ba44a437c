package suite

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/measure"
)

// maxCases is the maximum number of cases of a suite: a run of this many takes days.
const maxCases = 100_000

// resolver turns a decoded file into a Suite and checks what spans several keys. It skips a
// benchmark with a part that could not be read, so that one mistake is reported once.
type resolver struct {
	*strictyaml.Problems
	root     *strictyaml.Node
	doc      *fileDoc
	listed   []Listed // by the harness; nil if it has not listed anything
	byName   map[string]*Listed
	tuning   *tuning // nil for the defaults
	suite    *Suite
	warnings strictyaml.Problems
	broken   bool                // some benchmark was skipped
	timeGate bool                // whether the time of a case may fail a change
	reported map[*expr.Expr]bool // expressions already reported as failing
}

func resolve(root *strictyaml.Node, doc *fileDoc, listed []Listed, t *tuning, p *strictyaml.Problems) (*Suite, error) {
	r := &resolver{
		Problems: p, root: root, doc: doc, listed: listed, tuning: t,
		suite:  &Suite{root: root, doc: doc, listed: listed, tuned: t.String(), Files: p.Files, Digest: digest(root, t)},
		byName: map[string]*Listed{}, reported: map[*expr.Expr]bool{},
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
	if err := failure(p); err != nil {
		return nil, err
	}
	r.warnings.Files = p.Files
	r.suite.Warnings = r.warnings.All()
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
	if m.Timer != auto {
		r.suite.Measure.Timer = measure.Timer(m.Timer)
	}
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
	n := r.section("measure").Get("rounds")
	if n == nil || n.Kind != strictyaml.List {
		return
	}
	for i, rounds := range r.doc.Measure.Rounds {
		if i == 0 || rounds == 0 { // 0 means that it could not be read
			continue
		}
		if before := r.doc.Measure.Rounds[i-1]; rounds <= before {
			r.Add(n.Items[i], "", "rounds: %d is not greater than %d", rounds, before)
		}
	}
}

func (r *resolver) checkHarness() {
	n := r.section("harness")
	if n.Kind != strictyaml.Map || n.Incomplete || r.suite.Trust == measure.Checked { // pawl's own launcher needs no harness
		return
	}
	command := n.Get("command")
	switch {
	case command == nil:
		r.Add(n, "set it to the command that starts the program that runs the kernel", "missing key %q in harness", "command")
	case command.IsText() && strings.TrimSpace(command.Text) == "":
		r.Add(command, "", "harness.command is empty")
	}
	if pattern := r.doc.Harness.Pattern; pattern.at != nil {
		if _, err := regexp.Compile(pattern.string); err != nil {
			r.Add(pattern.at, "", "pattern: %v", err)
		} else if r.doc.Harness.Format != "lines" {
			r.Add(pattern.at, "set format: lines", "pattern: format %s does not use it", r.doc.Harness.Format)
		}
	}
}

// section returns the node of a section. If only the defaults have it, its position is that of
// the file as a whole.
func (r *resolver) section(key string) *strictyaml.Node {
	n := r.root.Get(key)
	if n.SameFile(defaults()) {
		return n.At(r.root)
	}
	return n
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
			if m.Expr.set() || m.Unit.at != nil || m.Better != "" || m.Limit != nil {
				r.Add(e.at, "only its gate can be set", "the metric time is measured and cannot be computed")
			}
			continue
		}
		if m.Better == "" {
			r.Add(e.at, "set better: lower or better: higher", "metric %q does not say which direction is better", e.name)
		}
		r.suite.Metrics = append(r.suite.Metrics, Metric{
			Name: e.name, Unit: m.Unit.string, Better: measure.Better(m.Better), Gate: value(m.Gate), Limit: m.Limit, Expr: m.Expr.Expr,
		})
	}
}

// metricsOf returns the metrics that can be computed for a case, and those that its harness may report.
func (r *resolver) metricsOf(c Case, gate bool) []Metric {
	known := c.variables()
	var list []Metric
	for _, m := range r.suite.Metrics {
		computable := true
		if !m.Reported() {
			for _, v := range m.Expr.Variables() {
				_, ok := known[v.Name]
				computable = computable && (ok || v.Name == measure.MetricTime)
			}
		}
		if computable {
			m.Gate = m.Gate && gate
			list = append(list, m)
		}
	}
	return list
}

// tryMetrics computes the metrics of a case once, to find one that cannot work before an hour
// of measuring.
func (r *resolver) tryMetrics(c Case) {
	for _, m := range c.Metrics {
		if m.Reported() {
			continue
		}
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
	addExpression(r.Problems, x, err)
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
		r.checkVariables(e.value.Expr, known)
	}
}

// checkVariables reports the first variable of an expression, if it is set, that is not in known.
func (r *resolver) checkVariables(x formula, known []string) {
	if !x.set() {
		return
	}
	for _, v := range x.Variables() {
		if !slices.Contains(known, v.Name) {
			addExpression(r.Problems, x, &expr.Error{Pos: v.Pos, Msg: fmt.Sprintf("unknown variable %q", v.Name), Hint: strictyaml.DidYouMean(v.Name, known)})
			return
		}
	}
}

// digest identifies the resolved suite. It covers the merged values, their order and, for
// scalars, their spelling. It ignores file names, comments, and the keys that only decide
// what happens after a verdict, because these do not affect the measurement.
func digest(root *strictyaml.Node, t *tuning) string {
	text := []byte("pawl.suite/v1\n")
	for i, key := range root.Keys {
		switch key.Text {
		case "extends", "gate", "quarantine": // the tree already contains the extended files
		default:
			text = root.Items[i].Append(key.Append(text))
		}
	}
	text = append(text, t.String()...)
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
