package ratchet

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet/integrity"
	"github.com/goatnote-inc/pawl/stats"
)

// Judge decides every case of a finished comparison, to which no more rounds will be added.
func Judge(p Policy, evidence []Evidence) Result {
	if p.Rule == Classic {
		return judgeClassic(p, evidence)
	}
	cases := study(p, evidence)
	adjustForCases(cases)
	r := Result{Schema: Schema, Policy: p, Counts: map[Verdict]int{}}
	for _, c := range cases {
		c.decideFinally(p)
		c.requireAcceptance()
		r.Cases = append(r.Cases, c.judgement(p))
	}
	r.Suite = judgeSuite(p, evidence)
	r.allowUndecided(cases)
	r.conclude()
	return r
}

// Undecided returns the indexes of the cases that need more rounds, at a look that is not the last.
func Undecided(p Policy, evidence []Evidence) []int {
	cases := study(p, evidence)
	gated, failed := false, false
	tested := map[bool]int{} // by whether the case is reported
	for _, c := range cases {
		gated = gated || c.Gate
		if c.tested() {
			tested[c.Reported]++
		}
	}
	var open, kept []int
	for i, c := range cases {
		switch {
		case !c.tested() || !c.Paired || c.by != byRatio: // stored sessions do not grow
		case c.Reported && !c.Gate && gated: // a metric that is only watched is not worth more rounds
		case !c.decidedEarly(p, tested[c.Reported]):
			open = append(open, i)
		case c.verdict == Maintained:
			kept = append(kept, i)
		}
		failed = failed || c.Gate && c.verdict.Severity() == SeverityFail
	}
	// If the cases together look slower and no single one fails the change, more rounds of the decided
	// cases help to find out.
	if !failed && suiteSuspicious(p, evidence) {
		open = slices.Sorted(slices.Values(append(open, kept...)))
	}
	return open
}

