package oracle

import "time"

// Status is what became of a point.
type Status string

// The answers for a point.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // it could not be tried
)

// Result is what became of a point.
type Result struct {
	Point
	Status      Status        `json:"status"`
	Reason      string        `json:"reason,omitempty"` // why it failed or was skipped
	Fault       string        `json:"fault,omitempty"`  // how a kernel failed that gave no result: "crashed", "hung", ...
	Comparisons []Comparison  `json:"comparisons,omitempty"`
	Repeated    Repeated      `json:"repeated,omitempty"`
	Replayed    bool          `json:"replayed,omitempty"` // it comes from the corpus
	Took        time.Duration `json:"took_ns"`            // by the kernel's process
}

// Repeated tells how alike two runs on the same inputs were.
type Repeated string

// How alike two runs were.
const (
	Bitwise Repeated = "bitwise" // equal to the last bit
	Bounded Repeated = "bounded" // both within the tolerance
)

// RuleDeterministic is the rule that two runs on the same inputs are alike.
const RuleDeterministic RuleName = "deterministic"

// rule is the rule that a failed result broke.
func (r Result) rule() RuleName {
	for _, c := range r.Comparisons {
		if !c.OK {
			return c.Failed
		}
	}
	return ""
}

// kind tells failures apart that are likely to be different mistakes.
func (r Result) kind() string {
	for _, c := range r.Comparisons {
		if !c.OK {
			return c.Output + ":" + string(c.Failed)
		}
	}
	return r.Fault
}

// Found is a failure with the smallest point that still shows it.
type Found struct {
	First       Result `json:"first"`    // as it was found
	Smallest    Result `json:"smallest"` // as it should be looked at
	Evaluations int    `json:"evaluations"`
	Stopped     bool   `json:"stopped,omitempty"` // the budget ended the search for a smaller one
	Again       bool   `json:"again"`             // the smallest failed again when it was run once more
	File        string `json:"file,omitempty"`    // in the corpus
}

// Report is what came of a campaign.
type Report struct {
	Benchmark string   `json:"benchmark"`
	Seed      uint64   `json:"seed,string"` // of everything that was drawn; secret until now
	Passed    int      `json:"passed"`
	Failed    int      `json:"failed"`
	Skipped   int      `json:"skipped"`
	Untried   int      `json:"untried"` // points that the time did not suffice for
	Results   []Result `json:"results"`
	Found     []Found  `json:"found,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	// Repeated says how alike two runs on the same inputs were over all points that
	// were run twice: the weaker of them. Empty if none was.
	Repeated Repeated      `json:"repeated,omitempty"`
	Twice    int           `json:"twice"` // points that were run twice
	Took     time.Duration `json:"took_ns"`
}

// Tested tells whether anything was tried at all.
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
		r.Twice++
		if r.Repeated != Bounded {
			r.Repeated = x.Repeated
		}
	}
	r.Results = append(r.Results, x)
}

// Event is news of a campaign. Exactly one of the pointers is set, or Warning is.
type Event struct {
	Done, Total int
	Result      *Result
	Shrinking   *Point // a failure is being made small
	Found       *Found
	Warning     string
}
