package ratchet

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
)

// comparison is how a case is judged.
type comparison string

const (
	byRatio comparison = ""         // by the ratios of its rounds, as times are
	byLimit comparison = "limit"    // every value of the candidate must keep a limit
	byValue comparison = "exact"    // the values are exact: any change counts
	byNone  comparison = "no ratio" // values of 0 or below that vary: there is nothing to judge them by
)

// comparison returns how the case is judged. Only metrics that a harness reports can be exact, or 0 and below: times
// and what is computed from them are measured.
func (e Evidence) comparison(p Policy) comparison {
	switch {
	case e.Limit != nil:
		return byLimit
	case !e.Reported:
		return byRatio
	case e.exact(p.MinRounds):
		return byValue
	case !positive(e.Base) || !positive(e.Candidate):
		return byNone
	default:
		return byRatio
	}
}

// exact reports whether a metric counts something and each side has one value, in every sample of enough rounds.
func (e Evidence) exact(rounds int) bool {
	_, base := oneValue(e.Base)
	_, candidate := oneValue(e.Candidate)
	return base && candidate && counted(e.Unit) && min(len(e.Base), len(e.Candidate)) >= rounds
}

// counted reports whether a unit counts something. Times and rates are measured: if they are equal, they were rounded.
func counted(unit string) bool {
	unit = strings.ToLower(unit)
	return !slices.Contains([]string{"ns", "us", "µs", "μs", "ms", "s", "sec", "seconds", "min", "h"}, unit) &&
		!strings.Contains(unit, "/s") && !strings.Contains(unit, "per_s") && !strings.Contains(unit, "per s")
}

// oneValue returns the value that all samples have; false if they differ or there are none.
func oneValue(rounds []Round) (float64, bool) {
	if len(rounds) == 0 || len(rounds[0].Sorted) == 0 {
		return 0, false
	}
	v := rounds[0].Sorted[0]
	for _, r := range rounds {
		if n := len(r.Sorted); n == 0 || r.Sorted[0] != v || r.Sorted[n-1] != v {
			return 0, false
		}
	}
	return v, true
}

func positive(rounds []Round) bool {
	return !slices.ContainsFunc(rounds, func(r Round) bool { return !r.usable() })
}

// decideWithoutRatio sets the verdict of a case that is not judged by its ratios. More rounds would not change it.
func (s *caseAnalysis) decideWithoutRatio() {
	s.rounds = min(len(s.Base), len(s.Candidate))
	if !s.HasBase {
		s.rounds = len(s.Candidate)
	}
	base, candidate := all(s.Base).Median(), all(s.Candidate).Median()
	if base > 0 && candidate > 0 {
		s.mean = s.sign() * math.Log(candidate/base)
	}
	switch s.by {
	case byLimit:
		s.verdict = Maintained
		if s.sign()*(s.worst()-*s.Limit) > 0 {
			s.verdict = Regression
		}
	case byValue:
		switch worse := s.sign() * (candidate - base); {
		case worse > 0:
			s.verdict = Regression
		case worse < 0:
			s.verdict, s.move = Improvement, Moves
		default:
			s.verdict = Maintained
		}
	case byNone:
		s.verdict, s.why = Inconclusive, noRatio
	case byRatio:
	}
}

// worst returns the worst value of the candidate.
func (s *caseAnalysis) worst() float64 {
	values := all(s.Candidate)
	if s.Better == measure.Higher {
		return values[0]
	}
	return values[len(values)-1]
}

// exactSentence explains a verdict that is not based on ratios.
func (s *caseAnalysis) exactSentence() string {
	if s.by == byLimit {
		where := "Within"
		switch {
		case s.verdict == Regression && s.Better == measure.Higher:
			where = "Below"
		case s.verdict == Regression:
			where = "Above"
		}
		return fmt.Sprintf("%s its limit of %s: the worst of %s is %s.", where, exactly(*s.Limit, s.Unit), words.Plural(len(all(s.Candidate)), "value"), exactly(s.worst(), s.Unit))
	}
	base, _ := oneValue(s.Base)
	now, _ := oneValue(s.Candidate)
	if s.verdict == Maintained {
		return fmt.Sprintf("Unchanged: %s in every round.", exactly(now, s.Unit))
	}
	return fmt.Sprintf("From %s to %s in every round. The value is exact, so any change counts.", exactly(base, s.Unit), exactly(now, s.Unit))
}

// exactly formats a value with all of its digits: four would hide one byte of a million.
func exactly(v float64, unit string) string {
	format := byte('f')
	if size := math.Abs(v); size != 0 && (size < 1e-4 || size >= 1e15) {
		format = 'g'
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, format, -1, 64)+" "+unit, " 1")
}
