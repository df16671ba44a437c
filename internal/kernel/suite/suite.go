package suite

import (
	"fmt"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/measure"
)

// Suite holds what a suite file describes, with everything it extends and every default filled
// in. It is immutable.
type Suite struct {
	Name   string
	Digest string   // of the resolved suite: "sha256:..."; comments and spacing do not count
	Files  []string // the file and the files it extends, as named in messages

	Trust      measure.Trust
	Definition []string // globs of the files that define the measurement, in addition to Files

	Device   Device
	Measure  Measure
	Budget   Budget
	Policy   Policy
	Baseline Baseline
	Gate     Gate
	Metrics  []Metric // in addition to time

	Quarantine []Quarantine

	Implementations []Implementation // candidate first
	Benchmarks      []Benchmark
	// Discover reports that the suite names no benchmarks: the harness lists them. Benchmark
	// has a similar field for its configs. See Fill.
	Discover bool

	// Warnings lists what is valid but probably not intended.
	Warnings []*strictyaml.Error

	root   *strictyaml.Node
	doc    *fileDoc
	listed []Listed // by the harness
	tuned  string   // values chosen by a search, as text; empty for the defaults
	cases  []Case
	sides  []*side
}

// Device defines where to measure.
type Device struct {
	Kind           gpu.Kind // empty means auto
	Select         string   // UUID, a prefix of one, or an index; empty means any
	Clocks         gpu.ClockPolicy
	Persistence    bool
	PricePerHour   float64 // dollars; 0 if unset
	MaxTemperature float64 // degrees Celsius
}

// Measure defines how to measure. Case holds the samples, warm-up, timer and cache of each case.
type Measure struct {
	Samples, Warmup int
	Rounds          []int         // numbers of rounds after which to check for a decision, ascending
	Turns           string        // "always", "never" or "auto": whether sides take turns inside a round
	Timer           measure.Timer // empty means the best one there is
}

// Placeholder is the name of the benchmark in a harness that pawl init writes and that measures nothing yet. No gate
// passes with it.
const Placeholder = "placeholder"

// Budget defines when to stop. Zero means no limit.
type Budget struct {
	Time    time.Duration
	Dollars float64
}

// Policy defines how verdicts are made. Shares are fractions: 0.03 is 3 %.
type Policy struct {
	Rule                         string
	Slower, Faster, Moves, Suite float64
	Alpha, Beta, Family          float64
	Undecided                    float64
	Strict                       bool
	Cases                        []CaseLimits
}

// CaseLimits holds limits for the cases that a glob matches; 0 leaves a limit unchanged.
type CaseLimits struct {
	Match                 string
	Slower, Faster, Moves float64
}

// Baseline defines where the best confirmed results are kept, and on which branch they may
// move.
type Baseline struct {
	Keep                       string // "none", "file" or "branch"
	File, Branch, Remote, Main string
}

// Harness describes how to start the program that runs the kernel.
type Harness struct {
	Command string
	Files   []string // globs
	Env     map[string]string
	Timeout time.Duration // maximum silence
	Format  string        // "pawl", "auto" or the format of a plain command
	Output  string        // file that a plain command writes; empty means its stdout
	Pattern string        // of format lines; empty means the usual one
}

// Implementation is an implementation that a suite measures. Placeholders in its commands are
// not filled in; Variants expands them for the configs.
type Implementation struct {
	Name    string
	Build   Build
	Harness Harness
}

// Benchmark is one kernel or operation of a suite.
type Benchmark struct {
	Name            string
	Discover        bool // the harness must still list its configs: see Fill
	Configs         []Config
	Implementations []string // candidate first
	Check           *Check   // nil if the suite does not define correct results
	Tune            *Tune    // nil if there is nothing to tune

	doc   *benchmarkDoc // nil if only the harness lists it
	gates gatesDoc
	tuned map[string]any // values of tunables that differ from the defaults: see Tuned
}

// Metric is a number computed from the time of a case and its work, or reported by the harness.
type Metric struct {
	Name   string
	Unit   string
	Better measure.Better
	Gate   bool
	Limit  *float64   // of every value; nil compares with the base
	Expr   *expr.Expr // over time (ns), flops, bytes and the parameters; nil for a metric that the harness reports
}

// Reported reports whether the harness states the metric.
func (m Metric) Reported() bool { return m.Expr == nil }

// Of computes the metric for each of the times of a case, in nanoseconds.
func (m Metric) Of(c Case, times measure.Samples) (measure.Samples, error) {
	variables := c.variables()
	values := make(measure.Samples, len(times))
	for i, t := range times {
		variables["time"] = t
		v, err := m.Expr.Number(variables)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// Case is one series to measure, with its settings.
type Case struct {
	measure.CaseKey // without a metric: a case measures time
	Params          Params

	Samples, Warmup int
	Timer           measure.Timer // empty means the best one the harness has
	Flops, Bytes    float64       // declared work of one run; 0 means unknown
	Gate            bool          // whether its time can fail a change; always false for a reference
	Metrics         []Metric      // metrics that can be computed for it, and those that the harness may report
}

// variables returns the variables of the case's metrics, except time.
func (c Case) variables() map[string]any {
	m := c.Params.Map()
	if c.Flops > 0 {
		m["flops"] = c.Flops
	}
	if c.Bytes > 0 {
		m["bytes"] = c.Bytes
	}
	return m
}

// Cases returns every case: benchmarks, configs, cache modes and implementations, in the order
// of the file, the last varying fastest. Cases that are not yet discovered are missing.
func (s *Suite) Cases() []Case { return slices.Clone(s.cases) }

// Implementation returns an implementation by name. The base is the candidate of another
// commit, so it has the candidate's settings.
func (s *Suite) Implementation(name string) (Implementation, bool) {
	if name == Base {
		name = Candidate
	}
	i := slices.IndexFunc(s.Implementations, func(i Implementation) bool { return i.Name == name })
	if i < 0 {
		return Implementation{}, false
	}
	return s.Implementations[i], true
}

// Benchmark returns a benchmark by name; one with nothing but the name if the suite has none.
func (s *Suite) Benchmark(name string) Benchmark {
	if i := slices.IndexFunc(s.Benchmarks, func(b Benchmark) bool { return b.Name == name }); i >= 0 {
		return s.Benchmarks[i]
	}
	return Benchmark{Name: name}
}

// NeedsHarness reports whether the harness must list something before all cases are known.
// See Fill.
func (s *Suite) NeedsHarness() bool {
	return s.Discover || slices.ContainsFunc(s.Benchmarks, func(b Benchmark) bool { return b.Discover })
}

// YAML returns the suite as one file: the files that it extends are merged, and every default is filled in.
func (s *Suite) YAML() ([]byte, error) {
	text, err := s.root.With("extends", nil).Marshal() // the tree already contains the extended files
	if err != nil {
		return nil, fmt.Errorf("cannot show the suite: %w", err)
	}
	return text, nil
}
