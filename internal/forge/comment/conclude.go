package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/ratchet"
)

// outcome is the conclusion drawn from a verdict.
type outcome struct {
	word       string   // the verdict, or suite.FailOnError
	fails      []string // verdicts that fail by fail-on, worst first
	conclusion forge.Conclusion
	because    reason
}

// reason explains a conclusion.
type reason int

const (
	passed    reason = iota // no objections
	failed                  // in fail-on, and not excused
	fromFork                // from a fork, so it is not trusted whatever it says
	accepted                // accepted by a user with permission
	advised                 // would have failed, but the gate only advises
	undecided               // no pass, but not in fail-on
)

// decide is the only place where a verdict becomes a conclusion.
func decide(in Input) outcome {
	o := outcome{word: in.overallVerdict()}
	words := in.objections(o.word)
	for _, w := range words {
		if in.Gate.Fails(w) {
			o.fails = append(o.fails, w)
		}
	}
	set := func(c forge.Conclusion, why reason) outcome {
		o.conclusion, o.because = c, why
		return o
	}
	switch {
	case in.Fork:
		return set(forge.Neutral, fromFork)
	case len(words) == 0:
		return set(forge.Success, passed)
	case len(o.fails) == 0:
		return set(forge.Neutral, undecided)
	case in.Accepted != nil && acceptable(o.fails):
		return set(forge.Neutral, accepted)
	case in.Gate.Mode == suite.Advise:
		return set(forge.Neutral, advised)
	default:
		return set(forge.Failure, failed)
	}
}

// acceptable reports whether a user may accept what fails. A wrong result cannot be
// accepted.
func acceptable(fails []string) bool { return !slices.Contains(fails, string(ratchet.Broken)) }

// overallVerdict returns the overall verdict. Without samples it trusts a claim only if it is not a
// pass, or says that there was nothing to measure.
func (in Input) overallVerdict() string {
	switch {
	case in.ToolFailed != "":
		return suite.FailOnError
	case in.Result != nil:
		return string(in.Result.Verdict)
	case slices.Contains([]ratchet.Verdict{ratchet.Broken, ratchet.Inconclusive, ratchet.Identical}, in.Claimed):
		return string(in.Claimed)
	default:
		return suite.FailOnError
	}
}

// objections returns all objections to the change, worst first, so that a regression outside
// fail-on does not hide a missing case.
func (in Input) objections(whole string) []string {
	if whole == suite.FailOnError {
		return []string{whole}
	}
	found := map[string]bool{whole: true}
	if in.Result != nil {
		for _, c := range in.Result.Cases {
			found[string(c.Verdict)] = found[string(c.Verdict)] || c.Gate
		}
	}
	var list []string
	for _, v := range []ratchet.Verdict{ratchet.Broken, ratchet.Regression, ratchet.Missing, ratchet.Inconclusive} {
		if found[string(v)] {
			list = append(list, string(v))
		}
		delete(found, string(v))
	}
	if ratchet.Verdict(whole).Severity() != ratchet.SeverityPass && found[whole] { // an unknown verdict is not a pass
		list = append(list, string(ratchet.Inconclusive))
	}
	return list
}

// needsNoReport reports whether no report is needed.
func (o outcome) needsNoReport(in Input) bool {
	if o.conclusion != forge.Success && o.word != string(ratchet.Maintained) && o.word != string(ratchet.Identical) {
		return false
	}
	drifted := in.Drift != nil && in.Drift.Verdict == ratchet.Regression
	return !drifted && in.Accepted == nil && in.Result != nil && !slices.ContainsFunc(in.Result.Cases, func(c ratchet.Judgment) bool {
		return c.Verdict != ratchet.Maintained && c.Verdict != ratchet.Identical
	})
}

// title returns the line shown in a list of checks.
func (o outcome) title(in Input, what string) string {
	switch o.because {
	case fromFork:
		return "claimed by a fork: " + what
	case accepted:
		return fmt.Sprintf("accepted by %s: %s", in.Accepted.By, what)
	case advised:
		return "would have failed: " + what
	case failed, passed, undecided:
	}
	return what
}

// label returns the first word of a report.
func (o outcome) label() string {
	switch o.because {
	case passed:
		return "pass"
	case failed:
		return "fail"
	case fromFork:
		return "claimed by a fork"
	case accepted:
		return "accepted"
	case advised:
		return "would have failed"
	default:
		return "no answer"
	}
}

// failing lists what fails the check.
func (o outcome) failing() string { return strings.Join(o.fails, ", ") }
