package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/stats"
)

// mostAhead bounds the builds that run ahead of the device: a strategy learns nothing from
// points that are built and not measured yet.
const mostAhead = 4

// leastToForecast is how many points tell how long the next takes.
const leastToForecast = 5

// attempt is a point on its way through building and measuring.
type attempt struct {
	point   int
	e       tune.Evaluation
	suite   *suite.Suite
	variant suite.Variant
	dir     string      // where it was built
	room    *build.Room // nil in the suite's own folder
	err     error       // that ends the search: the machine's fault, or an interrupt
}

// search evaluates points until there is no reason or no time for more. The strategy is asked
// and told here alone; builds run beside, the device measures one point at a time.
func (t *tuner) search(ctx context.Context) error {
	t.Emit(TuneReady{
		Case: t.header.Case, Device: t.header.Device, Strategy: t.Strategy, Points: t.space.Len(), Complete: t.space.Complete(),
		Resumed: t.resumed, Unchecked: t.unchecked, Jobs: cap(t.workshop.slots),
	})
	if err := t.evaluateDefault(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	built := make(chan *attempt)
	out := 0
	defer func() { // whatever happens, no build outlives the search
		stop()
		for ; out > 0; out-- {
			<-built
		}
	}()
	for {
		for out < max(1, cap(t.rooms)) && t.mayBegin(out) {
			points := t.strategy.Ask(1) // one by one: each may need what the last one taught
			if len(points) == 0 {
				t.end = EndSpace
				break
			}
			out++
			go func() { built <- t.prepare(ctx, points[0]) }()
		}
		if out == 0 {
			return nil
		}
		a := <-built
		out--
		if err := t.finish(ctx, a); err != nil {
			return err
		}
	}
}

// evaluateDefault measures what runs today: every other point is compared with it. Without it
// there is nothing to tune.
func (t *tuner) evaluateDefault(ctx context.Context) error {
	point, ok := t.space.Default()
	if !ok {
		return fmt.Errorf("the default of %s is no point of its space", t.header.Case)
	}
	resumed := len(t.list) > 0
	if resumed && t.list[0].Status != tune.OK {
		return &trial.SideError{Side: suite.Candidate, Err: fmt.Errorf("its defaults do not work: %s", t.list[0].Why)}
	}
	a := t.prepare(ctx, point)
	if a.err == nil && a.e.Status == "" {
		a.err = t.meetDefault(ctx, a)
	}
	if a.err == nil && a.e.Status == "" && !resumed {
		a.err = t.measureOrFail(ctx, a)
	}
	if err := errors.Join(a.err, t.release(ctx, a), a.failure()); err != nil || resumed {
		return err
	}
	return t.keep(a)
}

// failure is why the default cannot be tuned from.
func (a *attempt) failure() error {
	if a.e.Status == tune.OK || a.e.Status == "" {
		return nil
	}
	return &trial.SideError{Side: suite.Candidate, Err: fmt.Errorf("its defaults do not work (%s), and nothing can be tuned from there: %s", a.e.Status, a.e.Why)}
}

// mayBegin tells whether one more point fits, with so many under way.
func (t *tuner) mayBegin(out int) bool {
	if t.end != "" {
		return false
	}
	if t.Evals > 0 && t.counted()+out >= t.Evals {
		t.end = EndEvaluations
		return false
	}
	if t.Budget > 0 && t.Now().Add(t.forecast(out)).After(t.began.Add(t.Budget)) {
		t.end = EndBudget
		return false
	}
	return true
}

// counted are the evaluations that cost something.
func (t *tuner) counted() int {
	n := 0
	for i := range t.list {
		if t.list[i].Status != tune.Pruned {
			n++
		}
	}
	return n
}

// forecast is about how long the next point takes until it is measured: its build, and the
// measurements that wait before its own. It is cautious, and the deadline cuts off what it
// did not foresee. The first builds fill caches and foretell nothing: after them it says
// that there is time, because what is given up costs only time that nobody else would use.
func (t *tuner) forecast(out int) time.Duration {
	if len(t.list) < leastToForecast {
		return 0
	}
	recent := t.list[max(0, len(t.list)-20):]
	var builds, rest []float64
	for _, e := range recent {
		builds, rest = append(builds, e.Build), append(rest, e.Check+e.Measure)
	}
	seconds := stats.Quantile(builds, 0.75) + float64(out+1)*stats.Quantile(rest, 0.75)
	return time.Duration(seconds * float64(time.Second))
}

// prepare builds a point, or says why it need not be built. The device is not used.
func (t *tuner) prepare(ctx context.Context, point int) *attempt {
	a := &attempt{point: point, e: tune.Evaluation{Point: t.values(point)}, dir: t.Dir}
	if a.suite, a.err = t.Suite.Tuned(t.benchmark.Name, a.e.Point); a.err != nil {
		return a
	}
	if a.variant, a.err = t.variant(a.suite); a.err != nil {
		return a
	}
	if why := t.pruned(a.suite); why != "" {
		a.e.Status, a.e.Why = tune.Pruned, why
		return a
	}
	if t.sources != nil {
		select {
		case a.room = <-t.rooms:
			a.dir = a.room.Dir
		case <-ctx.Done():
			a.err = context.Cause(ctx)
			return a
		}
	}
	a.err = t.buildPoint(ctx, a)
	return a
}

// buildPoint builds where the point has its place.
func (t *tuner) buildPoint(ctx context.Context, a *attempt) error {
	select {
	case t.workshop.slots <- struct{}{}:
		defer func() { <-t.workshop.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if t.onCPU() {
		t.quiet.RLock()
		defer t.quiet.RUnlock()
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	recipe, err := t.recipe(ctx, side{name: suite.Candidate, from: suite.Candidate, dir: a.dir}, a.variant.Build)
	if err != nil || recipe.Command == "" {
		return err
	}
	began := t.Now()
	_, err = build.Make(ctx, recipe, nil)
	a.e.Build = t.Now().Sub(began).Seconds()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*build.Error](err); ok {
		a.e.Status, a.e.Why = tune.CompileError, oneLine(buildReason(e))
		return nil
	}
	return err
}

// buildReason is the first error of a compiler, or what else there is.
func buildReason(e *build.Error) string {
	if e.First != nil {
		return fmt.Sprint(*e.First)
	}
	return e.Reason
}

// finish measures what was built, and keeps what came of it.
func (t *tuner) finish(ctx context.Context, a *attempt) error {
	if a.err == nil && a.e.Status == "" {
		a.err = t.measureOrFail(ctx, a)
	}
	if err := t.release(ctx, a); err != nil {
		return errors.Join(a.err, err)
	}
	if a.err != nil {
		return a.err
	}
	return t.keep(a)
}

// release gives the place of a point to the next one.
func (t *tuner) release(ctx context.Context, a *attempt) error {
	if a.room == nil {
		return nil
	}
	if err := a.room.Clean(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	t.rooms <- a.room
	return nil
}

// keep writes an evaluation down, and only then lets anybody know.
func (t *tuner) keep(a *attempt) error {
	a.e.At = t.Now().UTC()
	if err := t.journal.Append(&a.e); err != nil {
		return err
	}
	t.list = append(t.list, a.e)
	t.tell(a.point, a.e)
	t.consider(a.e)
	event := TuneEvaluated{Evaluation: a.e, Default: t.list[0], Done: t.counted(), Of: t.Evals, Elapsed: t.Now().Sub(t.began)}
	if t.best != nil {
		event.Best = *t.best
	}
	if t.Budget > 0 {
		event.Left = max(0, t.Budget-event.Elapsed)
	}
	for _, e := range t.list {
		switch {
		case e.Status == tune.Pruned:
			event.Pruned++
		case e.Status != tune.OK:
			event.Failed++
		}
	}
	if all := t.space.Len(); event.Of == 0 && t.Budget == 0 || event.Of > all {
		event.Of = all
	}
	t.Emit(event)
	return nil
}

// Finalists are the best points of a search, best first, the default not among them: whoever
// proves what was found measures these again, because the best of many looks better than it is.
func (f *Tuning) Finalists(n int) []tune.Evaluation {
	ranked := slices.DeleteFunc(tune.Ranked(f.Evaluations), func(e tune.Evaluation) bool { return e.N == 0 || e.Lost })
	return ranked[:min(n, len(ranked))]
}
