package learn

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/goatnote-inc/pawl/internal/learn/model"
	"github.com/goatnote-inc/pawl/internal/learn/simulate"
)

// LabOptions say how much is simulated.
type LabOptions struct {
	Worlds    int    // each with effects of its own
	Seed      uint64 // of the first
	Sessions  []int  // after how many sessions is asked, ascending
	Questions int    // that are asked each time
	Poisoned  int    // sessions after which nobody waits for more outcomes of a poisoned lesson
	Teams     int    // for forecasts, each with 200 sessions in a row
	Say       func(string)
}

// DefaultLab is what docs/lab/learning.md shows.
func DefaultLab() LabOptions {
	return LabOptions{Worlds: 200, Seed: 1, Sessions: []int{0, 10, 50}, Questions: 50, Poisoned: 60, Teams: 200, Say: func(string) {}}
}

// Lab is what simulated sessions say of whoever recommends fixes, and of forecasts.
type Lab struct {
	Worlds    int           `json:"worlds"`
	Seed      uint64        `json:"seed"`
	Questions int           `json:"questions"`
	After     []int         `json:"after"`
	Rankers   []LabRanker   `json:"rankers"`
	Poison    []LabPoison   `json:"poison"`
	Forecasts []LabForecast `json:"forecasts"`
	Promises  []LabPromise  `json:"promises"`
}

// LabRanker is one of those that recommend.
type LabRanker struct {
	Name string `json:"name"`
	// Scores are by After; their coverage is over all candidates of the questions.
	Scores []simulate.Score `json:"scores"`
	// Played is the score of the sessions themselves, in which it learned; its coverage is
	// over what was tried.
	Played simulate.Score `json:"played"`
}

// labRankers are who is compared; after the model come what anybody could learn, and the
// ceiling.
var labRankers = []struct {
	name string
	make func(*simulate.World) model.Ranker
}{
	{"priors", func(*simulate.World) model.Ranker { return simulate.Priors{} }},
	{"running mean", func(*simulate.World) model.Ranker { return simulate.NewRunningMean() }},
	{"model", func(*simulate.World) model.Ranker { return model.New() }},
	{"informed", func(*simulate.World) model.Ranker { return simulate.NewInformed(2000) }},
	{"oracle", func(w *simulate.World) model.Ranker { return w.Oracle() }},
}

// RunLab plays all of it. It takes minutes at its full size, most of them the model's.
func RunLab(ctx context.Context, o LabOptions) (*Lab, error) {
	l := &Lab{Worlds: o.Worlds, Seed: o.Seed, Questions: o.Questions, After: o.Sessions}
	for _, r := range labRankers {
		o.Say("sessions recommended by " + r.name)
		scores, err := l.rank(ctx, o, r.make)
		if err != nil {
			return nil, err
		}
		scores.Name = r.name
		l.Rankers = append(l.Rankers, scores)
	}
	o.Say("a poisoned lesson")
	if err := l.poisoned(ctx, o); err != nil {
		return nil, err
	}
	o.Say("forecasts")
	if err := l.forecast(ctx, o); err != nil {
		return nil, err
	}
	l.promise()
	return l, nil
}

// rank plays a ranker through all worlds, with the same examination at each station.
func (l *Lab) rank(ctx context.Context, o LabOptions, ranker func(*simulate.World) model.Ranker) (LabRanker, error) {
	type result struct {
		played   []simulate.Step
		examined [][]simulate.Step
	}
	results, err := parallel(ctx, o.Worlds, func(i int) result {
		w := simulate.New(o.Seed+uint64(i), simulate.Options{})
		r := ranker(w)
		var got result
		for _, after := range o.Sessions {
			got.played = append(got.played, simulate.Play(w, r, after-len(got.played))...)
			got.examined = append(got.examined, simulate.Examine(w, r, o.Questions))
		}
		return got
	})
	if err != nil {
		return LabRanker{}, err
	}
	var scores LabRanker
	var played []simulate.Step
	for i := range o.Sessions {
		var all []simulate.Step
		for _, r := range results {
			all = append(all, r.examined[i]...)
		}
		scores.Scores = append(scores.Scores, simulate.Judge(all))
	}
	for _, r := range results {
		played = append(played, r.played...)
	}
	scores.Played = simulate.Judge(played)
	return scores, nil
}

// parallel does n things on all cores, in an order that does not matter.
func parallel[T any](ctx context.Context, n int, do func(int) T) ([]T, error) {
	out := make([]T, n)
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := range next {
				out[i] = do(i)
			}
		})
	}
	var err error
	for i := range n {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
			err = fmt.Errorf("simulate sessions: %w", context.Cause(ctx))
		}
		break
	}
	close(next)
	wait.Wait()
	return out, err
}
