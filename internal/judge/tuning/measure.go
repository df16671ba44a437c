package tuning

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// How a point is measured.
const (
	maxSamples = 56 // per process; a proof takes as many as it needs
	warmUp     = 100 * time.Millisecond
	// A point that stays silent for this many times the default's time is not the best one.
	patience    = 20
	minPatience = 5 * time.Second
)

// measureOrFail checks a point's results and measures it. Failures of the point become its status;
// an error is a failure of something else.
func (t *tuner) measureOrFail(ctx context.Context, a *attempt) error {
	if a.e.Status != "" {
		return nil
	}
	if t.onCPU() {
		t.quiet.Lock()
		defer t.quiet.Unlock()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	samples, lost, err := t.process(ctx, a)
	// A new best, and the default, is measured in a second process: a lucky memory layout is no gain.
	if err == nil && a.e.Status == "" && !lost && (t.best == nil || stats.Median(samples) < t.best.Value) {
		var more []float64
		more, _, err = t.process(ctx, a)
		samples = append(samples, more...)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return t.setStatus(a, err)
	}
	if a.e.Status == "" {
		a.e.Measured(samples, lost)
	}
	return nil
}

// process measures a point in a fresh process. The first process also checks its results.
func (t *tuner) process(ctx context.Context, a *attempt) (samples []float64, lost bool, err error) {
	began := t.Now()
	session, err := t.startPoint(ctx, a)
	if err != nil {
		return nil, false, err
	}
	defer session.Kill()
	if t.checker != nil && a.e.Check == 0 {
		wrong, err := t.checker.look(ctx, a.suite.Benchmarks[0], session)
		a.e.Check = t.Now().Sub(began).Seconds()
		if err != nil {
			return nil, false, err
		}
		if wrong != "" {
			a.e.Status, a.e.Why = tune.Wrong, oneLine(wrong)
			return nil, false, session.Bye(ctx)
		}
		began = t.Now()
	}
	samples, lost, err = t.samples(ctx, a, session)
	a.e.Measure += t.Now().Sub(began).Seconds()
	if err != nil {
		return nil, false, err
	}
	return samples, lost, session.Bye(ctx)
}

func (t *tuner) startPoint(ctx context.Context, a *attempt) (*harness.Session, error) {
	return t.Start(ctx, a.dir, a.variant.Harness, t.silence(a.variant.Harness))
}

// meetDefault finds out which of the default's results can be checked.
func (t *tuner) meetDefault(ctx context.Context, a *attempt) error {
	if t.checker == nil {
		return nil
	}
	session, err := t.startPoint(ctx, a)
	if err == nil {
		defer session.Kill()
		err = t.checker.dropUnsupported(ctx, a.suite.Benchmarks[0], session)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return t.setStatus(a, err)
	case len(t.checker.tasks) == 0:
		t.checker, t.unchecked = nil, "the harness cannot run "+t.benchmark.Name+" on given inputs: see check in the harness protocol"
		t.Notice(device.Notice{Code: "unchecked", Message: t.unchecked})
	}
	return session.Bye(ctx)
}

// warm prepares the case in a session of a point and warms it up. It returns how long a sample takes.
func (t *tuner) warm(ctx context.Context, a *attempt, session *harness.Session) (ns float64, err error) {
	b, c := a.suite.Benchmarks[0], t.target
	p := harness.Prepare{
		Benchmark: b.Name, Implementation: suite.Candidate, Params: b.Complete(c.Params).Map(), Cache: cmp.Or(c.Cache, measure.Hot),
		Timer: t.timer(session), Seed: t.Seed, Bytes: c.Bytes,
	}
	if p.Arguments, err = b.Arguments(c.Params); err != nil {
		return 0, err
	}
	if _, err := session.Prepare(ctx, p); err != nil {
		return 0, err
	}
	m, err := session.Measure(ctx, "warm-up of "+t.searchHeader.Case, harness.Measure{Samples: 1, Busy: warmUp.Nanoseconds(), Warmup: true})
	if err != nil {
		return 0, err
	}
	return stats.Median(m.Samples) * float64(max(m.Batch, 1)), nil
}

// timer returns the clock that counts.
func (t *tuner) timer(session *harness.Session) measure.Timer {
	return cmp.Or(t.target.Timer, session.Welcome.Timers[0])
}

// samples takes as many samples as the race asks for.
func (t *tuner) samples(ctx context.Context, a *attempt, session *harness.Session) (samples []float64, lost bool, err error) {
	ns, err := t.warm(ctx, a, session)
	if err != nil {
		return nil, false, err
	}
	if t.beside != nil {
		if err := t.beside.begin(ctx, t, session); err != nil {
			return nil, false, err
		}
	}
	var best []float64
	if t.best != nil {
		best = t.best.Samples
	}
	for {
		more, lost := t.race.More(samples, best)
		if more == 0 {
			return samples, lost, nil
		}
		got, err := t.take(ctx, session, ns, more)
		if err != nil {
			return nil, false, err
		}
		samples = append(samples, got...)
	}
}

// take takes n samples of a point, each of which lasts ns nanoseconds.
func (t *tuner) take(ctx context.Context, session *harness.Session, ns float64, n int) ([]float64, error) {
	if t.beside != nil {
		return t.beside.take(ctx, t, session, ns, n)
	}
	m, err := session.Measure(ctx, t.searchHeader.Case, harness.Measure{Samples: n})
	return m.Samples, err
}

// silence returns how long a point may stay silent. The suite's limit is meant for kernels worth
// running; most points of a search are not.
func (t *tuner) silence(h suite.Harness) time.Duration {
	if len(t.list) == 0 {
		return h.Timeout
	}
	usual := time.Duration((t.list[0].Check + t.list[0].Measure) * float64(time.Second))
	return min(h.Timeout, max(minPatience, patience*usual))
}

// setStatus turns a failure of the kernel into the status of its point. Any other error ends the search.
func (t *tuner) setStatus(a *attempt, err error) error {
	if _, ok := errors.AsType[*trial.SideError](err); ok { // of the default beside the point
		return err
	}
	var hung, dishonest bool
	if fault, ok := errors.AsType[*correctness.FaultError](err); ok {
		hung, dishonest, a.e.Why = fault.Kind == string(harness.Hung), fault.Kind == harness.CodeIntegrity, oneLine(fault.Message)
	} else if e, ok := errors.AsType[*harness.Error](err); ok {
		hung, dishonest, a.e.Why = e.Kind == harness.Hung, e.Code == harness.CodeIntegrity, oneLine(e.Error())
	} else {
		return err
	}
	switch {
	case hung:
		a.e.Status = tune.Timeout
	case dishonest:
		a.e.Status = tune.Wrong
	default:
		a.e.Status = tune.RuntimeError
	}
	return nil
}

const maxReason = 300

// oneLine shortens a message to one line for the journal.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "..."
	}
	return s
}
