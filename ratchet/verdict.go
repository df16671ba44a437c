package ratchet

// Verdict is the result for a case or a whole comparison.
type Verdict string

// The verdicts.
const (
	Regression   Verdict = "regression"
	Improvement  Verdict = "improvement"
	Maintained   Verdict = "maintained"
	Inconclusive Verdict = "inconclusive"
	New          Verdict = "new"       // the base does not have the case
	Missing      Verdict = "missing"   // the candidate no longer has the case
	Broken       Verdict = "broken"    // wrong result, build or harness failure
	Identical    Verdict = "identical" // no input of a build or a kernel differs
)

// Severity orders verdicts by their effect on a change: SeverityFail outranks SeverityNoAnswer, which outranks
// SeverityPass.
type Severity int

// The severities, best first.
const (
	SeverityPass Severity = iota
	SeverityNoAnswer
	SeverityFail
)

// ExitCode returns the exit code of pawl run.
func (s Severity) ExitCode() int {
	return map[Severity]int{SeverityFail: 1, SeverityNoAnswer: 2}[s]
}

// Severity returns the severity of a verdict on a gated case. A case that is not gated never counts as
// worse than SeverityPass.
func (v Verdict) Severity() Severity {
	switch v {
	case Regression, Broken, Missing:
		return SeverityFail
	case Inconclusive:
		return SeverityNoAnswer
	case Improvement, Maintained, New, Identical:
		return SeverityPass
	default:
		return SeverityNoAnswer
	}
}

// Move says whether a case moves its baseline. It is independent of the verdict: a confirmed gain of 7 % is
// "maintained" under a claim of 10 % and still moves the baseline.
type Move string

// The values of Move.
const (
	Moves Move = "moves"
	Holds Move = "holds"
)
