package tune

import (
	"time"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Report is everything that a search leaves behind, for people to read: what was tried,
// what was best, and what a measurement against the defaults made of it.
type Report struct {
	Header      Header       `json:"header"`
	Created     time.Time    `json:"created"`
	Default     Evaluation   `json:"default"`             // the first of all
	Best        Evaluation   `json:"best"`                // of the search: what is proven is in Proof
	Evaluations []Evaluation `json:"-"`                   // the journal has them
	Complete    bool         `json:"complete"`            // Header.Space.Points are all there are, and no sample of them
	Resumed     int          `json:"resumed,omitempty"`   // evaluations of an earlier search
	Unchecked   string       `json:"unchecked,omitempty"` // why results were not looked at; empty when they were
	End         string       `json:"end"`                 // "evaluations", "budget", "space" or "interrupted"
	Seconds     float64      `json:"seconds"`             // that this search took, without the proof
	Price       float64      `json:"price_per_hour,omitempty"`
	Journal     string       `json:"journal"`
	Command     string       `json:"command"`            // that repeats the search
	Build       string       `json:"build,omitempty"`    // the suite's build command, for how to apply a point; empty when not known
	Proof       *Proof       `json:"proof,omitempty"`    // nil where nothing was measured again
	Unproven    string       `json:"unproven,omitempty"` // why there is no proof
}

// Answer is what a proof comes to.
type Answer string

// The answers of a proof.
const (
	Faster       Answer = "improvement"  // by the least gain or more, beyond doubt
	Small        Answer = "small"        // faster beyond doubt, but by less than the least gain
	Same         Answer = "maintained"   // as fast as the defaults, or slower: they are the best
	Inconclusive Answer = "inconclusive" // it may be either
)

// LeastGain is the speed-up below which changing a default is not advised: 5 %.
const LeastGain = 0.05

// Proof is what measuring the best few again showed, side by side with the defaults in rounds
// of fresh processes.
type Proof struct {
	Answer   Answer `json:"answer"`   // for the case that was tuned
	Sentence string `json:"sentence"` // the same for people
	// Winner is the index of the finalist to choose for the tuned case; -1 for the defaults.
	Winner    int        `json:"winner"`
	Finalists []Finalist `json:"finalists"` // best of the search first
	// Choices are the best known point of every config, in the order of the suite.
	Choices []Choice `json:"choices"`
	// Loses are the names of cases that get slower if the winner becomes the default.
	Loses    []string `json:"loses,omitempty"`
	Baseline string   `json:"baseline,omitempty"` // commit that was measured too
	Rounds   int      `json:"rounds"`             // a side
	Seconds  float64  `json:"seconds"`
	Record   string   `json:"record"` // file with every sample
	// Reduced says what was left out for lack of time; empty for nothing.
	Reduced string `json:"reduced,omitempty"`
}

// Finalist is a point that was measured again.
type Finalist struct {
	N       int            `json:"n"` // its evaluation
	Point   map[string]any `json:"point"`
	Side    string         `json:"side"`            // its name in the record
	Wrong   string         `json:"wrong,omitempty"` // what is wrong with its results; empty when nothing is
	Checked int            `json:"checked"`         // results that were looked at, over all sizes
	// Cases compare it with the defaults, one a config, in the order of the suite.
	Cases []Comparison `json:"cases"`
	// Baseline compares it with the baseline's commit on the tuned case; nil where there is none.
	Baseline *Comparison `json:"baseline,omitempty"`
}

// Comparison is one case of a finalist against the defaults, in the judge's words.
type Comparison struct {
	Case     string          `json:"case"` // as the record names it
	Verdict  ratchet.Verdict `json:"verdict"`
	Answer   Answer          `json:"answer"`
	Speedup  float64         `json:"speedup"`       // time of the defaults over its own: 1.08 is 8 % faster
	Low      float64         `json:"low,omitempty"` // 95 % interval of it; 0 where it is not known
	High     float64         `json:"high,omitempty"`
	Was      float64         `json:"was_ns"`
	Is       float64         `json:"is_ns"`
	Sentence string          `json:"sentence"`           // the judge's
	Excluded string          `json:"excluded,omitempty"` // why the config cannot have this point; then there is nothing else
}

// Choice is the best known point of one config.
type Choice struct {
	Case     string         `json:"case"`
	Params   map[string]any `json:"params"`   // of the config
	Finalist int            `json:"finalist"` // -1 for the defaults
	Point    map[string]any `json:"point"`
	Speedup  float64        `json:"speedup"` // over the defaults; 1 for themselves
	Low      float64        `json:"low,omitempty"`
	High     float64        `json:"high,omitempty"`
	Sure     bool           `json:"sure"` // beyond doubt; otherwise the defaults stay for lack of an answer
}
