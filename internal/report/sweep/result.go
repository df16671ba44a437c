package sweep

import "github.com/goatnote-inc/pawl/measure"

// Schema identifies the JSON format of a result.
const Schema = "pawl.sweep/v1"

// Level is the confidence of every interval. Claims is the confidence of all claims about
// one config together. Claims are often quoted without their interval, so they use the
// judge's error rate for a whole run.
const (
	Level  = 0.95
	Claims = 0.99
)

// Result is the comparison of the implementations of a run.
type Result struct {
	Schema string  `json:"schema"`
	Run    string  `json:"run"`              // ID of the record
	Digest string  `json:"digest,omitempty"` // of the record
	Suite  string  `json:"suite,omitempty"`
	Device string  `json:"device"`
	Level  float64 `json:"level"`  // of intervals
	Claims float64 `json:"claims"` // of ranks, config by config
	Rounds int     `json:"rounds"` // that count

	// Subject is the implementation whose speed-ups are reported: the candidate, or the first.
	Subject         string     `json:"subject"`
	Implementations []string   `json:"implementations"` // those with a result, the subject first
	Absent          []Omission `json:"absent,omitempty"`

	Overall  Overall   `json:"overall"`
	Speedups []Speedup `json:"speedups"`
	Configs  []Config  `json:"configs"`
}

// Config is the comparison of the implementations on one config.
type Config struct {
	Name      string         `json:"name"`
	Benchmark string         `json:"benchmark"`
	Config    string         `json:"config,omitempty"`
	Cache     measure.Cache  `json:"cache,omitempty"`
	Params    map[string]any `json:"params,omitempty"`
	Timer     measure.Timer  `json:"timer,omitempty"`
	Flops     float64        `json:"flops,omitempty"`
	Bytes     float64        `json:"bytes,omitempty"`

	Standings []Standing `json:"standings"` // fastest first
	Pairs     []Pair     `json:"pairs,omitempty"`
	Lacking   []Omission `json:"lacking,omitempty"`
	Power     *Power     `json:"power,omitempty"`
}

// Standing is the rank and time of an implementation.
type Standing struct {
	Implementation string  `json:"implementation"`
	Rounds         int     `json:"rounds"`
	Time           float64 `json:"time_ns"` // geometric mean over the rounds
	Interval       *Range  `json:"interval_ns,omitempty"`

	// Rank and RankTo are its best and worst possible rank: 1 and 2 for the two fastest if they
	// are tied.
	Rank   int      `json:"rank"`
	RankTo int      `json:"rank_to"`
	Tied   []string `json:"tied_with,omitempty"`
}

// Pair is the comparison of two implementations on a config.
type Pair struct {
	Of      string  `json:"of"`
	Against string  `json:"against"`
	Rounds  int     `json:"rounds"` // that both have
	Ratio           // how many times faster the first is than the second
	P       float64 `json:"p"`      // of no difference, two-sided
	Holm    float64 `json:"p_holm"` // adjusted for the pairs of the config
	Told    bool    `json:"told_apart"`
	// Spread is the standard deviation of a round's ratio, as a fraction.
	Spread float64 `json:"spread,omitempty"`
}

// Ratio is a speed-up: 1.25 means 25 % faster.
type Ratio struct {
	Value    float64 `json:"speedup"`
	Interval *Range  `json:"interval,omitempty"` // nil with too few rounds
}

// Range is an interval.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Omission names something that is missing, and why.
type Omission struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Overall compares the geometric means over the configs that every implementation
// has.
type Overall struct {
	Configs   []string   `json:"configs"` // the common set
	LeftOut   []Omission `json:"left_out,omitempty"`
	Rounds    int        `json:"rounds"`
	Standings []Standing `json:"standings,omitempty"`
	Pairs     []Pair     `json:"pairs,omitempty"`
}

// Speedup compares the subject with another implementation over the configs that both have.
type Speedup struct {
	Against string     `json:"against"`
	Configs int        `json:"configs"`
	LeftOut []Omission `json:"left_out,omitempty"`
	Rounds  int        `json:"rounds"`
	Ratio
}

// Power says what difference the rounds of a config could detect between any two
// implementations. Its numbers are those of the pair with the largest spread.
type Power struct {
	Rounds int     `json:"rounds"`
	Spread float64 `json:"spread"` // standard deviation of a round's ratio, as a fraction
	// Detectable is the smallest difference that is found 19 times in 20.
	Detectable float64 `json:"detectable"`
	// For1 and For3 are the rounds needed to find 1 % and 3 % equally reliably; 0 if too many.
	For1 int `json:"rounds_for_1_percent,omitempty"`
	For3 int `json:"rounds_for_3_percent,omitempty"`
}
