package commits

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

func TestConclude(t *testing.T) {
	judged := func(list ...ratchet.Judgment) loop.State {
		return loop.State{Result: &ratchet.Result{Cases: list}}
	}
	one := func(name string, v ratchet.Verdict, change float64) ratchet.Judgment {
		return ratchet.Judgment{Name: name, Verdict: v, Gate: true, Sentence: "said so", Facts: &ratchet.Facts{Change: change}}
	}
	rate := one("rate", ratchet.Regression, -0.5)
	rate.Facts.Better = measure.Higher
	watched := one("watched", ratchet.Regression, 0.5)
	watched.Gate = false
	for _, test := range []struct {
		name   string
		state  loop.State
		cases  []string
		answer Answer
		worst  string
		why    string
		retry  bool
	}{
		{"slower", judged(one("a", ratchet.Maintained, 0), one("b", ratchet.Regression, 0.05), one("c", ratchet.Regression, 0.2)), nil, Slower, "c", "", false},
		{"slower in another case only", judged(one("a", ratchet.Maintained, 0), one("b", ratchet.Regression, 0.05)), []string{"a"}, Fine, "", "", false},
		{"half of a rate is twice the time", judged(one("a", ratchet.Regression, 0.9), rate), nil, Slower, "rate", "", false},
		{"a case that is only watched", judged(watched, one("a", ratchet.Improvement, -0.2)), nil, Fine, "", "", false},
		{"a watched case that is asked for", judged(watched), []string{"watched"}, Slower, "watched", "", false},
		{"no answer", judged(one("a", ratchet.Inconclusive, 0)), []string{"a"}, Skipped, "", "a: said so", true},
		{"wrong", judged(one("a", ratchet.Broken, 0)), []string{"a"}, Skipped, "", "a: said so", false},
		{"identical", judged(one("all", ratchet.Identical, 0)), []string{"a"}, Fine, "", "", false},
		{"without the case", judged(one("b", ratchet.Maintained, 0)), []string{"a"}, Skipped, "", "it does not have the case a", false},
		{"not built", loop.State{Stopped: &loop.Failure{Why: "no\nmore"}}, nil, Skipped, "", "no", false},
		{"nothing", loop.State{}, nil, Skipped, "", "the run ended before anything was judged", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, retry := conclude(test.state, test.cases)
			if s.Answer != test.answer || s.Why != test.why || retry != test.retry {
				t.Errorf("got %s, %q, retry %v, want %s, %q, %v", s.Answer, s.Why, retry, test.answer, test.why, test.retry)
			}
			if test.worst != "" && (len(s.Slower) == 0 || s.Slower[0].Name != test.worst) {
				t.Errorf("slower: %v, want %s first", s.Slower, test.worst)
			}
		})
	}
}
