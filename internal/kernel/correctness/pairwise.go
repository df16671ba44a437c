package correctness

import (
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// maxCovered bounds the number of configs that Pairwise reduces: the search is
// quadratic.
const maxCovered = 4096

// pair is two values that occur together in a config.
type pair struct {
	i, j int // parameters
	a, b any
}

// Pairwise selects configs so that every pair of values that occurs in the list also
// occurs in a selected config: most bugs depend on at most two parameters. Each step takes
// the config with the most new pairs, the first among equals, so the selection is
// deterministic. A list that is too long is returned as it is.
func Pairwise(list []suite.Params) []suite.Params {
	if len(list) > maxCovered {
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
	// Gains never grow: a config is counted again only if it could win.
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

// pairsOf lists the pairs of a config. A single parameter is paired with itself. A config
// without parameters is still worth trying once.
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
