package tuning

import (
	"context"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// A shared machine is faster in one second than in the next, and two points are measured minutes
// apart. So each point is measured in turns of milliseconds with the default, and counts by the
// ratio of the two.

// beside is a process of the default point that lives as long as the search.
type beside struct {
	session *harness.Session
	usual   float64 // time of the default in nanoseconds: what a ratio of 1 stands for
	samples int     // of the default in a turn
	turns   int     // so far
}

// openBeside starts the default's process, if points are measured in turns. A failure of the
// default becomes its status.
func (t *tuner) openBeside(ctx context.Context, a *attempt) error {
	if !t.TakesTurns() {
		return nil
	}
	b := &beside{}
	err := b.open(ctx, t, a)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return t.setStatus(a, err)
	}
	t.beside = b
	return nil
}

func (b *beside) open(ctx context.Context, t *tuner, a *attempt) (err error) {
	if b.session, err = t.startPoint(ctx, a); err != nil {
		return err
	}
	t.AtEnd(func(context.Context) error { b.session.Kill(); return nil })
	ns, err := t.warm(ctx, a, b.session)
	if err != nil {
		return err
	}
	b.samples = min(trial.TurnSamples(ns), maxSamples)
	if len(t.list) > 0 { // of the journal that is continued: its values have this scale
		b.usual = t.list[0].Value
		return nil
	}
	b.usual, err = b.turn(ctx, t, maxSamples)
	return err
}

// turn measures the default and returns its time.
func (b *beside) turn(ctx context.Context, t *tuner, samples int) (float64, error) {
	m, err := b.session.Measure(ctx, "the default of "+t.searchHeader.Case, harness.Measure{Samples: samples})
	if err != nil {
		return 0, &trial.SideError{Side: suite.Candidate, Err: fmt.Errorf("its defaults failed beside another point: %w", err)}
	}
	return stats.Median(m.Samples), nil
}

// begin makes both processes ready for turns.
func (b *beside) begin(ctx context.Context, t *tuner, session *harness.Session) error {
	b.shareCore(t, session)
	_, err := b.turn(ctx, t, 1) // it has been idle
	return err
}

// take takes n samples of a point, each of which lasts ns nanoseconds, in turns with the default.
// They are scaled to the usual time of the default.
func (b *beside) take(ctx context.Context, t *tuner, session *harness.Session, ns float64, n int) ([]float64, error) {
	var scaled []float64
	for len(scaled) < n {
		got, usual, err := b.pair(ctx, t, session, min(trial.TurnSamples(ns), n-len(scaled)))
		if err != nil {
			return nil, err
		}
		for _, x := range got {
			scaled = append(scaled, x*b.usual/usual)
		}
	}
	return scaled, nil
}

// pair takes a turn of the default and one of the point. The next pair has the other order.
func (b *beside) pair(ctx context.Context, t *tuner, session *harness.Session, samples int) (got []float64, usual float64, err error) {
	b.turns++
	if b.turns%2 == 1 {
		if usual, err = b.turn(ctx, t, b.samples); err != nil {
			return nil, 0, err
		}
	}
	m, err := session.Measure(ctx, t.searchHeader.Case, harness.Measure{Samples: samples})
	if err != nil {
		return nil, 0, err
	}
	if b.turns%2 == 0 {
		usual, err = b.turn(ctx, t, b.samples)
	}
	return m.Samples, usual, err
}

// shareCore binds both processes to the same core if they are measured by the CPU time of one thread: cores differ in
// speed. Each point gets the next core.
func (b *beside) shareCore(t *tuner, session *harness.Session) {
	cores := harness.Cores()
	if !t.onCPU() || t.timer(session) != measure.TimerCPU || len(cores) < 2 {
		return
	}
	core := cores[len(t.list)%len(cores)]
	b.session.Bind(core)
	session.Bind(core)
}

// releaseDefault makes the folder of the default available, or another one in its place while its process runs there.
func (t *tuner) releaseDefault(ctx context.Context, a *attempt) error {
	if t.beside == nil || a.workspace == nil {
		return t.release(ctx, a)
	}
	return t.addWorkspace(ctx)
}
