package tuning

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/stats"
)

// Plan describes what a search would do and cost, before any time is spent.
type Plan struct {
	Case        string         `json:"case"`
	Device      string         `json:"device"`
	Strategy    string         `json:"strategy"`
	Seed        uint64         `json:"seed,string"`
	Parameters  []string       `json:"parameters"`
	Constraints []string       `json:"constraints,omitempty"`
	Points      int            `json:"points"`
	Complete    bool           `json:"complete"` // Points counts the whole space, not a sample of it
	Defaults    map[string]any `json:"defaults"`
	Known       int            `json:"known"`       // evaluations in the journal to resume
	Evaluations int            `json:"evaluations"` // about how many more fit into the limits
	Each        float64        `json:"seconds_each"`
	Basis       string         `json:"basis"` // source of the time per evaluation
	Search      runner.Cost    `json:"search"`
	Proof       runner.Cost    `json:"proof"` // max
	Unchecked   string         `json:"unchecked,omitempty"`
}

// guessEvaluation is the assumed time of a point in seconds, without earlier data: a compiler, two processes.
const guessEvaluation = 5.0

// Forecast plans a search and its proof without building or measuring anything. proof is the
// time budget of the proof; 0 for none.
func Forecast(ctx context.Context, o runner.Options, what Options, proof time.Duration) (Plan, error) {
	t := &tuner{Setup: runner.NewSetup(o), Options: what}
	if err := t.chooseCase(); err != nil {
		return Plan{}, &runner.UsageError{Err: err}
	}
	if err := t.ChooseDevice(ctx); err != nil {
		return Plan{}, err
	}
	if err := t.openSpace(ctx); err != nil {
		return Plan{}, err
	}
	p := Plan{
		Case: t.target.Name(), Device: t.Device().Name, Strategy: cmp.Or(t.Strategy, defaultStrategy), Seed: o.Seed,
		Points: t.space.Len(), Complete: t.space.Complete(), Constraints: t.searchHeader.Space.Constraints, Defaults: t.benchmark.Tune.Defaults(),
	}
	for _, x := range t.benchmark.Tune.Parameters {
		p.Parameters = append(p.Parameters, fmt.Sprintf("%s: %v", x.Name, x.Values))
	}
	if t.benchmark.Check == nil {
		p.Unchecked = "the suite does not define correct results"
	}
	p.estimate(t, proof)
	return p, nil
}

// estimate takes the time of an evaluation from the last journal of the case, or guesses.
func (p *Plan) estimate(t *tuner, proof time.Duration) {
	p.Each, p.Basis = guessEvaluation, "a guess: nothing was tuned here yet"
	if h, list, err := tune.Load(t.Journal); err == nil && h.Case == p.Case && len(list) > 0 {
		var each []float64
		for _, e := range list {
			each = append(each, e.Seconds())
		}
		p.Each, p.Basis = stats.Mean(each), "the last search, "+t.Journal
		if t.Resume {
			p.Known = len(list)
		}
	}
	p.Evaluations = p.Points - p.Known
	if t.Evals > 0 {
		p.Evaluations = max(0, min(p.Evaluations, t.Evals-p.Known))
	}
	seconds := float64(p.Evaluations) * p.Each
	if limit := t.Budget.Seconds(); limit > 0 && limit < seconds {
		seconds, p.Evaluations = limit, int(limit/p.Each)
	}
	p.Search = runner.NewCost(t.Suite, seconds)
	p.Proof = runner.NewCost(t.Suite, proof.Seconds())
}
