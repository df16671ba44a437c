package suite

import (
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/suite/expr"
	"github.com/goatnote-inc/pawl/measure"
)

// Suite is what a suite file describes, with everything it extends and every
// default filled in. It is not changed after it was made.
type Suite struct {
	Name   string
	Digest string   // of the resolved suite: "sha256:..."; comments and spacing do not count
	Files  []string // the file and those it extends, as messages name them

	Trust      measure.Trust
	Definition []string // globs of the files a change is measured with, beside those of Files

	Device   Device
	Measure  Measure
	Budget   Budget
	Policy   Policy
	Baseline Baseline
	Gate     Gate
	Metrics  []Metric // beside time

	Quarantine []Quarantine

	Implementations []Implementation // the candidate first
	Benchmarks      []Benchmark
	// Discover says that the suite names no benchmarks: the harness lists them. A
	// benchmark has such a state of its own. See Fill.
	Discover bool

	// Warnings is what is probably not meant, and not wrong.
	Warnings []*Error

	root   *node
	doc    *fileDoc
	listed []Listed // by the harness
	tuned  string   // the values of a search, as text; empty for the defaults
	cases  []Case
	sides  []*side
}

// Device says where to measure.
type Device struct {
	Kind           gpu.Kind // empty for auto
	Select         string   // UUID, the start of one, or an index; empty for any
	Clocks         gpu.ClockPolicy
	Persistence    bool
	PricePerHour   float64 // dollars; 0 when the suite does not say
	MaxTemperature float64 // degrees Celsius
}

// Measure says how to measure. Samples, warm-up, timer and cache of a case stand
// with the case.
type Measure struct {
	Samples, Warmup int
	Rounds          []int  // after which to look, rising
	Turns           string // "always", "never" or "auto": whether sides take turns inside a round
}

// Budget says when to stop. Zero is no limit.
type Budget struct {
	Time    time.Duration
	Dollars float64
}

// Policy says what makes a verdict. Shares are parts of one: 0.03.
type Policy struct {
	Rule                         string
	Slower, Faster, Moves, Suite float64
	Alpha, Beta, Family          float64
	Undecided                    float64
	Strict                       bool
	Cases                        []CaseLimits
}

// CaseLimits are limits of the cases that a glob matches; 0 leaves one as it is.
type CaseLimits struct {
	Match                 string
	Slower, Faster, Moves float64
}

// Baseline says where the best confirmed results are kept, and on which branch
// they may move.
type Baseline struct {
	Keep                       string // "none", "file" or "branch"
	File, Branch, Remote, Main string
}

// Harness says how the program that runs the kernel is started.
type Harness struct {
	Command string
	Files   []string // globs
	Env     map[string]string
	Timeout time.Duration // of silence
	Format  string        // "pawl", "auto" or the format of a plain command
	Output  string        // the file a plain command leaves; empty for its stdout
}

// Implementation is one that a suite measures. Where a command uses ${} it is as
// written; Variants expands it for the configs.
type Implementation struct {
	Name    string
	Build   Build
	Harness Harness
}

// Benchmark is one kernel or operation of a suite.
type Benchmark struct {
	Name            string
	Discover        bool // its configs are still to be listed by the harness: see Fill
	Configs         []Config
	Implementations []string // the candidate first
	Check           *Check   // nil when the suite does not say what is right
	Tune            *Tune    // nil when there is nothing to tune

	doc   *benchmarkDoc // nil when only the harness knows it
	gates gatesDoc
	tuned map[string]any // values of tunables that are not their defaults: see Tuned
}

// Metric is a number computed from the time of a case and its work.
type Metric struct {
	Name   string
	Unit   string
	Better measure.Better
	Gate   bool
	Expr   *expr.Expr // of time (ns), flops, bytes and the parameters
}

// Of computes the metric for times of a case, one for one, in nanoseconds.
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

// Case is one series to measure, with the settings that hold for it.
type Case struct {
	measure.CaseKey // without a metric: a case is its time
	Params          Params

	Samples, Warmup int
	Timer           measure.Timer // empty for the best one the harness has
	Flops, Bytes    float64       // declared work of one run; 0 when unknown
	Gate            bool          // whether its time may fail a change; never for a reference
	Metrics         []Metric      // those that can be computed for it
}

// variables are what a metric of the case may use, but for the time.
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

// Cases lists every case: benchmarks, configs, cache modes and implementations, in
// the order of the file, the last fastest. What is still to be discovered is missing.
func (s *Suite) Cases() []Case { return slices.Clone(s.cases) }

// Implementation returns an implementation by name. The base is the candidate of
// another commit, so it has the candidate's settings.
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

// NeedsHarness tells that the harness has to list something before there are all
// cases: see Fill.
func (s *Suite) NeedsHarness() bool {
	return s.Discover || slices.ContainsFunc(s.Benchmarks, func(b Benchmark) bool { return b.Discover })
}
