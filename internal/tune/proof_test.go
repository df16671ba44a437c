package tune_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// The judge's words become the answer of a proof.
func TestNewComparison(t *testing.T) {
	facts := func(change, low, high float64) *ratchet.Facts {
		return &ratchet.Facts{Better: measure.Lower, Change: change, Interval: &ratchet.Range{Low: low, High: high}}
	}
	for _, tt := range []struct {
		name    string
		verdict ratchet.Verdict
		facts   *ratchet.Facts
		want    tune.Answer
	}{
		{"a fifth faster", ratchet.Improvement, facts(-0.2, -0.22, -0.18), tune.Faster},
		{"surely faster, by less than a twentieth", ratchet.Maintained, facts(-0.03, -0.04, -0.02), tune.Small},
		{"no difference", ratchet.Maintained, facts(0.001, -0.01, 0.01), tune.Same},
		{"a gain that is not sure", ratchet.Maintained, facts(-0.08, -0.17, 0.01), tune.Inconclusive},
		{"slower", ratchet.Regression, facts(0.1, 0.08, 0.12), tune.Same},
		{"noise", ratchet.Inconclusive, facts(-0.02, -0.2, 0.2), tune.Inconclusive},
		{"too good to be true", ratchet.Inconclusive, facts(-0.95, -0.96, -0.94), tune.Inconclusive},
		{"it broke", ratchet.Broken, nil, tune.Inconclusive},
	} {
		if got := tune.NewComparison(ratchet.Judgment{Name: "k/N1", Verdict: tt.verdict, Facts: tt.facts}); got.Answer != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.Answer, tt.want)
		}
	}
	c := tune.NewComparison(ratchet.Judgment{Verdict: ratchet.Improvement, Facts: facts(-0.2, -0.5, 0.25)})
	if c.Speedup != 1.25 || c.Low != 0.8 || c.High != 2 {
		t.Errorf("a fifth less time is %.2f times as fast (%.2f to %.2f), want 1.25 (0.80 to 2.00)", c.Speedup, c.Low, c.High)
	}
}

// compared is a case of a finalist, with an interval of a tenth around it.
func compared(name string, answer tune.Answer, speedup float64) tune.Comparison {
	verdict := map[tune.Answer]ratchet.Verdict{
		tune.Faster: ratchet.Improvement, tune.Small: ratchet.Maintained, tune.Same: ratchet.Maintained, tune.Inconclusive: ratchet.Inconclusive,
	}[answer]
	if answer == tune.Same && speedup < 0.97 {
		verdict = ratchet.Regression
	}
	return tune.Comparison{Case: name, Verdict: verdict, Answer: answer, Speedup: speedup, Low: speedup - 0.05, High: speedup + 0.05}
}

func finalist(block int, cases ...tune.Comparison) tune.Finalist {
	return tune.Finalist{Point: map[string]any{"B": block}, Cases: cases}
}

