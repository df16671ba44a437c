package loop

import "github.com/goatnote-inc/pawl/ratchet"

// Plan is what is known before a run starts. It does not change.
type Plan struct {
	Policy ratchet.Policy `json:"policy"`
	// Main means that the candidate is a commit of the main branch, built without other
	// changes. Only then may a baseline move.
	Main bool `json:"main"`
	// Ledger means that baselines are kept at all.
	Ledger bool `json:"ledger"`

	// Steps that a driver may lack, or that a user may not want.
	Preflight bool `json:"preflight"`
	Check     bool `json:"check"`
	// Unchecked says why results are not checked although they could be.
	Unchecked string `json:"unchecked,omitempty"`
	// CheckOnly ends the run before it measures.
	CheckOnly bool `json:"check_only,omitempty"`
	// Profile is the max number of changed cases to profile; 0 means none.
	Profile int `json:"profile"`
}

// State is the state of a run.
type State struct {
	Plan Plan `json:"plan"`
	Step Step `json:"step"`

	Look      int      `json:"look"`                // the next look, from 0
	Undecided []string `json:"undecided,omitempty"` // cases that need more rounds; empty before the first look

	Result    *ratchet.Result `json:"result,omitempty"`    // candidate against the merge base
	Drift     *ratchet.Result `json:"drift,omitempty"`     // merge base against the baseline
	Gain      *ratchet.Result `json:"gain,omitempty"`      // candidate against the baseline
	Confirmed *ratchet.Result `json:"confirmed,omitempty"` // the same, with fresh rounds

	Stages  []Stage  `json:"stages,omitempty"`  // results of the steps before measuring
	Stopped *Failure `json:"stopped,omitempty"` // why the run ended early
}

// Failure is why a run could not continue.
type Failure struct {
	Step Step   `json:"step"`
	Side string `json:"side,omitempty"` // the side that failed, if one did
	Why  string `json:"why"`
}

// Stage is the result of a step before measuring: one line if it passes, with details if
// it does not.
type Stage struct {
	Step   Step        `json:"step"`
	Answer StageStatus `json:"answer"`
	Line   string      `json:"line"`
	Detail []string    `json:"detail,omitempty"`
}

// StageStatus is the result of a stage.
type StageStatus string

// Results of a stage.
const (
	Pass    StageStatus = "pass"
	Warn    StageStatus = "warn"
	Stop    StageStatus = "stop"    // the run ends here
	Skipped StageStatus = "skipped" // there was nothing to do
)

// Step is the current step of a run.
type Step string

// Steps of a run, in order.
const (
	Building       Step = "build"
	Examining      Step = "preflight"
	Checking       Step = "fuzz"
	Measuring      Step = "measure"
	Confirming     Step = "confirm"
	UpdatingLedger Step = "keep"
	Profiling      Step = "profile"
	Reporting      Step = "report"
	Done           Step = "done"
)

// Start returns the state of a run that has not started.
func Start(p Plan) State { return State{Plan: p, Step: Building} }
