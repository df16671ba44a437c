package tuning

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// warmStartBest is the number of best points of a journal that a strategy gets first. It may use only the
// start of a long list, which should hold what matters and some of everything else.
const warmStartBest = 50

// warmStart reads the results of other searches for the strategy to start with; nil for none. Times
// are relative to the best of their journal: those of two devices have nothing else in common.
func (t *tuner) warmStart() (source []search.Outcome, err error) {
	for _, path := range t.WarmStart {
		list, err := readWarmStart(path)
		if err != nil {
			return nil, err
		}
		source = append(source, t.outcomes(list)...)
	}
	if len(source) == 0 && len(t.WarmStart) > 0 {
		return nil, fmt.Errorf("cannot start from %s: none of its points is in this space, which has other parameters or values", strings.Join(t.WarmStart, ", "))
	}
	return source, nil
}

// readWarmStart reads the evaluations of a search in any supported format.
func readWarmStart(path string) ([]tune.Evaluation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("warm start: %w", err)
	}
	defer f.Close()
	_, list, err := tune.Import(f)
	if err != nil {
		return nil, fmt.Errorf("warm start from %s: %w", path, err)
	}
	return list, nil
}

// outcomes returns the evaluations of another journal that are points of this space: the best first, then the
// rest in random order. In its own order, an exhaustive search would start with one corner of the space.
func (t *tuner) outcomes(list []tune.Evaluation) []search.Outcome {
	ranked := tune.Ranked(list)
	if len(ranked) == 0 {
		return nil
	}
	first, rest := ranked[:min(warmStartBest, len(ranked))], slices.Clone(ranked[min(warmStartBest, len(ranked)):])
	for _, e := range list {
		if e.Status != tune.OK && e.Status != tune.Pruned {
			rest = append(rest, e)
		}
	}
	g := rand.New(rand.NewPCG(t.Seed, 1))
	g.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	var out []search.Outcome
	for _, e := range slices.Concat(first, rest) {
		if point, ok := t.point(e.Point); ok {
			out = append(out, search.Outcome{Point: point, Value: e.Value / ranked[0].Value, Failed: e.Status != tune.OK, Cost: e.Seconds()})
		}
	}
	return out
}
