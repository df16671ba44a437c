package notice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/ratchet"
)

// outcome is what became of a verdict.
type outcome struct {
	word       string   // the verdict, or suite.FailOnError
	fails      []string // what of it fails by fail-on, the worst first
	conclusion forge.Conclusion
	because    reason
}

// reason is why a conclusion is as it is.
type reason int

const (
	passed    reason = iota // nothing speaks against the change
	failed                  // fail-on names it, and nothing excuses it
	claimed                 // a fork's: whatever it says, it promises nothing
	accepted                // somebody who may has accepted it
	advised                 // it would have failed
	undecided               // no pass, and fail-on does not name it
)

// decide is the one place where a verdict becomes a conclusion.
func decide(in Input) outcome {
	o := outcome{word: in.word()}
	words := in.words(o.word)
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
		return set(forge.Neutral, claimed)
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

// acceptable tells whether a person's word can outweigh what fails: a wrong result stays
// wrong, whoever likes it.
func acceptable(fails []string) bool { return !slices.Contains(fails, string(ratchet.Broken)) }

// word is the verdict on the whole. Without samples only claims count that promise
// nothing, or that there was nothing to measure.
func (in Input) word() string {
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

// words are everything that speaks against the change, the worst first: a missing case
// is not hidden by a regression that nobody wants to fail on.
func (in Input) words(whole string) []string {
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
	if ratchet.Verdict(whole).Severity() != ratchet.Yes && found[whole] { // a verdict that nobody knows is no pass
		list = append(list, string(ratchet.Inconclusive))
	}
	return list
}

// silent tells whether nobody misses a report.
func (o outcome) silent(in Input) bool {
	if o.conclusion != forge.Success && o.word != string(ratchet.Maintained) && o.word != string(ratchet.Identical) {
		return false
	}
	drifted := in.Drift != nil && in.Drift.Verdict == ratchet.Regression
	return !drifted && in.Accepted == nil && in.Result != nil && !slices.ContainsFunc(in.Result.Cases, func(c ratchet.Judgement) bool {
		return c.Verdict != ratchet.Maintained && c.Verdict != ratchet.Identical
	})
}

// title is the one line that a list of checks shows.
func (o outcome) title(in Input, what string) string {
	switch o.because {
	case claimed:
		return "claimed by a fork: " + what
	case accepted:
		return fmt.Sprintf("accepted by %s: %s", in.Accepted.By, what)
	case advised:
		return "would have failed: " + what
	case failed, passed, undecided:
	}
	return what
}

// label is the first word of a report.
func (o outcome) label() string {
	switch o.because {
	case passed:
		return "pass"
	case failed:
		return "fail"
	case claimed:
		return "claimed by a fork"
	case accepted:
		return "accepted"
	case advised:
		return "would have failed"
	default:
		return "no answer"
	}
}

// failing says in words what fails the check.
func (o outcome) failing() string { return strings.Join(o.fails, ", ") }
