package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// How a batch narrows down: every race keeps one of four candidates, until few are left. Those are judged one by one
// in fresh rounds: the winner of a race of many is partly the luckiest.
//
// Candidates are ranked by the median of all their rounds so far. Rounds have heavy tails: in 1 of 30 a side is off by
// 10 % or more, and one such round takes the best out of a race that is ranked by a mean of two. The median of four is
// not moved by one. TestHalving_FindsTheBest simulates it: of 32 candidates, one that is 6 % ahead stays until the end in
// 99.9 % of the batches where rounds spread by 3.7 %, in 97 % where they spread by 5.2 % and in 80 % where it is 8 %, as
// beside other work. By means of two rounds, then of four, it is 95, 87 and 65 %. Six rounds would take more than 1.5
// times as long as four judgments of one candidate.
const (
	keepOneOf  = 4
	raceRounds = 4
	finalists  = 2
	// MaxBatch is the max number of candidates in a batch: all of them are processes at the same time.
	MaxBatch = 64
)

// SubmitBatch judges several candidates. It returns their answers in the same order. Builds run in parallel,
// then every candidate is checked, and those that are right race against each other and the base. The stage of
// the first submission counts for all.
func (g *Grant) SubmitBatch(ctx context.Context, list []Submission) ([]Answer, error) {
	if len(list) == 0 || len(list) > MaxBatch {
		return nil, fmt.Errorf("%w: a batch has 1 to %d candidates, not %d", ErrUsage, MaxBatch, len(list))
	}
	b := batch{Grant: g}
	for _, s := range list {
		s.Stage = list[0].Stage
		j, err := g.open(s)
		if err != nil {
			return nil, err
		}
		if left, limited := g.left(j.before); limited { // together they may take what is left
			j.budget = min(j.budget, left/time.Duration(len(list)))
		}
		b.jobs = append(b.jobs, j)
	}
	given := slices.Clone(b.jobs)
	err := b.run(ctx)
	answers := make([]Answer, len(given))
	for _, j := range b.jobs { // the best come first, so that all answers name the best of the batch
		a, failed := j.finish(ctx, cmp.Or(j.failure, b.unfinished(j, err)))
		answers[slices.Index(given, j)], err = a, errors.Join(err, failed)
	}
	return answers, err
}

// batch is the state of a batch.
type batch struct {
	*Grant
	jobs []*job
}

// unfinished returns why a job has no status.
func (b *batch) unfinished(j *job, err error) error {
	if j.answer.Status != "" {
		return nil
	}
	return cmp.Or(err, errors.New("the batch ended without a result for it"))
}

// alive returns the jobs that are still in the race.
func (b *batch) alive() []*job {
	return slices.DeleteFunc(slices.Clone(b.jobs), func(j *job) bool { return j.answer.Status != "" || j.failure != nil })
}

func (b *batch) run(ctx context.Context) error {
	for _, j := range b.jobs {
		j.step(ctx, 1, j.prepare)
	}
	if err := b.build(ctx); err != nil {
		return err
	}
	stage := b.jobs[0].Stage
	if stage != Compile {
		for _, j := range b.alive() {
			j.Stage = Smoke
			j.step(ctx, 1, j.judge)
		}
	}
	if stage == Compile || stage == Smoke {
		return context.Cause(ctx)
	}
	for _, j := range b.jobs {
		if j.Stage = stage; j.answer.Status == Passed || j.answer.Status == Compiled {
			j.answer.Status, j.answer.Reason = "", ""
		}
	}
	if err := b.race(ctx); err != nil {
		return err
	}
	b.confirm(func(j *job) {
		j.answer = Answer{ID: j.answer.ID, Stage: stage, Same: j.answer.Same}
		j.step(ctx, 1, j.judge)
	})
	return context.Cause(ctx)
}

// confirm judges the best candidates in fresh rounds, best first. A final judgment searches longer for wrong results than
// a race does: for a finalist that fails it, the next one of the race is judged.
func (b *batch) confirm(judge func(*job)) {
	places := finalists
	for _, j := range b.jobs {
		if places > 0 && j.failure == nil && (j.answer.Status == "" || j.answer.Status == Measured) {
			if judge(j); j.answer.Status == Measured {
				places--
			}
		}
	}
}

