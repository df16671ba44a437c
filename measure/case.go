package measure

import (
	"encoding/json"
	"path"
	"strings"
)

// Case is one series of samples: a benchmark, a config and an implementation.
type Case struct {
	CaseKey
	Params map[string]any `json:"params,omitempty"`

	Unit   string `json:"unit"`             // of the samples: "ns" for time
	Better Better `json:"better,omitempty"` // empty means lower
	Gate   bool   `json:"gate,omitempty"`   // may fail a change; otherwise only observed
	Timer  Timer  `json:"timer,omitempty"`
	// Reported is set for values that a harness or another tool states. pawl neither measured nor computed them.
	Reported bool `json:"reported,omitempty"`
	// Limit is what every value must keep: at most Limit if lower is better, at least Limit if higher is.
	Limit *float64 `json:"limit,omitempty"`
	// Quarantine is set for a case that would be gated but currently is not. It names the owner, the end
	// date and the reason: "@kernels, until 2026-12-31: two speeds".
	Quarantine string `json:"quarantine,omitempty"`
	// Unchanged is set for a case that cannot have changed: nothing that it executes or reads differs between the sides of
	// the run.
	Unchanged Unchanged `json:"unchanged,omitempty"`

	// Definition is the digest of what the suite specifies for this case, with the definition files of its
	// side. Method is how it was timed: "v1 wall hot trusted". Both are empty in records of older versions
	// of pawl.
	Definition string `json:"definition,omitempty"`
	Method     string `json:"method,omitempty"`

	Flops float64 `json:"flops,omitempty"` // declared work of one run, for GFLOP/s
	Bytes float64 `json:"bytes,omitempty"` // declared traffic of one run, for GB/s

	// NoSamples reports that the source kept only a summary. Such a case can be shown, but it cannot be
	// gated statistically.
	NoSamples bool     `json:"no_samples,omitempty"`
	Summary   *Summary `json:"summary,omitempty"`

	Rounds []CaseRound `json:"rounds"`
}

// CaseKey identifies a series across runs.
type CaseKey struct {
	Benchmark      string `json:"benchmark"`
	Config         string `json:"config,omitempty"`
	Cache          Cache  `json:"cache,omitempty"` // empty means hot; hot is always stored as empty
	Metric         string `json:"metric,omitempty"`
	Implementation string `json:"implementation"`
}

// Name returns the key without its implementation, as used in reports and globs: "matmul/N512",
// "matmul/N512@cold", "matmul/N512:allocs/op".
func (k CaseKey) Name() string {
	var b strings.Builder
	b.WriteString(k.Benchmark)
	if k.Config != "" {
		b.WriteString("/" + k.Config)
	}
	if k.Cache == Cold {
		b.WriteString("@cold")
	}
	if k.Metric != "" && k.Metric != MetricTime {
		b.WriteString(":" + k.Metric)
	}
	return b.String()
}

// MatchCase reports whether a glob matches a case, by its full name or by its benchmark. The --case flag
// and the suite select cases this way.
func MatchCase(glob, name, benchmark string) bool {
	byName, _ := path.Match(glob, name)
	byBenchmark, _ := path.Match(glob, benchmark)
	return byName || byBenchmark
}

func (k CaseKey) String() string { return k.Name() + "/" + k.Implementation }

// MetricTime is the default metric of a case.
const MetricTime = "time"

// Better is the direction in which a metric improves.
type Better string

// The directions of a metric.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Cache is the state of the device's cache when a sample starts.
type Cache string

// The cache modes.
const (
	Hot  Cache = "hot"
	Cold Cache = "cold"
)

// Timer is the clock the samples were read from.
type Timer string

// The timers of the harness protocol.
const (
	TimerDevice Timer = "device" // events on the device
	TimerKernel Timer = "kernel" // the driver's records of kernels, without what is between them
	TimerWall   Timer = "wall"   // a steady clock on the host
	TimerCPU    Timer = "cpu"    // CPU time of the measuring thread

	// TimerExternal is pawl's own clock outside the process, for cases that are scored by it.
	TimerExternal Timer = "outside"
)

// Unchanged says what was done about a case that cannot have changed.
type Unchanged string

// What is done about a case that cannot have changed.
const (
	Skipped Unchanged = "skipped" // not measured
	Sampled Unchanged = "sampled" // measured anyway, to test the rule
)

// Summary holds the statistics reported by a source without raw samples.
type Summary struct {
	Count  int     `json:"count,omitempty"`
	Mean   float64 `json:"mean,omitempty"`
	Median float64 `json:"median,omitempty"`
	Min    float64 `json:"min,omitempty"`
	Max    float64 `json:"max,omitempty"`
	Stddev float64 `json:"stddev,omitempty"`
}

// caseDefinition is a case without its rounds, as declared in a journal.
type caseDefinition Case

// MarshalJSON omits the rounds, which follow in later lines.
func (c caseDefinition) MarshalJSON() ([]byte, error) {
	type bare struct { // shadows Case.Rounds with a field that is always empty
		Case
		Rounds []CaseRound `json:"rounds,omitempty"`
	}
	return json.Marshal(bare{Case: Case(c)})
}
