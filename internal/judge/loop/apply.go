package loop

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Outcome is the result of an action: one of the types below.
type Outcome any

type (
	// Built means that all sides are runnable. It says whether they are all identical.
	Built struct {
		Identical []ratchet.Evidence
		Stage     Stage
	}
	// Staged is the result of Preflight or Check.
	Staged struct{ Stage Stage }
	// Looked is the evidence after a number of rounds. Over means that there can be no
	// more: the budget is spent, or the device slows itself down.
	Looked struct {
		Change []ratchet.Evidence // candidate against the merge base
		Drift  []ratchet.Evidence // merge base against the baseline's commit, if that was measured
		Gain   []ratchet.Evidence // candidate against the baseline's commit, or against stored sessions
		Over   bool
	}
	// Confirmed is the evidence of fresh rounds.
	Confirmed struct{ Gain []ratchet.Evidence }
	// Finished means that an action without a result is done.
	Finished struct{}
	// Failed means that an action could not be carried out.
	Failed struct {
		Side string // the side at fault; empty if it is pawl or the machine
		Why  string
	}
)

// Apply returns the next state after an outcome. An outcome that does not fit the step is
// a bug of the driver.
func Apply(s State, o Outcome) (State, error) {
	if f, ok := o.(Failed); ok && s.Step != Done {
		return s.fail(f), nil
	}
	switch o := o.(type) {
	case Built:
		if s.Step == Building {
			return s.built(o), nil
		}
	case Staged:
		if s.Step == Examining || s.Step == Checking {
			return s.passed(o.Stage), nil
		}
	case Looked:
		if s.Step == Measuring {
			return s.look(o), nil
		}
	case Confirmed:
		if s.Step == Confirming {
			result := ratchet.Judge(s.Plan.Policy.WithLooks([]int{s.confirmRounds()}), o.Gain)
			s.Confirmed = &result
			return s.to(UpdatingLedger), nil
		}
	case Finished:
		if slices.Contains([]Step{UpdatingLedger, Profiling, Reporting}, s.Step) {
			return s.to(after(s.Step)), nil
		}
	}
	return s, fmt.Errorf("step %s does not accept an outcome of type %T", s.Step, o)
}

// built continues to measuring, unless all sides are identical.
func (s State) built(b Built) State {
	s.Stages = append(s.Stages, b.Stage)
	if s.Plan.Unchecked != "" {
		s.Stages = append(s.Stages, Stage{Step: Checking, Answer: Skipped, Line: s.Plan.Unchecked})
	}
	if b.Identical == nil {
		return s.to(Examining)
	}
	result := ratchet.Judge(s.Plan.Policy, b.Identical)
	s.Result = &result
	return s.to(Reporting)
}

// passed continues, unless the stage is a stop: a candidate that is wrong or cannot run
// is not worth any device time.
func (s State) passed(stage Stage) State {
	s.Stages = append(s.Stages, stage)
	if stage.Answer == Stop {
		why := fmt.Sprintf("%s stops: %s", stage.Step, stage.Line)
		if len(stage.Detail) > 0 {
			why += ". " + stage.Detail[0]
		}
		return s.fail(Failed{Side: measure.Candidate, Why: why})
	}
	return s.to(after(s.Step))
}

// look judges the rounds so far: either some cases need more rounds, or this is the
// verdict.
func (s State) look(l Looked) State {
	p := s.Plan.Policy
	final := l.Over || s.Look == len(p.Looks)-1
	if !final {
		s.Undecided = ratchet.MoreRounds(p, l.Change, l.Drift, l.Gain)
		if len(s.Undecided) > 0 {
			s.Look++
			return s
		}
	}
	s.Undecided = nil
	result := ratchet.Judge(p, l.Change)
	s.Result = &result
	s.Drift, s.Gain = judged(p, l.Drift), judged(p, l.Gain)
	return s.to(Confirming)
}

func judged(p ratchet.Policy, list []ratchet.Evidence) *ratchet.Result {
	if len(list) == 0 {
		return nil
	}
	r := ratchet.Judge(p, list)
	return &r
}

// to moves to a step, or past it if there is nothing to do.
func (s State) to(step Step) State {
	for s.Step = step; !s.needed(s.Step); {
		s.Step = after(s.Step)
	}
	return s
}

func (s State) needed(step Step) bool {
	switch step {
	case Examining:
		return s.Plan.Preflight
	case Checking:
		return s.Plan.Check
	case Measuring:
		return !s.Plan.CheckOnly
	case Confirming:
		return s.Plan.Ledger && s.Plan.Main && len(s.gained()) > 0
	case UpdatingLedger:
		return s.Plan.Ledger && s.Plan.Main && s.Stopped == nil && s.Result.Verdict != ratchet.Identical
	case Profiling:
		return len(s.changed()) > 0
	default:
		return true
	}
}

func after(step Step) Step {
	order := []Step{Building, Examining, Checking, Measuring, Confirming, UpdatingLedger, Profiling, Reporting, Done}
	return order[min(slices.Index(order, step)+1, len(order)-1)]
}

// fail ends a run early and keeps what is known. A base that does not build or run is not
// the fault of the change: the run has no answer. A ledger or a report that cannot be
// written does not change the verdict, but is reported.
func (s State) fail(f Failed) State {
	s.Stopped = &Failure{Step: s.Step, Side: f.Side, Why: f.Why}
	s.Step = Reporting
	if s.Stopped.Step == Reporting {
		s.Step = Done
	}
	return s
}

// Drifted returns the comparison that fails a run although its change alone does not: many small losses
// since the baseline. On main that is the candidate against the baseline, if both were measured together.
// Elsewhere the base is to blame, which fails a change only if the policy is strict. It returns nil if there
// is no such drift.
func (s State) Drifted() *ratchet.Result {
	if s.Plan.Policy.Strict && s.Drift != nil && s.Drift.Verdict == ratchet.Regression {
		return s.Drift
	}
	if !s.Plan.Main || s.Gain == nil || s.Gain.Verdict != ratchet.Regression {
		return nil
	}
	together := s.Gain.Suite != nil && s.Gain.Suite.Verdict == ratchet.Regression // the suite covers only such cases
	for _, c := range s.Gain.Cases {
		together = together || c.Fails() && c.Facts != nil && c.Facts.Pairing == ratchet.SideBySide
	}
	if !together {
		return nil
	}
	return s.Gain
}

// Verdict returns the verdict of the whole run.
func (s State) Verdict() ratchet.Verdict {
	switch {
	case s.Stopped != nil && s.Result == nil && s.Stopped.Side == measure.Candidate:
		return ratchet.Broken
	case s.Result == nil:
		return ratchet.Inconclusive
	case s.Result.Severity() != ratchet.SeverityFail && s.Drifted() != nil:
		return ratchet.Regression
	default:
		return s.Result.Verdict
	}
}
