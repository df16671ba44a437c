package learn

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// lostAtLeast is what an attempt must have cost to be called slower, besides being beyond
// its noise.
const lostAtLeast = 0.02

// tries takes the attempts and says what is wrong about each.
func (t *Tale) tries(s *journal.Session) {
	at := map[string]float64{}
	for _, e := range s.Entries {
		if e.Did != nil && e.Did.Measured != nil {
			at[e.Did.Measured.Run] = since(s, e.Time)
		}
	}
	priors := expected(s)
	for _, a := range journal.Attempts(s) {
		try := Try{Attempt: a, Minute: at[a.Run], Prior: priors[a.Fix], Wrong: wrong(a)}
		if len(try.Wrong) > 0 {
			t.Wrong++
		}
		t.Tries = append(t.Tries, try)
	}
}

// wrong says what an attempt should not have been.
func wrong(a journal.Attempt) []string {
	var list []string
	if !a.Profiled {
		list = append(list, "no profile")
	}
	if n := len(a.Changes); n > 1 {
		list = append(list, fmt.Sprintf("%d variables at once", n))
	}
	if !a.Correct {
		list = append(list, "wrong result")
	}
	if a.Gain < -max(2*a.Error, lostAtLeast) {
		list = append(list, fmt.Sprintf("%.2fx slower", math.Exp(-a.Gain)))
	}
	return list
}

// expected is what rules expected of fixes in this session, as logarithms of gains, the
// newest word of each.
func expected(s *journal.Session) map[string]float64 {
	priors := map[string]float64{}
	for _, e := range s.Entries {
		if e.Did == nil || e.Did.Profiled == nil {
			continue
		}
		for _, found := range e.Did.Profiled.Findings {
			for _, f := range found.Fixes {
				priors[f.ID] = gainOf(f.Gain)
			}
		}
	}
	return priors
}

// gainOf turns a share of the time that is saved into the logarithm of before over after. A
// share of everything would be infinite: nothing saves more than 95 %.
func gainOf(share float64) float64 {
	if !(share > 0) {
		return 0
	}
	return -math.Log1p(-min(share, 0.95))
}

// Attempts are what was tried, as the journal has it.
func (t *Tale) Attempts() []journal.Attempt {
	list := make([]journal.Attempt, len(t.Tries))
	for i := range t.Tries {
		list[i] = t.Tries[i].Attempt
	}
	return list
}
