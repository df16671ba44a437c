package doctor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// quiet is the paired spread below which no advice is needed: a 5 % change is then found.
const quiet = 0.03

// Words explains the noise in plain words.
func (n Noise) Words() []string {
	if len(n.measuredCases()) == 0 {
		return append([]string{"no conclusion is possible: no case was measured in two rounds on both sides"}, n.anomalies()...)
	}
	var list []string
	switch {
	case len(n.Prospects) == 0:
		list = append(list, fmt.Sprintf("%d rounds are too few to say what a gate finds here: run `pawl doctor --noise --rounds %d`", n.Kept, n.missing(prospectRounds)))
	case n.Kept < ratchet.DependenceRounds:
		list = append(list, n.detectable(), fmt.Sprintf("it takes %d rounds, over all cases and runs, to tell how often a gate is wrong here, and %d were measured: run `pawl doctor --noise --rounds %d`",
			ratchet.DependenceRounds, n.Kept, n.missing(ratchet.DependenceRounds)))
	default:
		list = append(list, n.detectable(), n.rates())
	}
	return append(append(list, n.character(), n.Dependence.Words()), n.anomalies()...)
}

// missing returns how many rounds a run needs to reach all rounds in total.
func (n Noise) missing(all int) int {
	cases := len(n.measuredCases())
	return max((all-n.Kept+cases-1)/cases, 2)
}

// detectable describes the smallest slowdown that is found.
func (n Noise) detectable() string {
	first, last := n.Prospects[0], n.Prospects[len(n.Prospects)-1]
	amount := func(p GateForecast) string {
		if p.Slowdown >= maxSlowdown {
			return "more than " + words.Percent(maxSlowdown)
		}
		return words.Percent(p.Slowdown)
	}
	small := amount(first)
	if first.Case != last.Case {
		small = fmt.Sprintf("%s (%s) to %s (%s)", small, first.Case, amount(last), last.Case)
	}
	return fmt.Sprintf("a gate finds a slowdown of %s 95 times in 100", small)
}

// rates describes how often gates of the same code are wrong, for the worst case.
func (n Noise) rates() string {
	worst := slices.MaxFunc(n.Prospects, func(a, b GateForecast) int { return cmp.Compare(a.False+a.Open, b.False+b.Open) })
	return fmt.Sprintf("of gates that compare the same code, %s call it slower and %s have no answer, after %.0f rounds on average (%s; %d gates made from the %d rounds of the same code that were measured on this testbed)",
		share(worst.False), share(worst.Open), worst.Rounds, worst.Case, sameGates, n.Kept)
}

// share formats a small percentage.
func share(v float64) string { return fmt.Sprintf("%.2f %%", v*100) }

// character describes the rounds.
func (n Noise) character() string {
	var lags []float64
	var modes []string
	wild, rounds := 0, 0
	for _, c := range n.measuredCases() {
		lags = append(lags, c.Lag)
		wild, rounds = wild+c.Wild, rounds+c.Rounds
		if c.Speeds > 1 {
			modes = append(modes, fmt.Sprintf("%s runs at %d speeds", c.Case, c.Speeds))
		}
	}
	slices.Sort(modes)
	text := fmt.Sprintf("rounds correlate with the one before by %.2f (lag-1, median over cases); %d of %d are outliers", stats.Median(lags), wild, rounds)
	if len(modes) > 3 {
		modes = append(modes[:3], fmt.Sprintf("%d more cases also run at several speeds", len(modes)-3))
	}
	return strings.Join(append([]string{text}, modes...), "; ")
}

// anomalies describes the cases that need special mention.
func (n Noise) anomalies() []string {
	var list []string
	for _, c := range n.Cases {
		switch {
		case c.Error != "":
			list = append(list, fmt.Sprintf("%s: %s", c.Case, c.Error))
		case c.Biased:
			list = append(list, fmt.Sprintf("%s: both sides run the same code, but one was %s slower, more than chance explains: something here favors the other",
				c.Case, words.Percent(math.Abs(c.Offset))))
		}
	}
	return list
}

// measuredCases returns the cases with at least two rounds, quietest first.
func (n Noise) measuredCases() []CaseNoise {
	list := slices.DeleteFunc(slices.Clone(n.Cases), func(c CaseNoise) bool { return c.Rounds < 2 })
	slices.SortStableFunc(list, func(a, b CaseNoise) int { return cmp.Compare(a.Paired, b.Paired) })
	return list
}

// Advice returns advice that would reduce the noise: what the run itself shows, then fixes for what
// was found on the machine. It returns none if the numbers are quiet.
func (n Noise) Advice(r Report) []string {
	var noisiest *CaseNoise
	for _, c := range n.measuredCases() {
		if c.Noisy || c.Paired > quiet {
			noisiest = &c
		}
	}
	if noisiest == nil {
		return nil
	}
	var list []string
	o := noisiest.Other
	better := o != nil && o.Paired <= noisiest.Paired/2
	if better {
		list = append(list, fmt.Sprintf("use %s time (measure: {timer: %s}): for the same runs of %s it spreads by %s, not %s",
			o.Timer, o.Timer, noisiest.Case, words.Percent(o.Paired), words.Percent(noisiest.Paired)))
	}
	if noisiest.Unsteady > 0 {
		list = append(list, fmt.Sprintf("warm up longer (measure: {warmup: N}): %s was still changing when its samples started, %d times out of %d",
			noisiest.Case, noisiest.Unsteady, 2*noisiest.Rounds))
	}
	for _, f := range r.Findings {
		if better && f.Name == nameVirtual {
			continue // already covered by the advice above
		}
		if f.disturbs() {
			list = append(list, f.Name+": "+f.Fix)
		}
	}
	if len(list) == 0 {
		list = append(list, "nothing that pawl checks disturbs this machine: look for other work on it, and measure again at another time")
	}
	return list
}

// disturbs reports whether a finding makes numbers noisy and has a fix.
func (f Finding) disturbs() bool {
	switch f.Group {
	case Machine:
		return f.State == Warn && f.Fix != ""
	case Device: // free clocks are only a note, but the main cause of noise on a GPU
		return (f.State == Warn || f.State == Note) && f.Fix != ""
	default:
		return false
	}
}
