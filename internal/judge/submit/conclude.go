package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// rejection is all that a rejected submission learns: more would help to get around the checks.
const rejection = "the integrity checks refuse it"

// conclude makes the answer from the outcome of the submission's own run.
func (j *job) conclude(ctx context.Context, out runner.Outcome, err error) error {
	cause := context.Cause(ctx)
	side, broke := errors.AsType[*trial.SideError](cmp.Or(out.Broken, err))
	switch {
	case errors.Is(cause, errWrongResult):
		j.wrongPoint()
	case errors.Is(cause, errTimeUp):
		j.timeUp()
	case cause != nil:
		return cause
	case broke && side.Side == suite.Candidate:
		j.brokenSide(out.Broken, err)
	case broke:
		return cmp.Or(out.Broken, err)
	case err != nil:
		return err
	case out.Result.Identical:
		j.answer.Status, j.answer.Verdict = Identical, string(ratchet.Identical)
	case out.Run != nil && out.Run.Definition != nil:
		j.refuse(redefined, strings.Join(out.Run.Definition.Changed, ", "))
	case out.State.Stopped != nil:
		return j.stopped(*out.State.Stopped)
	case j.Stage == Smoke && !checked(out.State):
		j.answer.Status, j.answer.Reason = Compiled, "results were not checked: the suite has no check that could run"
	case j.Stage == Smoke:
		j.answer.Status = Passed
	case out.State.Result == nil:
		return errors.New("the run ended without a verdict")
	default:
		j.judged(*out.State.Result, evidenceOf(out.Run, suite.Candidate))
	}
	return nil
}

// timeUp answers for a candidate that did not end in time.
func (j *job) timeUp() {
	j.answer.Status = Timeout
	j.answer.Reason = fmt.Sprintf("it did not end within %.4g s", j.budget.Seconds())
}

// wrongPoint answers for the first input on which the kernel failed.
func (j *job) wrongPoint() {
	r := j.clock.failed
	input := fmt.Sprintf("%s/%s", j.clock.where, r.Point)
	if r.Fault != "" {
		j.failed(statusOf(r.Fault, r.Reason), r.Reason, input)
		return
	}
	j.answer.Status, j.answer.Reason, j.answer.Input = Wrong, firstLine(r.Reason), input
}

// failures say what a status means, in pawl's own words.
var failures = map[Status]string{
	Wrong: "a result is wrong, not written, or written out of bounds", Crashed: "the kernel or its process died",
	Timeout: "the kernel did not end", Rejected: rejection,
}

// failed answers for a kernel that failed on an input. The kernel, or the process that it runs in, may have written
// said.
func (j *job) failed(status Status, said, input string) {
	j.answer.Status, j.answer.Reason, j.answer.Detail, j.answer.Input = status, failures[status], firstLine(said), input
	if status == Rejected {
		j.answer.Detail, j.answer.Input = "", ""
	}
}

// brokenSide answers for a candidate that could not be built or run at all.
func (j *job) brokenSide(broken, err error) {
	err = cmp.Or(broken, err)
	if j.buildFailed(err) {
		return
	}
	if e, ok := errors.AsType[*harness.Error](err); ok {
		kind := string(e.Kind)
		if e.Kind == harness.Refused {
			kind = e.Code
		}
		j.failed(statusOf(kind, e.Error()), e.Error(), "")
		return
	}
	j.failed(Crashed, err.Error(), "")
}

// stopped answers for a candidate that a check before measuring stopped.
func (j *job) stopped(f loop.Failure) error {
	switch {
	case f.Side != suite.Candidate:
		return errors.New(f.Why)
	case f.Step == loop.Checking:
		j.failed(Wrong, f.Why, "")
	default: // static checks: it exceeds a limit of the device
		j.refuse("it exceeds a limit of the device", firstLine(f.Why))
	}
	return nil
}

// honestFaults are faults that a kernel without bad intent can have, by the words that the launcher reports them in.
var honestFaults = []string{
	"were not written when the kernel returned", "the kernel wrote before the beginning of", "the kernel wrote behind the end of",
	"the kernel changed its input", "a run left no result",
}

// statusOf returns the status of a kernel that failed in a way other than a wrong value.
func statusOf(kind, text string) Status {
	switch {
	case strings.HasPrefix(text, trial.WrongResult), slices.ContainsFunc(honestFaults, func(f string) bool { return strings.Contains(text, f) }):
		return Wrong
	case strings.Contains(text, "the kernel crashed"):
		return Crashed
	case kind == string(harness.Hung), strings.HasPrefix(text, trial.Lost) && strings.Contains(text, " "+string(harness.Hung)):
		return Timeout
	case kind == string(harness.Crashed), kind == string(harness.LostDevice), kind == string(harness.NotStarted), strings.HasPrefix(text, trial.Lost), strings.Contains(text, "cannot launch "), kind == "no outputs":
		return Crashed
	default:
		return Rejected
	}
}

// evidenceOf returns what a run shows of a side compared with the base.
func evidenceOf(run *measure.Run, side string) []ratchet.Evidence {
	if run == nil {
		return nil
	}
	return ratchet.Gather([]*measure.Run{run}, []*measure.Run{run}, suite.Base, side)
}

