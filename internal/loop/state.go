package loop

import "github.com/goatnote-inc/pawl/ratchet"

// Plan is what is known before a run begins, and does not change.
type Plan struct {
	Policy ratchet.Policy `json:"policy"`
	// Main says that the candidate is a commit of the main line, built without other
	// changes: only then may a baseline move.
	Main bool `json:"main"`
	// Ledger says that baselines are kept at all.
	Ledger bool `json:"ledger"`

	// Steps that a driver may not have, or a user not want.
	Preflight bool `json:"preflight"`
	Check     bool `json:"check"`
	// Unchecked says why results are not looked at that could be.
	Unchecked string `json:"unchecked,omitempty"`
	// Profile is how many of the cases that changed are profiled; 0 for none.
	Profile int  `json:"profile"`
	Tell    bool `json:"tell"`
}

// State is a run on its way.
type State struct {
	Plan Plan `json:"plan"`
	Step Step `json:"step"`

	Look      int      `json:"look"`                // the look that comes next, from 0
	Undecided []string `json:"undecided,omitempty"` // cases that need more rounds; none known before the first look

	Result    *ratchet.Result `json:"result,omitempty"`    // candidate against the merge base
	Drift     *ratchet.Result `json:"drift,omitempty"`     // merge base against the baseline
	Gain      *ratchet.Result `json:"gain,omitempty"`      // candidate against the baseline
	Confirmed *ratchet.Result `json:"confirmed,omitempty"` // the same, with fresh rounds

	Stages  []Stage  `json:"stages,omitempty"`  // what came before measuring
	Checked bool     `json:"checked,omitempty"` // results were compared with an oracle
	Stopped *Failure `json:"stopped,omitempty"` // why the run ended before its end
}

// Failure is why a run could not go on.
type Failure struct {
	Step Step   `json:"step"`
	Side string `json:"side,omitempty"` // the side that failed, if one did
	Why  string `json:"why"`
}

// Stage is what a step before measuring came to: a line when it is green, and the rest
// when it is not.
type Stage struct {
	Step   Step     `json:"step"`
	Answer Answer   `json:"answer"`
	Line   string   `json:"line"`
	Detail []string `json:"detail,omitempty"`
}

// Answer of a stage.
type Answer string

// The answers.
const (
	Pass    Answer = "pass"
	Warn    Answer = "warn"
	Stop    Answer = "stop"    // the run ends here
	Skipped Answer = "skipped" // there was nothing to do
)

// Step is where a run stands.
type Step string

// The steps, in their order.
const (
	Building   Step = "build"
	Examining  Step = "preflight"
	Checking   Step = "fuzz"
	Measuring  Step = "measure"
	Confirming Step = "confirm"
	Keeping    Step = "keep"
	Profiling  Step = "profile"
	Reporting  Step = "report"
	Telling    Step = "tell"
	Done       Step = "done"
)

// Start is the state of a run that has not begun.
func Start(p Plan) State { return State{Plan: p, Step: Building} }
