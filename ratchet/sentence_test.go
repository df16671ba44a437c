package ratchet

import "testing"

func TestSuiteJudgment_Sentence(t *testing.T) {
	for _, tt := range []struct {
		judgment SuiteJudgment
		want     string
	}{
		{SuiteJudgment{Cases: 2, Change: 11.851, Interval: &Range{10.681, 13.138}}, "All 2 cases together: 12.85x slower (11.68x to 14.14x)."},
		{SuiteJudgment{Cases: 5, Change: -0.006, Interval: &Range{-0.016, 0.004}}, "All 5 cases together: 0.6 % faster (-0.4 to 1.6 %)."},
		{SuiteJudgment{Cases: 3, Change: -0.6}, "All 3 cases together: 2.50x faster."},
		{SuiteJudgment{Cases: 12, Change: 0.02, Verdict: Regression, Interval: &Range{0.015, 0.025}}, "All 12 cases together: 2.0 % slower (1.5 to 2.5 %), a little in nearly every case."},
	} {
		if got := tt.judgment.sentence(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestChange_LargeOnesAreFactors(t *testing.T) {
	for _, tt := range []struct {
		facts Facts
		want  string
	}{
		{Facts{Unit: "ns", Change: 0.002, Interval: &Range{-0.004, 0.008}}, "the time changed by +0.2 % (-0.4 to +0.8 %)"},
		{Facts{Unit: "ns", Change: 1.5, Interval: &Range{0.5, 2.5}}, "it is 2.50x slower (1.50x to 3.50x)"},
		{Facts{Unit: "B", Change: -0.75}, "it is 4.00x less"},
	} {
		tt.facts.Base.Median, tt.facts.Now.Median = 1, 1
		if got := change(tt.facts); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