func TestConclude(t *testing.T) {
	const small, large = "k/N1", "k/N2"
	wrong := finalist(9, compared(large, tune.Faster, 3), compared(small, tune.Faster, 3))
	wrong.ResultError = "k/N7: y is 0, want 1"
	excluded := tune.Comparison{Case: small, Excluded: "B <= N is false"}
	for _, tt := range []struct {
		name      string
		finalists []tune.Finalist
		answer    tune.Answer
		winner    int
		chosen    []int // for the small config and the large one
		sure      []bool
		loses     []string
		says      string
	}{
		{"nothing was found", nil, tune.Same, -1, []int{-1, -1}, []bool{true, true}, nil, "nothing faster"},
		{
			"faster everywhere",
			[]tune.Finalist{finalist(1, compared(small, tune.Faster, 1.3), compared(large, tune.Faster, 1.4))},
			tune.Faster, 0,
			[]int{0, 0},
			[]bool{true, true},
			nil, "28.6 % faster (25.9 to 31.0 %) than with the defaults",
		},
		{
			"the fastest of two, wherever the search had it",
			[]tune.Finalist{finalist(1, compared(small, tune.Same, 1), compared(large, tune.Faster, 1.2)), finalist(2, compared(small, tune.Same, 1), compared(large, tune.Faster, 1.4))},
			tune.Faster, 1,
			[]int{-1, 1},
			[]bool{true, true},
			nil, "28.6 %",
		},
		{
			"it loses elsewhere",
			[]tune.Finalist{finalist(1, compared(small, tune.Same, 0.8), compared(large, tune.Faster, 1.4))},
			tune.Faster, 0,
			[]int{-1, 0},
			[]bool{true, true},
			[]string{small},
			"makes 1 of 2 configs slower: choose by config",
		},
		{
			"another one is much better elsewhere",
			[]tune.Finalist{finalist(1, compared(small, tune.Faster, 1.1), compared(large, tune.Faster, 1.4)), finalist(2, compared(small, tune.Faster, 1.5), compared(large, tune.Faster, 1.2))},
			tune.Faster, 0,
			[]int{1, 0},
			[]bool{true, true},
			nil, "",
		},
		{
			"another one is hardly better elsewhere: one kernel is enough",
			[]tune.Finalist{finalist(1, compared(small, tune.Faster, 1.48), compared(large, tune.Faster, 1.4)), finalist(2, compared(small, tune.Faster, 1.5), compared(large, tune.Faster, 1.2))},
			tune.Faster, 0,
			[]int{0, 0},
			[]bool{true, true},
			nil, "",
		},
		{
			"a small gain",
			[]tune.Finalist{finalist(1, compared(small, tune.Same, 1), compared(large, tune.Small, 1.03))},
			tune.Small, 0,
			[]int{-1, 0},
			[]bool{true, true},
			nil, "less than 5 %",
		},
		{
			"a gain of a tenth is preferred to a smaller one that is surer",
			[]tune.Finalist{finalist(1, compared(small, tune.Same, 1), compared(large, tune.Small, 1.04)), finalist(2, compared(small, tune.Same, 1), compared(large, tune.Faster, 1.1))},
			tune.Faster, 1,
			[]int{-1, 1},
			[]bool{true, true},
			nil, "",
		},
		{
			"no answer",
			[]tune.Finalist{finalist(1, compared(small, tune.Inconclusive, 1.1), compared(large, tune.Inconclusive, 1.1))},
			tune.Inconclusive, -1,
			[]int{-1, -1},
			[]bool{false, false},
			nil, "No answer",
		},
		{
			"no answer, and no difference seen",
			[]tune.Finalist{finalist(1, compared(small, tune.Inconclusive, 1), compared(large, tune.Inconclusive, 1))},
			tune.Inconclusive, -1,
			[]int{-1, -1},
			[]bool{false, false},
			nil, "looks as fast as the defaults (-4.8 to 5.3 %), which is not certain enough",
		},
		{
			"as fast",
			[]tune.Finalist{finalist(1, compared(small, tune.Same, 1), compared(large, tune.Same, 1.01))},
			tune.Same, -1,
			[]int{-1, -1},
			[]bool{true, true},
			nil, "keep the defaults",
		},
		{"only wrong ones", []tune.Finalist{wrong}, tune.Inconclusive, -1, []int{-1, -1}, []bool{false, false}, nil, "1 of 1 finalists gave wrong results"},
		{
			"a wrong one never wins",
			[]tune.Finalist{wrong, finalist(1, compared(small, tune.Same, 1), compared(large, tune.Faster, 1.2))},
			tune.Faster, 1,
			[]int{-1, 1},
			[]bool{true, true},
			nil, "wrong",
		},
		{
			"a config that cannot have the point",
			[]tune.Finalist{finalist(1, excluded, compared(large, tune.Faster, 1.2))},
			tune.Faster, 0,
			[]int{-1, 0},
			[]bool{false, true},
			nil, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := tune.Proof{Finalists: tt.finalists}
			configs := []tune.Config{{Case: small, Params: map[string]any{"N": 1}}, {Case: large, Params: map[string]any{"N": 2}}}
			p.Conclude(large, configs, map[string]any{"B": 0})
			if p.Answer != tt.answer || p.Winner != tt.winner || !cmp.Equal(p.SlowerCases, tt.loses) || !strings.Contains(p.Sentence, tt.says) {
				t.Errorf("%s, winner %d, loses %v: %s", p.Answer, p.Winner, p.SlowerCases, p.Sentence)
			}
			for i, c := range p.Choices {
				if c.Finalist != tt.chosen[i] || c.Significant != tt.sure[i] {
					t.Errorf("%s: finalist %d (sure: %v), want %d (%v)", c.Case, c.Finalist, c.Significant, tt.chosen[i], tt.sure[i])
				}
				if c.Finalist < 0 && (c.Point["B"] != 0 || c.Speedup != 1) {
					t.Errorf("%s keeps the defaults, which are %v with a speed-up of %g", c.Case, c.Point, c.Speedup)
				}
			}
		})
	}
}

// A suite's own limits do not change what a proof asks, and the suite's policy stays as it was.
func TestProofPolicy(t *testing.T) {
	p := ratchet.Default()
	p.Cases = []ratchet.CaseLimits{{Match: "k/*", Faster: 0.5}}
	got := tune.ProofPolicy(p, 3)
	if got.MinSpeedup != tune.MinGain || got.Cases[0].Faster != tune.MinGain || got.Alpha != p.Alpha/3 || p.Cases[0].Faster != 0.5 {
		t.Errorf("policy %+v of %+v", got, p)
	}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
}

// With less time finalists are left out first, then the other configs; something is always measured.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		configs int
		seconds float64
		want    int
		one     bool
	}{
		{2, 1000, 3, false},
		{2, 32, 3, false}, // 4 sides, 2 configs, 4 rounds of a second
		{2, 31, 2, false},
		{2, 16, 1, false},
		{2, 15, 2, true},
		{2, 8, 1, true},
		{2, 0.1, 1, true},
		{1, 0.1, 1, false},
	} {
		if got, one := tune.Fit(3, tt.configs, 4, 1, tt.seconds); got != tt.want || one != tt.one {
			t.Errorf("%d configs in %g s: %d finalists, one config: %v; want %d, %v", tt.configs, tt.seconds, got, one, tt.want, tt.one)
		}
	}
	if got, _ := tune.Fit(0, 2, 4, 1, 10); got != 0 {
		t.Errorf("of no finalists %d fit", got)
	}
}
