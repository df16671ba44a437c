// Package repeat lets a strategy search a recorded space many times, and says how good its choices are.
package repeat

import (
	"context"

	"github.com/goatnote-inc/pawl/internal/base/parallel"
	"github.com/goatnote-inc/pawl/internal/tune/replay"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// Plan says how often and how a strategy searches a recording.
type Plan struct {
	Strategy string
	replay.Plan
	Repeats int
	Seed    uint64 // seed of the first repeat; each repeat adds 1
	ByCost  bool   // the strategy takes the cost of evaluations into account
	// Source returns the results of another device for a repeat; nil for a cold start.
	Source func(seed uint64) []search.Outcome
}

// Run lets a strategy search a recording repeatedly, each time with its own seed and strategy. The
// traces do not depend on the number of cores.
func Run(ctx context.Context, rec *replay.Recording, p Plan) ([]replay.Trace, error) {
	if _, err := search.New(p.Strategy, rec.Space, search.Options{Seed: p.Seed}); err != nil {
		return nil, err
	}
	traces := make([]replay.Trace, p.Repeats)
	err := parallel.Each(ctx, p.Repeats, func(i int) {
		o := search.Options{Seed: p.Seed + uint64(i), Evaluations: p.Evaluations, ByCost: p.ByCost}
		if p.Source != nil {
			o.Source = p.Source(o.Seed)
		}
		s, err := search.New(p.Strategy, rec.Space, o)
		if err != nil { // cannot happen: the same call succeeded above
			return
		}
		traces[i] = replay.Run(rec, s, p.Plan, o.Seed)
	})
	return traces, err
}

// Levels returns the numbers of evaluations at which a search of n evaluations is reported.
func Levels(n int) []int {
	var list []int
	for _, l := range []int{20, 50, 100, 200} {
		if l < n {
			list = append(list, l)
		}
	}
	return append(list, n)
}

// ChoiceQuality is the quality of the choice at the end of a noisy search.
type ChoiceQuality struct {
	Mean   float64 `json:"mean"` // fraction of the optimum
	P10    float64 `json:"p10"`
	Within float64 `json:"within_1_percent"` // share of repeats whose choice is within 1 % of the best they evaluated
	Draws  float64 `json:"draws"`            // mean number of raw times per choice
}

// Choices lets the best points of each search compete for the final choice.
func Choices(rec *replay.Recording, traces []replay.Trace, seed uint64) ChoiceQuality {
	var c ChoiceQuality
	var reached []float64
	for i, t := range traces {
		best := 0.0
		for _, s := range t {
			if !s.Outcome.Failed {
				best = max(best, rec.Optimum/rec.Rows[s.Outcome.Point].Time)
			}
		}
		own := 0.0
		p, draws := replay.Choose(rec, t, seed+uint64(i))
		if p >= 0 {
			own = rec.Optimum / rec.Rows[p].Time
		}
		c.Draws += float64(draws) / float64(len(traces))
		if own >= best/1.01 {
			c.Within += 1 / float64(len(traces))
		}
		reached = append(reached, own)
	}
	c.Mean, c.P10 = replay.Spread(reached)
	return c
}
