package ratchet

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/measure"
)

// Claim is the case for making a commit the baseline of a case.
type Claim struct {
	Case   string
	Commit string
	Dirty  bool // built with uncommitted changes
	Main   bool // the commit is on the main branch
	// Correct reports that the results were checked and are right. Unchecked results are not Correct.
	Correct bool
	Trust   measure.Trust // of the fresh run

	Trigger RunRef // the run that showed the gain
	Fresh   RunRef // the run measured afterwards, whose rounds would be recorded

	// Move is the judge's decision on the fresh rounds. Gain is their improvement over the baseline: 0.07
	// is 7 % faster.
	Move Move
	Gain float64
}

// MayMove decides whether a baseline moves, and returns all reasons against it if it does not. A baseline
// that moved by luck would make every honest later run look like a regression, so all conditions must
// hold. The name of the verdict does not matter: a gain of 7 % is "maintained" under a claim of 10 %, and
// still moves the baseline.
func MayMove(p Policy, c Claim) (Move, []string) {
	var against []string
	note := func(bad bool, format string, args ...any) {
		if bad {
			against = append(against, fmt.Sprintf(format, args...))
		}
	}
	least := p.limits(c.Case).moves // as a logarithm
	switch {
	case math.IsNaN(c.Gain):
		note(true, "no gain was measured")
	case !(math.Log1p(c.Gain) >= least):
		note(true, "the gain is %.1f %%, but a baseline moves only from %.1f %% on", 100*c.Gain, 100*math.Expm1(least))
	default:
		note(c.Move != Moves, "the gain of %.1f %% is not confirmed: the fresh rounds vary too much", 100*c.Gain)
	}
	note(c.Fresh == RunRef{}, "no fresh rounds were measured")
	note(c.Trigger == RunRef{}, "the run that showed the gain is not known")
	note(c.Fresh.Same(c.Trigger), "the rounds are the ones that showed the gain: measure again, so that luck is not recorded")
	note(!c.Main, "the commit is not on the main line: the baseline moves when the change is merged")
	note(c.Dirty, "the build has uncommitted changes")
	note(c.Commit == "", "the commit is not known")
	note(c.Trust == measure.SelfTimed, "the change was measured by its own harness, which is not trusted")
	note(c.Trust == measure.TrustImported, "the samples come from a file")
	note(!c.Correct, "the results were not shown to be correct")
	if len(against) > 0 {
		return Holds, against
	}
	return Moves, []string{fmt.Sprintf("a gain of %.1f %%, confirmed by fresh rounds, correct, on the main line", 100*c.Gain)}
}
