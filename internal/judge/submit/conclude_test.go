package submit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// resultOf returns the judge's result for one case whose time changed within an interval.
func resultOf(v ratchet.Verdict, low, change, high float64, needs string) ratchet.Result {
	return ratchet.Result{Verdict: v, Sentence: "the judge's", Cases: []ratchet.Judgment{{
		Name: "axpy/N500", Verdict: v, Gate: true, Needs: needs, Sentence: "of the case",
		Facts: &ratchet.Facts{Rounds: 4, Better: measure.Lower, Change: change, Interval: &ratchet.Range{Low: low, High: high}},
	}}}
}

func TestJudged_RaceSaysWhereTheIntervalIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name              string
		stage             Stage
		verdict           ratchet.Verdict
		low, change, high float64 // of the time
		needs             string
		want              ratchet.Verdict
		reason            string
	}{
		{"far ahead, not claimed", Quick, ratchet.Maintained, -0.7, -0.6, -0.45, "", Ahead, "submit it with stage full"},
		{"ahead in loud rounds", Quick, ratchet.Inconclusive, -0.7, -0.3, -0.01, "", Ahead, "submit it with stage full"},
		{"ahead and claimed", Quick, ratchet.Improvement, -0.7, -0.6, -0.45, "", ratchet.Improvement, ""},
		{"behind, not claimed", Quick, ratchet.Inconclusive, 0.1, 0.4, 0.9, "", Behind, "slower in a race"},
		{"slower by less than the limit", Quick, ratchet.Maintained, 0.005, 0.01, 0.02, "", ratchet.Maintained, ""},
		{"the same", Quick, ratchet.Maintained, -0.01, 0, 0.01, "", ratchet.Maintained, ""},
		{"no answer", Quick, ratchet.Inconclusive, -0.3, 0, 0.3, "", ratchet.Inconclusive, "the judge's"},
		{"a person decides", Quick, ratchet.Inconclusive, -0.95, -0.94, -0.93, "accept", ratchet.Inconclusive, "of the case"},
		{"a gain below the claim, judged in full", Full, ratchet.Maintained, -0.07, -0.06, -0.05, "", ratchet.Maintained, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			j := &job{answer: Answer{Stage: test.stage}}
			j.judged(resultOf(test.verdict, test.low, test.change, test.high, test.needs), nil)
			a := j.answer
			if a.Verdict != string(test.want) || a.Worst[0].Verdict != string(test.want) || !strings.Contains(a.Reason, test.reason) || test.reason == "" && a.Reason != "" {
				t.Errorf("%+v, want %s because %q", a, test.want, test.reason)
			}
		})
	}
}

// No answer of a race contradicts itself: beside an interval above 1 there is no verdict that says no gain.
func TestJudged_RaceDoesNotContradictItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom([]ratchet.Verdict{ratchet.Maintained, ratchet.Inconclusive, ratchet.Improvement, ratchet.Regression}).Draw(t, "verdict")
		low := rapid.Float64Range(-0.95, 3).Draw(t, "low")
		high := low + rapid.Float64Range(0, 3).Draw(t, "width")
		j := &job{answer: Answer{Stage: Quick}}
		j.judged(resultOf(v, low, (low+high)/2, high, ""), nil)
		a := j.answer
		below, above, _ := a.Interval()
		switch a.Verdict {
		case string(ratchet.Maintained):
			if below > 1 {
				t.Errorf("%+v", a)
			}
		case string(ratchet.Inconclusive):
			if below > 1 || above < 1 {
				t.Errorf("%+v", a)
			}
		case string(Ahead):
			if below <= 1 || a.Faster != 1 {
				t.Errorf("%+v", a)
			}
		case string(Behind):
			if above >= 1 || a.Slower != 1 {
				t.Errorf("%+v", a)
			}
		}
	})
}
