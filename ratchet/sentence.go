package ratchet

import (
	"fmt"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet/integrity"
	"github.com/goatnote-inc/pawl/stats"
)

// sentence explains the verdict for a tired reader: what changed, by how much, how certain it is, and what
// to do.
func (s *caseAnalysis) sentence(f *Facts) string {
	if s.by != byRatio && s.why == noReason {
		return s.exactSentence()
	}
	switch s.verdict {
	case Identical:
		if s.Unchanged == measure.Skipped {
			return "Not measured: nothing that it executes or reads differs from the base."
		}
		return "No input of the build or the kernel differs from the base, so there was nothing to measure."
	case New:
		return "New: the base does not have this case, so there is nothing to compare it with."
	case Missing:
		return "Missing: the base has this case, but the candidate does not. Restore it, or remove it from the suite in a separate change."
	case Broken:
		return "Broken: the candidate failed: " + firstLine(s.CandidateError)
	case Regression:
		text := fmt.Sprintf("%s in %s.", amount(*f), s.roundsWords())
		if s.Paired { // if not paired, the machine may have changed in ways these numbers cannot show
			text += fmt.Sprintf(" Identical code shows a result like this less than once in %s comparisons.", odds(max(s.slower, s.holm)))
		}
		if s.cause != "" {
			text += " In clock cycles it is unchanged: the cause is clock or power, which the change itself can affect."
		}
		return text
	case Improvement:
		return fmt.Sprintf("%s in %s.", amount(*f), s.roundsWords())
	case Maintained:
		text := fmt.Sprintf("Not %s by %s or more: %s in %s.", worseWord(s.Evidence), percent(math.Expm1(s.limits.slower)), change(*f), s.roundsWords())
		if s.move == Moves {
			text += " The gain is confirmed, and the baseline moves."
		}
		return text
	default:
		return s.noAnswer(f)
	}
}

func (s *caseAnalysis) noAnswer(f *Facts) string {
	switch s.why {
	case baseFailed:
		return "No answer: the base failed: " + firstLine(s.BaseError)
	case unlikeSessions:
		return fmt.Sprintf("No answer: %s If the baseline's commit builds, it is measured again instead.", s.Unlike)
	case onlySummary:
		return "No answer: the file has only a summary and no samples, so nothing can be decided."
	case notMeasured:
		return "No answer: it was not measured. The record says that it cannot have changed, but a record is no proof. Measure all cases: pawl run --force-measure."
	case fewRounds:
		return fmt.Sprintf("No answer: %s. Processes differ from each other: measure at least 4 rounds side by side with pawl run.", s.roundsWords())
	case fewSessions:
		return fmt.Sprintf("No answer: the stored baseline has %s, and sessions of the same code differ. It needs 5, or a base that builds.", words.Plural(newSessions(s.Base).n(), "measuring session"))
	case manyCases:
		return fmt.Sprintf("No answer: %s, which is enough for a single case. Among all cases of this run, one may look like this by chance. Run this case alone, or with more rounds.", amount(*f))
	case otherClock:
		return fmt.Sprintf("No answer: %s, but unchanged in clock cycles. The sessions ran at different clocks: lock the clocks, or measure side by side.", amount(*f))
	case redefined:
		return fmt.Sprintf("No answer: definition changed (%s), so both sides were measured with the change's definition. Result: %s. After reviewing that change, accept it with pawl run --accept REASON.", s.Redefined, change(*f))
	case tooGood:
		return s.suspicious(f)
	case noRatio:
		return "No answer: values of 0 or below have no ratio. Set a limit for this metric in the suite (metrics)."
	case noReason, candidateFails, tooNoisy:
	}
	text := "No answer"
	if f == nil || f.Interval == nil {
		return text + ": too little was measured."
	}
	text += fmt.Sprintf(" after %s: %s.", s.roundsWords(), change(*f))
	if !s.Paired {
		return text + " The sides were measured at different times, and the machine may have changed in between: use pawl bench --base or pawl run."
	}
	switch n := s.roundsNeeded(); {
	case s.masksSlowdown(s.limits.slower):
		text += fmt.Sprintf(" In %d of these rounds the candidate was far slower than in the others, and the base in %d: look for something that it does only in some processes.", s.slow, s.outliers-s.slow)
	case s.hidden > s.se*s.se:
		text += fmt.Sprintf(" The timer counts in steps of %s of this time and hides smaller changes: give the case more work, or choose a finer timer (measure.timer).", percent(s.step()))
	case s.n < s.claimRounds && math.Abs(s.mean) >= s.limits.slower:
		text += fmt.Sprintf(" Consecutive rounds can be alike, so a claim needs at least %d rounds here.", s.claimRounds)
	case n > 0:
		text += fmt.Sprintf(" Rounds here differ by %s. About %d rounds would decide it, or locked clocks and a quieter machine.", percent(f.Spread), n)
	default:
		text += fmt.Sprintf(" Rounds here differ by %s: lock the clocks, or stop other programs on this machine.", percent(f.Spread))
	}
	return text
}

