package oracle

import (
	"slices"

	"github.com/goatnote-inc/pawl/internal/suite"
)

// mostCovered bounds the configs that a covering array is looked for in: the search
// is quadratic.
const mostCovered = 4096

// pair is two values that occur together in a config.
type pair struct {
	i, j int // parameters
	a, b any
}

// Pairwise chooses configs so that every two values that occur together in one of
// the list also occur together in one that was chosen: most mistakes need only two
// parameters to show. Each time it takes the config with most new pairs, the first of
// equals, so the choice is always the same. Too long a list is returned whole.
func Pairwise(list []suite.Params) []suite.Params {
	if len(list) > mostCovered {
		return list
	}
	pairs := make([][]pair, len(list))
	open := map[pair]bool{}
	for n, p := range list {
		pairs[n] = pairsOf(p)
		for _, x := range pairs[n] {
			open[x] = true
		}
	}
	var chosen []suite.Params
	// gains only ever shrink: a config need be counted again only if it could win.
	gain := make([]int, len(list))
	for n := range gain {
		gain[n] = len(pairs[n])
	}
	for len(open) > 0 {
		best, most := -1, 0
		for n := range list {
			if gain[n] <= most {
				continue
			}
			gain[n] = count(pairs[n], open)
			if gain[n] > most {
				best, most = n, gain[n]
			}
		}
		for _, x := range pairs[best] {
			delete(open, x)
		}
		chosen = append(chosen, list[best])
	}
	return chosen
}

func count(pairs []pair, open map[pair]bool) int {
	n := 0
	for _, x := range pairs {
		if open[x] {
			n++
		}
	}
	return n
}

// pairsOf lists the pairs of a config. One with a single parameter pairs it with
// itself, and one without any is still worth trying once.
func pairsOf(p suite.Params) []pair {
	var list []pair
	for i := range p {
		for j := i + 1; j < len(p); j++ {
			list = append(list, pair{i, j, p[i].Value, p[j].Value})
		}
	}
	switch len(p) {
	case 0:
		list = append(list, pair{})
	case 1:
		list = append(list, pair{a: p[0].Value})
	}
	return slices.Clip(list)
}
