package correctness

import "time"

// Status is the outcome of a point.
type Status string

// Outcomes of a point.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // it could not be tried
)

// Result is the result of a point.
type Result struct {
	Point
	Status      Status        `json:"status"`
	Reason      string        `json:"reason,omitempty"` // why it failed or was skipped
	Fault       string        `json:"fault,omitempty"`  // how a kernel failed that gave no result: "crashed", "hung", ...
	Comparisons []Comparison  `json:"comparisons,omitempty"`
	Repeated    Repeatability `json:"repeated,omitempty"`
	Replayed    bool          `json:"replayed,omitempty"` // it comes from the corpus
	Took        time.Duration `json:"took_ns"`            // time of the kernel's process
}

// Repeatability is how similar two runs on the same inputs were.
type Repeatability string

// Degrees of similarity between two runs.
const (
	Bitwise Repeatability = "bitwise" // equal to the last bit
	Bounded Repeatability = "bounded" // both within the tolerance
)

// RuleDeterministic is the rule that two runs on the same inputs give the same result.
const RuleDeterministic RuleName = "deterministic"

// rule returns the rule that a failed result broke.
func (r Result) rule() RuleName {
	for _, c := range r.Comparisons {
		if !c.OK {
			return c.Failed
		}
	}
	return ""
}

// kind distinguishes failures that are likely to be different bugs.
func (r Result) kind() string {
	for _, c := range r.Comparisons {
		if !c.OK {
			return c.Output + ":" + string(c.Failed)
		}
	}
	return r.Fault
}

// ShrunkFailure is a failure with the smallest point that still fails.
type ShrunkFailure struct {
	First       Result `json:"first"`    // the original failure
	Smallest    Result `json:"smallest"` // the failure to examine
	Evaluations int    `json:"evaluations"`
	Stopped     bool   `json:"stopped,omitempty"` // the budget ended the search for a smaller point
	Again       bool   `json:"again"`             // the smallest point failed again when rerun
	File        string `json:"file,omitempty"`    // its file in the corpus
}

// Report is the result of a campaign.
type Report struct {
	Benchmark string          `json:"benchmark"`
	Seed      uint64          `json:"seed,string"` // seed of all random choices; secret until now
	Passed    int             `json:"passed"`
	Failed    int             `json:"failed"`
	Skipped   int             `json:"skipped"`
	Untried   int             `json:"untried"` // points not tried for lack of time
	Results   []Result        `json:"results"`
	Found     []ShrunkFailure `json:"found,omitempty"`
	Warnings  []string        `json:"warnings,omitempty"`
	// Repeated is how similar two runs on the same inputs were: the weakest result over
	// all points that were run twice. Empty if there were none.
	Repeated Repeatability `json:"repeated,omitempty"`
	RunTwice int           `json:"twice"` // points that were run twice
	Took     time.Duration `json:"took_ns"`
}

// Tested reports whether any point was tried.
func (r *Report) Tested() bool { return r.Passed+r.Failed > 0 }

func (r *Report) add(x Result) {
	switch x.Status {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	case Skipped:
		r.Skipped++
	}
	if x.Repeated != "" {
		r.RunTwice++
		if r.Repeated != Bounded {
			r.Repeated = x.Repeated
		}
	}
	r.Results = append(r.Results, x)
}

// Event reports progress of a campaign. Exactly one of the pointers is set, or Warning is.
type Event struct {
	Done, Total int
	Result      *Result
	Shrinking   *Point // a failure is being shrunk
	Found       *ShrunkFailure
	Warning     string
}
