package measure

import (
	"encoding/json"
	"path"
	"strings"
)

// Case is one series: benchmark, config and implementation, with its samples.
type Case struct {
	CaseKey
	Params map[string]any `json:"params,omitempty"`

	Unit   string `json:"unit"`             // of the samples: "ns" for time
	Better Better `json:"better,omitempty"` // empty means lower
	Gate   bool   `json:"gate,omitempty"`   // may fail a change; otherwise only watched
	Timer  Timer  `json:"timer,omitempty"`
	// Quarantine says who looks after a case that would be gated and is not, until when
	// and why: "@kernels, until 2026-12-31: two speeds".
	Quarantine string `json:"quarantine,omitempty"`

	// Definition is the digest of what the suite asks of this case, with the definition files as the
	// side had them. Method says how it was timed: "v1 wall hot trusted". Both are empty in records
	// of an older pawl.
	Definition string `json:"definition,omitempty"`
	Method     string `json:"method,omitempty"`

	Flops float64 `json:"flops,omitempty"` // declared work of one run, for GFLOP/s
	Bytes float64 `json:"bytes,omitempty"` // declared traffic of one run, for GB/s

	// NoSamples says that the source kept only a summary: such a case may be
	// shown, and is unfit for a statistical gate.
	NoSamples bool     `json:"no_samples,omitempty"`
	Summary   *Summary `json:"summary,omitempty"`

	Rounds []CaseRound `json:"rounds"`
}

// CaseKey is the stable name of a series.
type CaseKey struct {
	Benchmark      string `json:"benchmark"`
	Config         string `json:"config,omitempty"`
	Cache          Cache  `json:"cache,omitempty"` // empty means hot, and hot is always left empty
	Metric         string `json:"metric,omitempty"`
	Implementation string `json:"implementation"`
}

// Name is the key without its implementation, as people and globs write it:
// "matmul/N512", "matmul/N512@cold", "matmul/N512:allocs/op".
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

// MatchCase tells whether a glob means a case: the whole name, or its benchmark.
// It is how --case and the suite choose cases everywhere.
func MatchCase(glob, name, benchmark string) bool {
	byName, _ := path.Match(glob, name)
	byBenchmark, _ := path.Match(glob, benchmark)
	return byName || byBenchmark
}

func (k CaseKey) String() string { return k.Name() + "/" + k.Implementation }

// MetricTime is the metric of a case that does not name another.
const MetricTime = "time"

// Better tells which direction of a metric is good.
type Better string

// The two directions.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Cache tells what a kernel finds in the device's cache when a sample begins.
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
	TimerWall   Timer = "wall"   // a steady clock on the host
	TimerCPU    Timer = "cpu"    // CPU time of the measuring thread

	// TimerOutside is pawl's own clock outside the process, where that is the score.
	TimerOutside Timer = "outside"
)

// Summary is what a source without raw samples told.
type Summary struct {
	Count  int     `json:"count,omitempty"`
	Mean   float64 `json:"mean,omitempty"`
	Median float64 `json:"median,omitempty"`
	Min    float64 `json:"min,omitempty"`
	Max    float64 `json:"max,omitempty"`
	Stddev float64 `json:"stddev,omitempty"`
}

// caseDefinition is a case without its rounds, as a journal declares it.
type caseDefinition Case

// MarshalJSON leaves the rounds out: they follow, round by round.
func (c caseDefinition) MarshalJSON() ([]byte, error) {
	type bare struct { // hides Case.Rounds behind a field that is never written
		Case
		Rounds []CaseRound `json:"rounds,omitempty"`
	}
	return json.Marshal(bare{Case: Case(c)})
}
