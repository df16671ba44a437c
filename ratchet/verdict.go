package ratchet

// Verdict is the answer for a case.
type Verdict string

// The verdicts.
const (
	Regression   Verdict = "regression"
	Improvement  Verdict = "improvement"
	Maintained   Verdict = "maintained"
	Inconclusive Verdict = "inconclusive"
	New          Verdict = "new"       // the base does not have the case
	Missing      Verdict = "missing"   // the candidate does not have it any more
	Broken       Verdict = "broken"    // wrong result, build or harness failure
	Identical    Verdict = "identical" // nothing differs that a build or a kernel reads
)

// Severity orders verdicts for whoever must decide about a change: no before
// no answer before yes.
type Severity int

// The severities, best first.
const (
	Yes Severity = iota
	NoAnswer
	No
)

// Severity of a verdict on a case that may fail a change. A case that is only
// watched is never worse than Yes.
func (v Verdict) Severity() Severity {
	switch v {
	case Regression, Broken, Missing:
		return No
	case Inconclusive:
		return NoAnswer
	case Improvement, Maintained, New, Identical:
		return Yes
	default:
		return NoAnswer
	}
}

// Move says what a case means for its baseline. It is one thing, the verdict
// another: a confirmed gain of 7 % is "maintained" for the claim of 10 % and still
// moves the baseline.
type Move string

// The two answers.
const (
	Moves Move = "moves"
	Holds Move = "holds"
)