// step returns the timer's step relative to the time.
func (s *caseAnalysis) step() float64 {
	base, candidate := s.pairs()
	return quantum(base, candidate) / stats.Median(medians(base))
}

// suspicious says what is required to accept a gain that is too good to be true.
func (s *caseAnalysis) suspicious(f *Facts) string {
	text := fmt.Sprintf("No answer: %s, which is more than %d times. Gains this large are usually mistakes.", amount(*f), integrity.TooGood)
	if !s.SecondClock && !s.Reported {
		text += " It needs a second clock: a harness that answers run requests."
	}
	return text + " After reviewing the kernel, accept it with pawl run --accept REASON."
}

// roundsNeeded returns the number of rounds that would distinguish the limit from no change, or 0 if it is
// impractically large.
func (s *caseAnalysis) roundsNeeded() int {
	for n := 2 * max(s.n, 4); n <= 512; n *= 2 {
		if s.spread*minDetectable(n) <= s.limits.slower {
			return n
		}
	}
	return 0
}

func (s *caseAnalysis) roundsWords() string {
	switch {
	case s.Paired:
		return words.Plural(s.rounds, "round") + " side by side"
	case s.Stored:
		return fmt.Sprintf("%s against %s", words.Plural(len(s.Candidate), "round"), words.Plural(newSessions(s.Base).n(), "stored session"))
	default:
		return fmt.Sprintf("%s against %d, measured separately", words.Plural(len(s.Candidate), "round"), len(s.Base))
	}
}

// amount formats a change in the terms of its metric: "4.2 % slower (3.6 to 4.8 %)".
func amount(f Facts) string {
	if !f.HasRatio() {
		return fmt.Sprintf("from %s to %s", words.Quantity(f.Base.Median, f.Unit), words.Quantity(f.Now.Median, f.Unit))
	}
	bare, within := words.Change, words.ChangeWithin
	if f.Unit != "ns" {
		bare, within = words.Amount, words.AmountWithin
	}
	if f.Interval == nil {
		return bare(1 + f.Change)
	}
	return within(1+f.Change, 1+f.Interval.Low, 1+f.Interval.High)
}

// change formats a difference that may be none: "+0.2 % (-0.4 to +0.8 %)". A large one is told as a factor.
func change(f Facts) string {
	switch {
	case !f.HasRatio():
		return "it changed " + amount(f)
	case f.Change >= 1 || f.Change <= -0.5:
		return "it is " + amount(f)
	}
	what := "the time changed by"
	if f.Unit != "ns" {
		what = "it changed by"
	}
	text := what + " " + words.SignedPercent(f.Change)
	if f.Interval != nil {
		text += fmt.Sprintf(" (%s to %s)", words.Signed(100*f.Interval.Low, 1), words.SignedPercent(f.Interval.High))
	}
	return text
}

func worseWord(e Evidence) string {
	switch {
	case e.Unit == "ns":
		return "slower"
	case e.Better == measure.Higher:
		return "lower"
	default:
		return "higher"
	}
}

// odds formats a p-value as a round number of times.
func odds(p float64) string {
	for _, o := range []struct {
		at   float64
		name string
	}{{1e-6, "1,000,000"}, {1e-5, "100,000"}, {1e-4, "10,000"}, {1e-3, "1,000"}} {
		if p <= o.at {
			return o.name
		}
	}
	return "100"
}

// firstLine shortens a message, so that a hostile or endless one cannot fill the page.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}

func (j *SuiteJudgment) sentence() string {
	text := words.Change(1 + j.Change)
	if j.Interval != nil {
		text = words.ChangeWithin(1+j.Change, 1+j.Interval.Low, 1+j.Interval.High)
	}
	if j.Verdict == Regression && j.Change < 0.03 { // otherwise the single cases show it
		text += ", a little in nearly every case"
	}
	return fmt.Sprintf("All %d cases together: %s.", j.Cases, text)
}
