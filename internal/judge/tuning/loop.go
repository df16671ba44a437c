package tuning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/stats"
)

// maxBuildsAhead is the max number of builds that run ahead of the device. A strategy learns nothing
// from points that are built but not yet measured.
const maxBuildsAhead = 4

// minToForecast is the min number of evaluations needed to estimate the time of the next.
const minToForecast = 5

// attempt is a point being built and measured.
type attempt struct {
	point     int
	e         tune.Evaluation
	suite     *suite.Suite
	variant   suite.Variant
	dir       string            // where it was built
	workspace *build.SourceCopy // nil if built in the suite's own folder
	err       error             // ends the search: a failure of the machine, or an interrupt
}

// search evaluates points until no reason or no time is left for more. Only this goroutine uses the
// strategy. Builds run in parallel; the device measures one point at a time.
func (t *tuner) search(ctx context.Context) error {
	t.Emit(Ready{
		Case: t.searchHeader.Case, Device: t.searchHeader.Device, Strategy: t.Strategy, Points: t.space.Len(), Complete: t.space.Complete(),
		Resumed: t.resumed, Unchecked: t.unchecked, Jobs: cap(t.slots),
	})
	if err := t.evaluateDefault(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	built := make(chan *attempt)
	out := 0
	defer func() { // no build may outlive the search
		stop()
		for ; out > 0; out-- {
			<-built
		}
	}()
	for {
		for out < max(1, cap(t.workspaces)) && t.mayStart(out) {
			points := t.strategy.Ask(1) // one by one: each may depend on the last result
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

// evaluateDefault measures the default point, with which every other point is compared. Without it
// there is nothing to tune.
func (t *tuner) evaluateDefault(ctx context.Context) error {
	point, ok := t.space.Default()
	if !ok {
		return fmt.Errorf("the default of %s is not a point of its space", t.searchHeader.Case)
	}
	resumed := len(t.list) > 0
	if resumed && t.list[0].Status != tune.OK {
		return &trial.SideError{Side: suite.Candidate, Err: fmt.Errorf("its defaults do not work: %s", t.list[0].Why)}
	}
	a := t.prepare(ctx, point)
	if a.err == nil && a.e.Status == "" {
		a.err = t.meetDefault(ctx, a)
	}
	if a.err == nil && a.e.Status == "" {
		a.err = t.openBeside(ctx, a)
	}
	if a.err == nil && a.e.Status == "" && !resumed {
		a.err = t.measureOrFail(ctx, a)
	}
	if err := errors.Join(a.err, t.releaseDefault(ctx, a), a.failure()); err != nil || resumed {
		return err
	}
	return t.keep(a)
}

// failure returns why tuning cannot start from the default; nil if it can.
func (a *attempt) failure() error {
	if a.e.Status == tune.OK || a.e.Status == "" {
		return nil
	}
	return &trial.SideError{Side: suite.Candidate, Err: fmt.Errorf("its defaults do not work (%s), so nothing can be tuned: %s", a.e.Status, a.e.Why)}
}

// mayStart reports whether one more point fits, with out points in progress.
func (t *tuner) mayStart(out int) bool {
	if t.end != "" {
		return false
	}
	if t.Evals > 0 && t.counted()+out >= t.Evals {
		t.end = EndEvaluations
		return false
	}
	if t.Budget > 0 && t.Now().Add(t.forecast(out)).After(t.startedAt.Add(t.Budget)) {
		t.end = EndBudget
		return false
	}
	return true
}

// counted returns the number of evaluations that were not pruned.
func (t *tuner) counted() int {
	n := 0
	for i := range t.list {
		if t.list[i].Status != tune.Pruned {
			n++
		}
	}
	return n
}

// forecast estimates the time until the next point is measured: its build, and the measurements
// queued before its own. It is cautious, and the deadline cuts off what it underestimates. The
// first builds fill caches and predict nothing: until there are enough, it returns 0, because an
// abandoned point costs only time that would otherwise be unused.
func (t *tuner) forecast(out int) time.Duration {
	if len(t.list) < minToForecast {
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

// prepare builds a point, or records why it need not be built. It does not use the device.
func (t *tuner) prepare(ctx context.Context, point int) *attempt {
	a := &attempt{point: point, e: tune.Evaluation{Point: t.values(point)}, dir: t.Dir}
	if a.suite, a.err = t.Suite.Tuned(t.benchmark.Name, a.e.Point); a.err != nil {
		return a
	}
	if a.variant, a.err = t.variant(a.suite); a.err != nil {
		return a
	}
	if why := pruned(t.Device(), a.suite.Benchmarks[0], t.target.Params); why != "" {
		a.e.Status, a.e.Why = tune.Pruned, why
		return a
	}
	if t.workspaces != nil {
		select {
		case a.workspace = <-t.workspaces:
			a.dir = a.workspace.Dir
		case <-ctx.Done():
			a.err = context.Cause(ctx)
			return a
		}
	}
	a.err = t.buildPoint(ctx, a)
	return a
}

// buildPoint builds a point in its folder.
func (t *tuner) buildPoint(ctx context.Context, a *attempt) error {
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
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
	recipe, err := t.Recipe(ctx, a.dir, a.variant.Build)
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

// buildReason returns the compiler's first error, or else the reason of e.
func buildReason(e *build.Error) string {
	if e.First != nil {
		return fmt.Sprint(*e.First)
	}
	return e.Reason
}

// finish measures what was built and records the result.
func (t *tuner) finish(ctx context.Context, a *attempt) error {
	if a.err == nil && a.e.Status == "" {
		a.err = t.measureOrFail(ctx, a)
	}
	if err := errors.Join(a.err, t.release(ctx, a)); err != nil {
		return err
	}
	return t.keep(a)
}

// release makes the folder of a point available to the next one.
func (t *tuner) release(ctx context.Context, a *attempt) error {
	if a.workspace == nil {
		return nil
	}
	if err := a.workspace.Clean(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	t.workspaces <- a.workspace
	return nil
}

// keep writes an evaluation to the journal, and only then reports it.
func (t *tuner) keep(a *attempt) error {
	a.e.At = t.Now().UTC()
	if err := t.searchJournal.Append(&a.e); err != nil {
		return err
	}
	t.list = append(t.list, a.e)
	t.tell(a.point, a.e)
	t.consider(a.e)
	event := Evaluated{Evaluation: a.e, Default: t.list[0], Done: t.counted(), Of: t.Evals, Elapsed: t.Now().Sub(t.startedAt)}
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
