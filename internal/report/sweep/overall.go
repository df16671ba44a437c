package sweep

import (
	"fmt"
	"math"
	"strings"
)

// overall compares geometric means over the configs that all named implementations have.
// With different sets, one would get credit for configs that another could not run.
func (g gathered) overall(names []string) Overall {
	set, leftOut := g.common(names)
	o := Overall{Configs: []string{}, LeftOut: leftOut}
	for _, c := range set {
		o.Configs = append(o.Configs, c.Name())
	}
	rounds := sharedRounds(set, names)
	if o.Rounds = len(rounds); o.Rounds == 0 {
		return o
	}
	var entrants []entrant
	for _, name := range names {
		entrants = append(entrants, entrant{name, meanOver(set, name, rounds)})
	}
	o.Standings, o.Pairs, _ = rank(entrants)
	return o
}

// speedup compares two implementations over the configs that both have.
func (g gathered) speedup(of, against string) Speedup {
	set, leftOut := g.common([]string{of, against})
	s := Speedup{Against: against, Configs: len(set), LeftOut: leftOut}
	rounds := sharedRounds(set, []string{of, against})
	if s.Rounds = len(rounds); s.Rounds == 0 {
		return s
	}
	a, b := meanOver(set, of, rounds), meanOver(set, against, rounds)
	s.Ratio = ratio(compare(a.at(rounds), b.at(rounds), max(a.step, b.step)))
	return s
}

// common returns the configs that all named implementations have in enough rounds, and why
// the others are left out.
func (g gathered) common(names []string) (set []*config, leftOut []Omission) {
	enough := min(judge.MinRounds, g.rounds)
	for _, c := range g.configs {
		var reasons []string
		for _, name := range names {
			if s := c.of[name]; len(s.rounds()) == 0 {
				reasons = append(reasons, name+" "+c.reason(name))
			}
		}
		if n := len(sharedRounds([]*config{c}, names)); len(reasons) == 0 && n < enough {
			reasons = []string{fmt.Sprintf("all have it in only %d of %d rounds", n, g.rounds)}
		}
		if len(reasons) > 0 {
			leftOut = append(leftOut, Omission{c.Name(), strings.Join(reasons, "; ")})
		} else {
			set = append(set, c)
		}
	}
	return set, leftOut
}

// sharedRounds returns the rounds in which every config was measured on every named
// implementation. An incomplete round would make the mean jump.
func sharedRounds(set []*config, names []string) []int {
	var rounds []int
	first := true
	for _, c := range set {
		for _, name := range names {
			if own := c.of[name].rounds(); first {
				rounds, first = own, false
			} else {
				rounds = shared(rounds, own)
			}
		}
	}
	return rounds
}

// meanOver returns the geometric mean over configs, by round. Statistics count the rounds
// of this one series.
func meanOver(set []*config, name string, rounds []int) *series {
	mean := &series{medians: map[int]float64{}}
	for _, c := range set { // in order, so that sums are reproducible
		mean.step += c.of[name].step / float64(len(set))
	}
	for _, r := range rounds {
		var sum float64
		for _, c := range set {
			sum += math.Log(c.of[name].medians[r])
		}
		mean.medians[r] = math.Exp(sum / float64(len(set)))
	}
	return mean
}