// judged answers with the verdicts of a measured candidate.
func (j *job) judged(r ratchet.Result, evidence []ratchet.Evidence) {
	a := &j.answer
	a.Status, a.Verdict = Measured, string(r.Verdict)
	var worst *ratchet.Judgment
	for i := range r.Cases {
		c := &r.Cases[i]
		if a.Stage == Quick && c.Needs == "" && c.Facts != nil {
			c.Verdict = raceVerdict(c.Verdict, interval(c.Facts.Interval, c.Facts.Better))
		}
		switch c.Verdict {
		case ratchet.Improvement, Ahead:
			a.Faster++
		case ratchet.Regression, Behind:
			a.Slower++
		case ratchet.Maintained, ratchet.Identical, ratchet.New:
			a.Kept++
		case ratchet.Broken, ratchet.Missing:
			a.Broken++
			if worst == nil && c.Verdict == ratchet.Broken {
				worst = c
			}
		case ratchet.Inconclusive:
			a.Open++
		}
		if c.Facts != nil {
			a.Rounds = max(a.Rounds, c.Facts.Rounds)
		}
	}
	if worst != nil {
		j.brokenCase(*worst, evidence)
		return
	}
	a.Speedup, a.Range = speedupOf(r)
	a.Worst = slowest(r.Cases)
	if r.Verdict == ratchet.Inconclusive {
		a.Reason = r.Sentence
	}
	for _, c := range r.Cases {
		if c.Needs != "" {
			a.Reason = c.Sentence
			return // a person decides
		}
	}
	if a.Stage == Quick {
		a.placed(raceVerdict(r.Verdict, a.Range))
	}
}

// Verdicts of a race. It has too few rounds for most claims of the judge, so that an interval far from 1 would stand
// beside "maintained". Where the judge claims nothing, the race says on which side of 1 the interval is.
const (
	Ahead  ratchet.Verdict = "ahead"
	Behind ratchet.Verdict = "behind"
)

// raceVerdict returns the verdict of a race from the judge's and the interval of the speed-up.
func raceVerdict(v ratchet.Verdict, speedup *bounds) ratchet.Verdict {
	switch {
	case speedup == nil, v != ratchet.Maintained && v != ratchet.Inconclusive:
		return v
	case speedup.low > 1:
		return Ahead
	case speedup.high < 1 && v == ratchet.Inconclusive:
		return Behind // not if it is shown to be slower by less than the limit
	default:
		return v
	}
}

// placed sets the verdict of a race.
func (a *Answer) placed(v ratchet.Verdict) {
	a.Verdict = string(v)
	reasons := map[ratchet.Verdict]string{Ahead: "faster in a race, not confirmed: submit it with stage full", Behind: "slower in a race, not confirmed"}
	a.Reason = cmp.Or(reasons[v], a.Reason)
}

// brokenCase answers for a case that failed while it was measured.
func (j *job) brokenCase(c ratchet.Judgment, evidence []ratchet.Evidence) {
	text := ""
	for _, e := range evidence {
		if e.Case.Name() == c.Name {
			text = e.CandidateError
		}
	}
	status := statusOf("", text)
	j.answer.Verdict = ""
	j.failed(status, text, c.Name)
	if strings.HasPrefix(text, trial.WrongResult) {
		j.answer.Reason, j.answer.Detail = "a timed run left a wrong result", "" // how it was found would help to hide it
	}
}

// speedupOf returns the speed-up over all gated cases, or of the only one, with its confidence interval.
func speedupOf(r ratchet.Result) (number, *bounds) {
	if s := r.Suite; s != nil {
		return ratio(s.Change, measure.Lower), interval(s.Interval, measure.Lower)
	}
	for _, gated := range []bool{true, false} {
		for _, c := range r.Cases {
			if c.Facts != nil && c.Gate == gated && c.Metric == "" {
				return ratio(c.Facts.Change, c.Facts.Better), interval(c.Facts.Interval, c.Facts.Better)
			}
		}
	}
	return 0, nil
}

// ratio turns a change of a value into a speed-up.
func ratio(change float64, better measure.Better) number {
	if better == measure.Higher {
		return number(1 + change)
	}
	return number(1 / (1 + change))
}

func interval(r *ratchet.Range, better measure.Better) *bounds {
	if r == nil {
		return nil
	}
	a, b := ratio(r.Low, better), ratio(r.High, better)
	return &bounds{min(a, b), max(a, b)}
}

// slowest returns the three cases with the smallest speed-up.
func slowest(cases []ratchet.Judgment) []CaseAnswer {
	var list []CaseAnswer
	for _, c := range cases {
		if c.Facts != nil {
			list = append(list, CaseAnswer{Case: c.Name, Verdict: string(c.Verdict), Speedup: ratio(c.Facts.Change, c.Facts.Better)})
		}
	}
	slices.SortStableFunc(list, func(a, b CaseAnswer) int { return cmp.Compare(a.Speedup, b.Speedup) })
	return list[:min(len(list), maxListed)]
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// checked reports whether results were compared with an oracle.
func checked(s loop.State) bool {
	return slices.ContainsFunc(s.Stages, func(x loop.Stage) bool { return x.Step == loop.Checking && x.Answer != loop.Skipped })
}
