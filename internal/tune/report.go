package tune

import (
	"time"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Report is the full result of a search, for people to read: what was tried, what was best,
// and how it compares with the defaults when measured again.
type Report struct {
	Header      Header       `json:"header"`
	Target      Target       `json:"tuned_for"`
	Created     time.Time    `json:"created"`
	Default     Evaluation   `json:"default"`             // the first evaluation
	Best        Evaluation   `json:"best"`                // best of the search; proven results are in Proof
	Evaluations []Evaluation `json:"-"`                   // in the journal instead
	Complete    bool         `json:"complete"`            // Header.Space.Points covers the whole space, not a sample of it
	Resumed     int          `json:"resumed,omitempty"`   // evaluations of an earlier search
	Unchecked   string       `json:"unchecked,omitempty"` // why results were not checked; empty if they were
	End         string       `json:"end"`                 // "evaluations", "budget", "space" or "interrupted"
	Seconds     float64      `json:"seconds"`             // duration of this search without the proof
	Price       float64      `json:"price_per_hour,omitempty"`
	Journal     string       `json:"journal"`
	Command     string       `json:"command"`            // command that repeats the search
	Build       string       `json:"build,omitempty"`    // the suite's build command, used to suggest how to apply a point; empty if unknown
	Proof       *Proof       `json:"proof,omitempty"`    // nil if nothing was measured again
	Unproven    string       `json:"unproven,omitempty"` // why there is no proof
}

// Answer is the result of a proof.
type Answer string

// The results of a proof.
const (
	Faster       Answer = "improvement"  // faster by MinGain or more, significantly
	Small        Answer = "small"        // significantly faster, but by less than MinGain
	Same         Answer = "maintained"   // as fast as the defaults or slower, so keep the defaults
	Inconclusive Answer = "inconclusive" // undecided
)

// MinGain is the min speed-up for which changing a default is recommended: 5 %.
const MinGain = 0.05

// Proof is the result of measuring the best few points again, next to the defaults, in
// rounds of fresh processes.
type Proof struct {
	Answer   Answer `json:"answer"`   // for the tuned case
	Sentence string `json:"sentence"` // the answer for people
	// Winner is the index of the finalist to choose for the tuned case; -1 for the defaults.
	Winner    int        `json:"winner"`
	Finalists []Finalist `json:"finalists"` // best of the search first
	// Choices holds the best known point of every config, in suite order.
	Choices []Choice `json:"choices"`
	// SlowerCases names the cases that get slower if the winner becomes the default.
	SlowerCases []string `json:"loses,omitempty"`
	Baseline    string   `json:"baseline,omitempty"` // commit that was also measured
	Rounds      int      `json:"rounds"`             // per side
	Seconds     float64  `json:"seconds"`
	Record      string   `json:"record"` // file with every sample
	// Reduced says what was left out for lack of time; empty if nothing was.
	Reduced string `json:"reduced,omitempty"`
}

// Finalist is a point that was measured again.
type Finalist struct {
	N           int            `json:"n"` // number of its evaluation
	Point       map[string]any `json:"point"`
	Side        string         `json:"side"`            // its name in the record
	ResultError string         `json:"wrong,omitempty"` // what is wrong with its results; empty if they are right
	Checked     int            `json:"checked"`         // number of results checked, over all sizes
	// Cases compares it with the defaults, one case per config, in suite order.
	Cases []Comparison `json:"cases"`
	// Baseline compares it with the baseline's commit on the tuned case; nil if there is none.
	Baseline *Comparison `json:"baseline,omitempty"`
}

// Comparison compares a finalist with the defaults on one case, as judged.
type Comparison struct {
	Case        string          `json:"case"` // name in the record
	Verdict     ratchet.Verdict `json:"verdict"`
	Answer      Answer          `json:"answer"`
	Speedup     float64         `json:"speedup"`       // time of the defaults over its own: 1.08 is 8 % faster
	Low         float64         `json:"low,omitempty"` // 95 % interval of Speedup; 0 if unknown
	High        float64         `json:"high,omitempty"`
	DefaultTime float64         `json:"was_ns"`
	Time        float64         `json:"is_ns"`
	Sentence    string          `json:"sentence"`           // the judge's
	Excluded    string          `json:"excluded,omitempty"` // why the config cannot use this point; then the rest is empty
}

// Choice is the best known point of one config.
type Choice struct {
	Case        string         `json:"case"`
	Params      map[string]any `json:"params"`   // of the config
	Finalist    int            `json:"finalist"` // -1 for the defaults
	Point       map[string]any `json:"point"`
	Speedup     float64        `json:"speedup"` // relative to the defaults; 1 for the defaults themselves
	Low         float64        `json:"low,omitempty"`
	High        float64        `json:"high,omitempty"`
	Significant bool           `json:"sure"` // significant; otherwise the defaults stay because there is no answer
}
