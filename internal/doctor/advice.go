package doctor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// quiet is the slowdown that a machine should be able to show: below it a gain is
// called noise anyway.
const quiet = 0.05

// Words says in plain words what the noise means.
func (n Noise) Words() []string {
	told := n.judged()
	if len(told) == 0 {
		return append([]string{"nothing can be said: no case was measured in two rounds on both sides"}, n.oddities()...)
	}
	first, last := told[0], told[len(told)-1]
	found := percent(n.least(first))
	if len(told) > 1 {
		found = fmt.Sprintf("%s (%s) to %s (%s)", found, first.Case, percent(n.least(last)), last.Case)
	}
	// The relative standard error of a standard deviation.
	rough := 1 / math.Sqrt(2*float64(last.Rounds-1))
	return append([]string{
		fmt.Sprintf("with %d rounds a slowdown of %s is found 95 times in 100, and of 1000 cases without one, one is called slower", n.Planned, found),
		fmt.Sprintf("this is estimated from %d rounds and may be off by %.0f %% of itself; more rounds tell it better", last.Rounds, rough*100),
	}, n.oddities()...)
}

// oddities are the cases that need a word of their own.
func (n Noise) oddities() []string {
	var list []string
	for _, c := range n.Cases {
		switch {
		case c.Error != "":
			list = append(list, fmt.Sprintf("%s: %s", c.Case, c.Error))
		case c.Biased:
			list = append(list, fmt.Sprintf("%s: both sides run the same code, yet one was %s slower, more than chance explains: something here favours the other",
				c.Case, percent(math.Abs(c.Offset))))
		}
	}
	return list
}

// judged are the cases of which something is known, the quietest first.
func (n Noise) judged() []CaseNoise {
	list := slices.DeleteFunc(slices.Clone(n.Cases), func(c CaseNoise) bool { return len(c.Least) == 0 })
	slices.SortStableFunc(list, func(a, b CaseNoise) int { return cmp.Compare(n.least(a), n.least(b)) })
	return list
}

// least is what the suite's own number of rounds finds.
func (n Noise) least(c CaseNoise) float64 {
	for _, d := range c.Least {
		if d.Rounds == n.Planned {
			return d.Slowdown
		}
	}
	return c.Least[len(c.Least)-1].Slowdown
}

// Help says what would make the numbers quieter: what the run itself shows, then
// how to mend what was found on the machine. Nothing where they are quiet.
func (n Noise) Help(r Report) []string {
	var noisiest *CaseNoise
	for _, c := range n.judged() {
		if c.Noisy || n.least(c) > quiet {
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
		list = append(list, fmt.Sprintf("go by %s time (measure: {timer: %s}): for the same runs of %s it spreads %s, not %s",
			o.Timer, o.Timer, noisiest.Case, percent(o.Paired), percent(noisiest.Paired)))
	}
	if noisiest.Unsteady > 0 {
		list = append(list, fmt.Sprintf("warm up longer (measure: {warmup: N}): %s was still changing when its samples began, %d times of %d",
			noisiest.Case, noisiest.Unsteady, 2*noisiest.Rounds))
	}
	for _, f := range r.Findings {
		if better && f.Name == nameVirtual {
			continue // the run has shown it already
		}
		if f.disturbs() {
			list = append(list, f.Name+": "+f.Fix)
		}
	}
	if len(list) == 0 {
		list = append(list, "nothing of what pawl looks at disturbs this machine: look for other work on it, and measure again at another time")
	}
	return list
}

// disturbs tells whether a finding is something that makes numbers noisy and that
// somebody can do something about.
func (f Finding) disturbs() bool {
	switch f.Group {
	case Machine:
		return f.State == Warn && f.Fix != ""
	case Device: // free clocks are a note, and the first cause of noise on a GPU
		return (f.State == Warn || f.State == Note) && f.Fix != ""
	default:
		return false
	}
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", v*100) }
