package tuning

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/search"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// defaultStrategy is the search strategy when none is given.
const defaultStrategy = "auto"

// openSpace lists the points of the case. The space includes the case's own parameters, with one
// value each, because constraints may use them.
func (t *tuner) openSpace(context.Context) error {
	s := tune.Space{Fixed: t.target.Params.Map()}
	for _, p := range t.benchmark.Tune.Parameters {
		x := space.Parameter{Name: p.Name, Values: p.Values, Default: p.Default}
		if p.When != nil {
			x.When = p.When.String()
		}
		s.Parameters = append(s.Parameters, x)
	}
	for _, c := range t.benchmark.Tune.Constraints {
		s.Constraints = append(s.Constraints, c.String())
	}
	problem, err := space.Compile(s.Definition())
	if err == nil {
		t.space, err = problem.Space(space.MaxPoints, rand.New(rand.NewPCG(t.Seed, 0)))
	}
	if err != nil {
		return &runner.UsageError{Err: fmt.Errorf("cannot tune %s: %w", t.target.Name(), err)}
	}
	s.Points = t.space.Len()
	t.searchHeader.Space = s.WithDigest()
	return nil
}

// values returns the tunables of a point.
func (t *tuner) values(point int) map[string]any {
	values := t.space.Config(point)
	maps.DeleteFunc(values, func(name string, _ any) bool {
		_, fixed := t.target.Params.Get(name)
		return fixed
	})
	return values
}

// point returns the point with the given tunables.
func (t *tuner) point(values map[string]any) (int, bool) {
	parameters := t.space.Parameters()
	indices := make([]uint16, len(parameters))
	for k, p := range parameters {
		v, ok := values[p.Name]
		if !ok {
			v, ok = t.target.Params.Get(p.Name)
		}
		i := slices.Index(p.Values, v)
		if !ok || i < 0 {
			return 0, false
		}
		indices[k] = uint16(i)
	}
	return t.space.Index(indices)
}

// openStrategy creates the strategy and gives it the known results.
func (t *tuner) openStrategy(context.Context) error {
	if t.Strategy == "" {
		t.Strategy = defaultStrategy
	}
	evaluations := t.Evals
	if evaluations <= 0 || evaluations > t.space.Len() {
		evaluations = t.space.Len()
	}
	source, err := t.warmStart()
	if err != nil {
		return &runner.UsageError{Err: err}
	}
	// If time is the limit and not a number of points, the cost of an evaluation counts.
	o := search.Options{Seed: t.Seed, Evaluations: evaluations, ByCost: t.Evals <= 0, Source: source}
	t.strategy, err = search.New(t.Strategy, t.space, o)
	if err != nil {
		return &runner.UsageError{Err: err}
	}
	for i := range t.list {
		point, ok := t.point(t.list[i].Point)
		if !ok {
			return fmt.Errorf("cannot resume %s: evaluation %d is not a point of the space", t.Journal, i)
		}
		t.tell(point, t.list[i])
		t.consider(t.list[i])
	}
	return nil
}

// tell passes a result to the strategy.
func (t *tuner) tell(point int, e tune.Evaluation) {
	t.strategy.Tell(search.Outcome{Point: point, Value: e.Value, Failed: e.Status != tune.OK, Cost: e.Seconds()})
}

// consider updates the best evaluation.
func (t *tuner) consider(e tune.Evaluation) {
	if e.Status == tune.OK && (t.best == nil || !e.Lost && e.Value < t.best.Value) {
		t.best = &e
	}
}

// pruned returns why no device of this kind can run a config of a tuned benchmark, before it is built; empty if one may.
func pruned(device gpu.Identity, b suite.Benchmark, config suite.Params) string {
	o := b.Tune.Occupancy
	if o == nil || device.Kind != gpu.NVIDIA {
		return ""
	}
	arch, err := gpu.FindArch(device.ComputeCapability)
	if err != nil { // a device newer than the tables
		return ""
	}
	variables := b.Complete(config).Map()
	number := func(x *expr.Expr) int {
		if x == nil {
			return 0
		}
		v, err := x.Number(variables)
		if err != nil {
			return 0
		}
		return int(v)
	}
	launch := gpu.Launch{Threads: number(o.Threads), DynamicShared: number(o.Shared), Registers: number(o.Registers)}
	fits, err := arch.Occupancy(launch)
	switch {
	case err != nil:
		return err.Error()
	case fits.BlocksPerSM == 0 && len(fits.Refused) > 0:
		return fits.Refused[0]
	case fits.BlocksPerSM == 0:
		return "not even one block fits on an SM, limited by " + fits.LimitedBy()
	}
	return ""
}

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