// build builds all candidates in parallel. If the CPU is the device, it is held meanwhile.
func (b *batch) build(ctx context.Context) (err error) {
	jobs := b.alive()
	if len(jobs) == 0 {
		return nil
	}
	first := jobs[0]
	first.restart(ctx)
	release, err := b.holdCPU(ctx, first.suite, first.clock)
	first.stop(1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	candidate, _ := first.suite.Implementation(suite.Candidate)
	slots := make(chan struct{}, build.Capacity(candidate.Build.Memory))
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			j.step(ctx, cap(slots), j.buildOnly)
			if j.answer.Status == Compiled && j.Stage != Compile {
				j.answer.Status = ""
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// race lets the candidates race until few are left. Those that lose get their answer from their last race; the
// others are in order, best first.
func (b *batch) race(ctx context.Context) error {
	for nth := 1; ; nth++ {
		jobs := b.alive()
		if len(jobs) <= finalists {
			return nil
		}
		run, err := b.raceOnce(ctx, jobs, nth)
		if err != nil {
			return err
		}
		if run == nil {
			continue // a candidate failed and left
		}
		rounds := make([][]float64, len(jobs))
		for i, j := range jobs {
			changes, ok := roundChanges(run, sideOf(i))
			if j.raced = append(j.raced, changes...); !ok {
				j.raced = []float64{math.Inf(1)} // last
			}
			rounds[i] = j.raced
		}
		places, keep := halve(rounds)
		var order []*job
		for place, i := range places {
			if order = append(order, jobs[i]); place >= keep {
				jobs[i].lost(run, sideOf(i))
			}
		}
		b.rank(order)
	}
}

// halve ranks candidates by the median of their rounds, and returns their indexes, best first, and how many of them stay
// in the batch.
func halve(rounds [][]float64) (places []int, keep int) {
	scores := make([]float64, len(rounds))
	for i, list := range rounds {
		places, scores[i] = append(places, i), stats.Median(list)
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	return places, max(finalists, (len(places)+keepOneOf-1)/keepOneOf)
}

// rank puts the jobs of an order first, so that alive returns them in it.
func (b *batch) rank(order []*job) {
	rest := slices.DeleteFunc(slices.Clone(b.jobs), func(j *job) bool { return slices.Contains(order, j) })
	b.jobs = append(slices.Clone(order), rest...)
}

// sideOf returns the side of a candidate in a race: the first one is the run's candidate, the others are rivals.
func sideOf(i int) string {
	if i == 0 {
		return suite.Candidate
	}
	return runner.RivalSide(i - 1)
}

// raceOnce measures all candidates and the base in the same rounds. It returns nil if one of them broke; that one
// has its answer then.
func (b *batch) raceOnce(ctx context.Context, jobs []*job, nth int) (*measure.Run, error) {
	first := jobs[0]
	var limit time.Duration
	for _, j := range jobs {
		limit += max(j.budget-j.worked, 0)
	}
	ctx, first.clock = b.startClock(ctx, limit)
	defer func() {
		share := first.share(len(jobs)) // all take the same
		for _, j := range jobs[1:] {
			j.waited, j.worked = j.waited+share.waited, j.worked+share.worked
		}
		first.stop(len(jobs))
	}()
	o := first.options()
	o.Out = filepath.Join(first.attempt.dir, fmt.Sprintf("race-%d", nth), "current.json")
	o.Rounds, o.Samples, o.ForceMeasure, o.Brief, o.Budget = raceRounds, max(minSamples, first.suite.Measure.Samples/quickSamples), true, true, 0
	for _, j := range jobs[1:] {
		o.Rivals = append(o.Rivals, j.attempt.Commit)
	}
	res, err := runner.Run(ctx, o)
	if side, ok := errors.AsType[*trial.SideError](err); ok && context.Cause(ctx) == nil {
		for i, j := range jobs {
			if sideOf(i) == side.Side {
				j.brokenSide(nil, err)
				return nil, nil //nolint:nilnil // the others race again
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return measure.Load(res.Path)
}

// roundChanges returns the logarithm of a side's time over the base's for each round, as its mean over the cases. It is
// not ok if the side failed anywhere.
func roundChanges(run *measure.Run, side string) (changes []float64, ok bool) {
	evidence := evidenceOf(run, side)
	changes = meanRounds(evidence)
	failed := slices.ContainsFunc(evidence, func(e ratchet.Evidence) bool { return e.CandidateError != "" })
	return changes, len(changes) > 0 && !failed
}

// lost answers for a candidate that leaves the batch after a race.
func (j *job) lost(run *measure.Run, side string) {
	evidence := evidenceOf(run, side)
	result := ratchet.Judge(j.suite.JudgePolicy().WithLooks([]int{raceRounds}), evidence)
	j.answer.Stage = Quick
	j.judged(result, evidence)
	if j.answer.Status == Measured {
		j.answer.Reason = fmt.Sprintf("left the batch after %d rounds: others are faster", len(j.raced))
	}
}

// step does one step of a job and counts its time, divided by the number of jobs that run at the same time.
func (j *job) step(ctx context.Context, parallel int, do func(context.Context) error) {
	ctx = j.restart(ctx)
	if err := do(ctx); err != nil && !errors.Is(context.Cause(ctx), errTimeUp) {
		j.failure = err
	} else if err != nil {
		j.timeUp()
	}
	j.stop(parallel)
}

// restart starts the clock of a job for a step.
func (j *job) restart(ctx context.Context) context.Context {
	ctx, j.clock = j.startClock(ctx, max(j.budget-j.worked, time.Millisecond))
	return ctx
}

// stop ends a step.
func (j *job) stop(parallel int) {
	s := j.share(parallel)
	j.waited, j.worked = j.waited+s.waited, j.worked+s.worked
	j.clock.end()
	j.clock = nil
}

type times struct{ waited, worked time.Duration }

// share returns a job's share of the time since its clock started.
func (j *job) share(parallel int) times {
	waited, worked := j.clock.read()
	return times{waited, worked / time.Duration(max(parallel, 1))}
}