// MoreRounds returns the names of the cases that need more rounds in any of several comparisons. A metric is
// measured with the time of its case, so the name is that of the case.
func MoreRounds(p Policy, questions ...[]Evidence) []string {
	var names []string
	for _, list := range questions {
		for _, i := range Undecided(p, list) {
			key := list[i].Case
			key.Metric = ""
			if name := key.Name(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// caseAnalysis is a case on the way to its verdict.
type caseAnalysis struct {
	Evidence
	looks
	by      comparison
	limits  limits
	delta   float64 // Cliff's delta, with the sign turned so that positive is worse
	holm    float64
	verdict Verdict
	move    Move
	cause   string
	why     reason
}

// reason is why a verdict is not better.
type reason string

const (
	noReason       reason = ""
	fewRounds      reason = "few rounds"
	fewSessions    reason = "few sessions"
	unlikeSessions reason = "unlike sessions"
	baseFailed     reason = "base failed"
	candidateFails reason = "candidate failed"
	onlySummary    reason = "summary"
	notMeasured    reason = "not measured"
	manyCases      reason = "many cases" // enough for one case, but not among many
	otherClock     reason = "clock"      // caused by the clock, which differs between sessions
	tooNoisy       reason = "noise"
	redefined      reason = "definition changed"
	tooGood        reason = "too good"
	noRatio        reason = "no ratio"
)

func study(p Policy, evidence []Evidence) []*caseAnalysis {
	list := make([]*caseAnalysis, len(evidence))
	for i, e := range evidence {
		s := &caseAnalysis{Evidence: e, limits: p.limits(e.Case.Name()), move: Holds, holm: 1}
		s.looks = looks{slower: 1, faster: 1, kept: 1}
		list[i] = s
		if s.settle(); s.verdict != "" {
			continue
		}
		if s.by = e.comparison(p); s.by == byRatio {
			s.looks = e.look(p, s.limits)
		} else {
			s.decideWithoutRatio()
		}
	}
	return list
}

// settle sets the verdicts that need no statistics.
func (s *caseAnalysis) settle() {
	set := func(v Verdict, why reason) { s.verdict, s.why = v, why }
	switch {
	case s.Identical:
		set(Identical, noReason)
	case !s.HasCandidate:
		set(Missing, noReason)
	case s.CandidateError != "":
		set(Broken, candidateFails)
	case s.Limit != nil && len(s.Candidate) > 0: // it needs no base
	case !s.HasBase:
		set(New, noReason)
	case s.BaseError != "":
		set(Inconclusive, baseFailed)
	case s.NoSamples && s.Unchanged == measure.Skipped:
		set(Inconclusive, notMeasured)
	case s.NoSamples:
		set(Inconclusive, onlySummary)
	case s.Unlike != "":
		set(Inconclusive, unlikeSessions)
	}
}

// tested reports whether the case has numbers to compare.
func (s *caseAnalysis) tested() bool {
	return s.HasBase && s.HasCandidate && !s.Identical && s.CandidateError == "" && s.BaseError == "" && !s.NoSamples && s.Unlike == ""
}

// worse reports whether the size of the difference is enough for a regression. gained and better do the same
// for a move of the baseline and an improvement.
func (s *caseAnalysis) worse() bool  { return s.mean >= s.limits.slower }
func (s *caseAnalysis) gained() bool { return s.mean <= -s.limits.moves }

func (s *caseAnalysis) better(p Policy) bool {
	return s.mean <= -s.limits.faster && math.Abs(s.cliff()) >= p.Delta
}

// cliff is computed only on demand: it is the only value here that reads every sample.
func (s *caseAnalysis) cliff() float64 {
	if s.delta == 0 {
		s.delta = s.sign() * all(s.Candidate).Cliff(all(s.Base))
	}
	return s.delta
}

// decidedEarly reports whether a look that is not the last settles the case. Among many cases, an early claim
// needs the certainty that the last look will require of the most certain one.
func (s *caseAnalysis) decidedEarly(p Policy, cases int) bool {
	if s.rounds < p.MinRounds {
		return false
	}
	level := min(p.Alpha, p.Family/float64(max(cases, 1)))
	switch {
	case s.slower <= level && s.worse():
		s.verdict = Regression
	case s.faster <= level && s.better(p):
		s.verdict = Improvement
	case s.kept <= p.Beta && (!s.gained() || s.faster <= level):
		s.verdict = Maintained // a gain that may still be confirmed is worth more rounds
	default:
		return false
	}
	return true
}

// adjustForCases adjusts the claims for the number of cases: at an error rate of one in a thousand, a run of a
// thousand cases would have one false claim. Reported metrics are a family of their own: twenty of them must not make a
// time harder to judge.
func adjustForCases(cases []*caseAnalysis) {
	for _, reported := range []bool{false, true} {
		var tested []*caseAnalysis
		var ps []float64
		for _, c := range cases {
			if c.tested() && c.by == byRatio && c.Reported == reported {
				tested, ps = append(tested, c), append(ps, min(c.slower, c.faster))
			}
		}
		for i, p := range stats.Holm(ps) {
			tested[i].holm = p
		}
	}
}

// decideFinally sets the verdict when no more rounds will be added.
func (s *caseAnalysis) decideFinally(p Policy) {
	if s.verdict != "" {
		return
	}
	claim := s.holm <= p.Family
	slower, faster := s.slower <= p.Alpha, s.faster <= p.Alpha
	s.verdict = Inconclusive
	switch {
	case s.rounds < p.MinRounds:
		s.why = fewRounds
	case s.Stored && newSessions(s.Base).n() < p.MinSessions:
		s.why = fewSessions
	case slower && s.worse() && !claim:
		s.why = manyCases
	case slower && s.worse():
		s.verdict = Regression
		s.blameClock()
	case faster && claim && s.better(p):
		s.verdict, s.move = Improvement, Moves
	case s.kept <= p.Beta:
		s.verdict = Maintained
	default:
		s.why = tooNoisy
	}
	if s.verdict == Maintained && faster && claim && s.gained() {
		s.move = Moves
	}
}

// requireAcceptance makes a good verdict inconclusive if a person must accept it first: the change is measured with
// its own definitions, or the gain is too good to be true.
func (s *caseAnalysis) requireAcceptance() {
	if !s.tested() || s.verdict.Severity() != SeverityPass {
		return
	}
	switch {
	case s.Redefined != "" && !s.Accepted:
		s.verdict, s.why = Inconclusive, redefined
	case s.by != byLimit && s.mean < -math.Log(integrity.TooGood) && (!s.Accepted || !s.SecondClock && !s.Reported):
		s.verdict, s.why = Inconclusive, tooGood
	case s.Redefined == "":
		return
	}
	s.move = Holds // a result with changed definitions is not a baseline yet
}

// clockCause is the cause of a slowdown that disappears when counted in cycles.
const clockCause = "clock or power"

// blameClock checks whether a slowdown disappears when counted in cycles. If the sides were paired, the
// code is still the cause: it drew the power, or ran where the clock is lower. Separate sessions differ in
// clocks anyway.
func (s *caseAnalysis) blameClock() {
	cycles, ok := s.inCycles()
	if !ok || cycles >= s.mean/3 || cycles >= s.limits.slower {
		return
	}
	s.cause = clockCause
	if !s.Paired {
		s.verdict, s.why = Inconclusive, otherClock
	}
}

// inCycles returns the difference in clock cycles.
func (s *caseAnalysis) inCycles() (float64, bool) {
	sum := func(rounds []Round) (float64, bool) {
		var logs []float64
		for _, r := range rounds {
			if !(r.Cycles > 0) {
				return 0, false
			}
			logs = append(logs, math.Log(r.Cycles))
		}
		return stats.Mean(logs), len(logs) > 0
	}
	base, candidate := s.Base, s.Candidate
	if s.Paired {
		base, candidate = s.pairs()
	}
	b, ok := sum(base)
	c, also := sum(candidate)
	return s.sign() * (c - b), ok && also
}
