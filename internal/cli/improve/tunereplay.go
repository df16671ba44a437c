package improve

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/tune/repeat"
	"github.com/goatnote-inc/pawl/internal/tune/replay"
)

// replayDocument is the JSON output of pawl tune --replay.
type replayDocument struct {
	Schema      string                 `json:"schema"`
	Space       string                 `json:"space"`
	Points      int                    `json:"points"`
	Optimum     float64                `json:"optimum_ms"`
	Strategy    string                 `json:"strategy"`
	Evaluations int                    `json:"evals"`
	Repeats     int                    `json:"repeats"`
	Seed        uint64                 `json:"seed"` // seed of the first repeat; each repeat adds 1
	Noisy       bool                   `json:"noisy,omitempty"`
	Fraction    map[string]replayLevel `json:"fraction_of_optimum"` // by number of evaluations
	// Chosen is the result of choosing among noisy times, compared with the best that was evaluated.
	Chosen *repeat.ChoiceQuality `json:"chosen,omitempty"`

	levels []replay.Level
}

type replayLevel struct {
	Mean float64 `json:"mean"`
	P10  float64 `json:"p10"` // a tenth of the repeats is worse
}

// defaultReplayEvaluations is the default number of evaluations of a replay.
const defaultReplayEvaluations = 200

func (f *tuneFlags) runReplay(ctx context.Context) error {
	rec, err := openRecording(f.replay)
	if err != nil {
		return command.Usage(err)
	}
	if f.evals == 0 {
		f.evals = defaultReplayEvaluations
	}
	if !f.IsSet("seed") {
		f.Seed = 1 // fixed, so that others can repeat the replay
	}
	traces, err := repeat.Run(ctx, rec, repeat.Plan{
		Strategy: f.strategy, Plan: replay.Plan{Evaluations: f.evals, Noisy: f.noisy}, Repeats: f.repeats, Seed: f.Seed,
	})
	if err != nil {
		return err
	}
	d := replayDocument{
		Schema: "pawl.replay/v1", Space: rec.Name, Points: rec.Space.Len(), Optimum: rec.Optimum, Strategy: f.strategy,
		Evaluations: f.evals, Repeats: f.repeats, Seed: f.Seed, Noisy: f.noisy, Fraction: map[string]replayLevel{},
		levels: replay.Summarize(traces, repeat.Levels(f.evals)...),
	}
	for _, l := range d.levels {
		d.Fraction[strconv.Itoa(l.Evaluations)] = replayLevel{l.Mean, l.P10}
	}
	if f.noisy {
		chosen := repeat.Choices(rec, traces, f.Seed)
		d.Chosen = &chosen
	}
	if f.JSON {
		return command.WriteJSON(f.Out, d)
	}
	return f.showReplay(d)
}

func (f *tuneFlags) showReplay(d replayDocument) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d points, the best takes %s; %s, %s, seeds from %d\n\n",
		d.Space, d.Points, words.Quantity(d.Optimum*1e6, "ns"), d.Strategy, words.Plural(d.Repeats, "repeat"), d.Seed)
	rows := [][]string{{"evaluations", "fraction of optimum", "10th percentile"}}
	for _, l := range d.levels {
		rows = append(rows, []string{strconv.Itoa(l.Evaluations), fmt.Sprintf("%.3f", l.Mean), fmt.Sprintf("%.3f", l.P10)})
	}
	for _, line := range progress.Aligned(rows) {
		b.WriteString(line + "\n")
	}
	if d.Chosen != nil {
		fmt.Fprintf(&b, "\nchosen by noisy times: %.3f on average; within 1 %% of the best evaluated point in %.0f %% of the repeats\n", d.Chosen.Mean, 100*d.Chosen.Within)
	}
	_, err := f.Out.Write([]byte(b.String()))
	return err
}
