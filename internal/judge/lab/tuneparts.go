package lab

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/tune/repeat"
	"github.com/goatnote-inc/pawl/internal/tune/replay"
	"github.com/goatnote-inc/pawl/internal/tune/search"
	"github.com/goatnote-inc/pawl/stats"
)

// CostRow is how long a search takes, in recorded seconds, to reach what random search reaches in an
// hour.
type CostRow struct {
	Space   string  `json:"space"`
	Random  float64 `json:"random_after_1h"` // mean fraction of the optimum
	Seconds float64 `json:"median_seconds"`  // median time of the tuner to reach it
	Six     float64 `json:"after_6min"`      // the tuner's mean fraction after 6 minutes
	Never   int     `json:"never"`           // repeats that did not reach it before the search ended
}

// Costs are measured only on spaces that are too expensive to evaluate completely. In seconds.
const (
	expensive = 2 * 3600.0
	anHour    = 3600.0
	sixMin    = 360.0
)

func (t *tunerLab) cost(ctx context.Context) error {
	for _, rec := range t.recs {
		if rec.Cost() < expensive {
			continue
		}
		t.Say("by cost: " + rec.Name)
		hour := replay.Plan{Evaluations: rec.Space.Len(), Seconds: anHour}
		random, err := repeat.Run(ctx, rec, repeat.Plan{Strategy: "random", Plan: hour, Repeats: t.Repeats, Seed: t.Seed})
		if err != nil {
			return err
		}
		// The promise is a tenth of the hour. A search that needs more than a third of it does not matter, so it
		// ends there.
		short := replay.Plan{Evaluations: rec.Space.Len(), Seconds: anHour / 3}
		traces, err := repeat.Run(ctx, rec, repeat.Plan{Strategy: defaultStrategy, Plan: short, Repeats: t.Repeats, Seed: t.Seed, ByCost: true})
		if err != nil {
			return err
		}
		row := CostRow{Space: rec.Name}
		for _, trace := range random {
			row.Random += trace.After(anHour) / float64(len(random))
		}
		var needed []float64
		for _, trace := range traces {
			row.Six += trace.After(sixMin) / float64(len(traces))
			i := slices.IndexFunc(trace, func(s replay.Step) bool { return s.Fraction >= row.Random })
			if i < 0 {
				row.Never++
				needed = append(needed, math.MaxFloat64)
				continue
			}
			needed = append(needed, trace[i].Spent)
		}
		row.Seconds = stats.Median(needed)
		if row.Never > len(traces)/2 {
			row.Seconds = anHour
		}
		t.report.Costs = append(t.report.Costs, row)
	}
	return nil
}

// NoiseRow is the effect of raw times instead of medians on a search of 100 evaluations.
type NoiseRow struct {
	Space  string               `json:"space"`
	Quiet  float64              `json:"quiet"` // mean fraction of the optimum with medians
	Noisy  float64              `json:"noisy"` // with one raw time per evaluation, before the best are measured again
	Chosen repeat.ChoiceQuality `json:"chosen"`
}

func (t *tunerLab) noise(ctx context.Context) error {
	for _, rec := range t.recs {
		if !slices.ContainsFunc(rec.Rows, func(r replay.Row) bool { return len(r.Times) > 1 }) {
			continue
		}
		t.Say("with noise: " + rec.Name)
		row := NoiseRow{Space: rec.Name}
		plan := repeat.Plan{Strategy: defaultStrategy, Plan: replay.Plan{Evaluations: 100}, Repeats: t.Repeats, Seed: t.Seed}
		quiet, err := repeat.Run(ctx, rec, plan)
		if err != nil {
			return err
		}
		plan.Noisy = true
		noisy, err := repeat.Run(ctx, rec, plan)
		if err != nil {
			return err
		}
		row.Quiet, row.Noisy = replay.Summarize(quiet, 100)[0].Mean, replay.Summarize(noisy, 100)[0].Mean
		row.Chosen = repeat.Choices(rec, noisy, t.Seed)
		t.report.Noises = append(t.report.Noises, row)
	}
	return nil
}

// TransferRow compares a search that starts with the results of another GPU with a cold one.
type TransferRow struct {
	From    string  `json:"from"`
	To      string  `json:"to"`
	Warm20  float64 `json:"warm_20"`
	Warm100 float64 `json:"warm_100"`
	Cold20  float64 `json:"cold_20"`
	Cold60  float64 `json:"cold_60"`
	Cold100 float64 `json:"cold_100"`
}

func (t *tunerLab) transfer(ctx context.Context) error {
	taught := map[string][][]search.Outcome{} // results of a GPU, shared by all targets
	for _, to := range t.recs {
		var cold []replay.Trace
		for _, from := range t.recs {
			if from == to || !sameParameters(from, to) {
				continue
			}
			t.Say(fmt.Sprintf("from %s to %s", from.Name, to.Name))
			var err error
			if cold == nil {
				if cold, err = repeat.Run(ctx, to, t.hundredEvaluations(t.Seed)); err != nil {
					return err
				}
			}
			if taught[from.Name] == nil {
				if taught[from.Name], err = t.teach(ctx, from); err != nil {
					return err
				}
			}
			row, err := t.pair(ctx, from, to, cold, taught[from.Name])
			if err != nil {
				return err
			}
			t.report.Transfer = append(t.report.Transfer, row)
		}
	}
	return nil
}

// hundredEvaluations returns a plan for searches of 100 evaluations.
func (t *tunerLab) hundredEvaluations(seed uint64) repeat.Plan {
	return repeat.Plan{Strategy: defaultStrategy, Plan: replay.Plan{Evaluations: 100}, Repeats: t.Repeats, Seed: seed}
}

// sameParameters reports whether two recordings are of the same kernel.
func sameParameters(a, b *replay.Recording) bool {
	return fmt.Sprint(a.Space.Parameters()) == fmt.Sprint(b.Space.Parameters())
}

func (t *tunerLab) pair(ctx context.Context, from, to *replay.Recording, cold []replay.Trace, taught [][]search.Outcome) (TransferRow, error) {
	row := TransferRow{From: from.Name, To: to.Name}
	plan := t.hundredEvaluations(t.Seed)
	plan.Source = func(seed uint64) []search.Outcome { return translated(from, to, taught[seed-t.Seed]) }
	warm, err := repeat.Run(ctx, to, plan)
	if err != nil {
		return row, err
	}
	at := func(traces []replay.Trace, n int) float64 { return replay.Summarize(traces, n)[0].Mean }
	row.Warm20, row.Warm100 = at(warm, 20), at(warm, 100)
	row.Cold20, row.Cold60, row.Cold100 = at(cold, 20), at(cold, 60), at(cold, 100)
	return row, nil
}

// teach returns the outcomes of searches of 200 evaluations on a GPU. Their seeds differ from all seeds
// of the other searches.
func (t *tunerLab) teach(ctx context.Context, from *replay.Recording) ([][]search.Outcome, error) {
	plan := t.hundredEvaluations(t.Seed + 1<<40)
	plan.Evaluations = maxEvaluations
	traces, err := repeat.Run(ctx, from, plan)
	list := make([][]search.Outcome, len(traces))
	for i, trace := range traces {
		list[i] = trace.Outcomes()
	}
	return list, err
}

// translated maps the points of outcomes to their numbers in another recording.
func translated(from, to *replay.Recording, outcomes []search.Outcome) []search.Outcome {
	var list []search.Outcome
	for _, o := range outcomes {
		if p, ok := to.Space.Index(from.Space.Point(o.Point)); ok {
			o.Point = p
			list = append(list, o)
		}
	}
	return list
}
