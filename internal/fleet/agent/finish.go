package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
)

// Why a lease ends early.
var (
	errCanceled = errors.New("the lease was canceled")
	errLost     = errors.New("the server gave the lease up")
)

// finish builds or measures a lease if that is not done, delivers its result, and removes it. It returns when the server has the outcome,
// whenever that is, or has said that it does not want it. When ctx ends, everything stays as it is for the next process.
func (a *Agent) finish(ctx context.Context, d *leaseDir) {
	log := a.log.With("lease", d.lease.ID, "attempt", d.lease.Attempt, "device", d.lease.Device)
	wanted, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() { defer close(done); a.beats(wanted, d, cancel) }()
	defer func() { cancel(nil); <-done }()

	err := a.work(wanted, d)
	cause := context.Cause(wanted)
	var outcome error
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(cause, errLost):
		log.WarnContext(ctx, "the lease was lost; its rounds are kept for the next attempt", "rounds", d.rounds.Load())
		a.end(d.lose)
		return
	case errors.Is(cause, errCanceled):
		log.InfoContext(ctx, "canceled")
		outcome = temporal.NewCanceledError()
	case err != nil:
		log.ErrorContext(ctx, "cannot carry out the lease", "error", err)
		outcome = temporal.NewApplicationError(clip(err.Error(), maxReason), "Agent")
	}
	switch err := a.complete(ctx, d, outcome); {
	case err == nil:
		log.InfoContext(ctx, "delivered", "activity", d.lease.Activity(), "exit", d.exit(), "rounds", d.rounds.Load())
		a.end(func() error { return d.finish(outcome) })
	case errors.Is(err, errLost) && outcome == nil:
		log.WarnContext(ctx, "the result came too late; it is kept for the next attempt")
		a.end(d.lose)
	case errors.Is(err, errLost):
		a.end(func() error { return d.finish(outcome) })
	}
}

func (a *Agent) end(how func() error) {
	if err := how(); err != nil {
		a.log.Error("cannot remove a lease", "error", err)
	}
}

func (d *leaseDir) exit() int {
	if d.result == nil {
		return -1
	}
	return d.result.Exit
}

// work brings a lease to the point where its result can be delivered.
func (a *Agent) work(ctx context.Context, d *leaseDir) error {
	if d.result == nil {
		d.phase.Store("waiting")
		select {
		case a.turn <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(a.pace.turn): // such as a process that the driver does not let end: another device is free
			return fmt.Errorf("the host was busy for %v with a build or a measurement that does not end: look for processes of pawl there", a.pace.turn)
		}
		defer func() { <-a.turn }()
		a.tidy()
		do := a.measure
		if d.lease.Calibrate != 0 {
			do = a.calibrate
		}
		r, err := do(ctx, d)
		if err != nil {
			return err
		}
		if err := d.save(r); err != nil {
			return err
		}
	}
	d.rounds.Store(int64(d.result.Rounds))
	d.phase.Store("delivering")
	return a.upload(ctx, d)
}

// beats sends heartbeats until ctx ends, and ends it if the server does not want the lease any more. Any other error means that the server
// is away: the measurement goes on, and its result is delivered later.
func (a *Agent) beats(ctx context.Context, d *leaseDir, cancel context.CancelCauseFunc) {
	t := time.NewTicker(a.pace.beat)
	defer t.Stop()
	away := false
	for {
		err := a.beat(ctx, d)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errLost), errors.Is(err, errCanceled):
			cancel(err)
			return
		case err != nil && !away:
			a.log.WarnContext(ctx, "the server does not answer: measuring on", "lease", d.lease.ID, "error", err)
		}
		away = err != nil
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (a *Agent) beat(ctx context.Context, d *leaseDir) error {
	ctx, cancel := context.WithTimeout(ctx, a.pace.patience)
	defer cancel()
	return answer(a.engine.RecordActivityHeartbeat(ctx, d.token, d.beatNow()))
}

// answer tells the answers that end a lease from other errors.
func answer(err error) error {
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	if temporal.IsCanceledError(err) {
		return errCanceled
	}
	return err
}

// complete tells the server the outcome, as often as it takes.
func (a *Agent) complete(ctx context.Context, d *leaseDir, outcome error) error {
	var result any
	if outcome == nil {
		result = *d.result
	}
	return a.repeat(ctx, "deliver a result", func() error {
		try, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		err := answer(a.engine.CompleteActivity(try, d.token, result, outcome))
		if errors.Is(err, errLost) {
			return permanent(err)
		}
		return err
	})
}

// permanentError is an error that will not go away.
type permanentError struct{ err error }

func permanent(err error) error { return &permanentError{err} }

func (e *permanentError) Error() string { return e.err.Error() }

func (e *permanentError) Unwrap() error { return e.err }

// repeat calls do until it succeeds, fails for good, or ctx ends.
func (a *Agent) repeat(ctx context.Context, what string, do func() error) error {
	for wait := a.pace.retry; ; wait = min(2*wait, maxRetry) {
		err := do()
		if _, final := errors.AsType[*permanentError](err); err == nil || final {
			return err
		}
		if ctx.Err() == nil {
			a.log.WarnContext(ctx, "cannot "+what+" yet", "error", err)
		}
		if sleep(ctx, wait) != nil {
			return fmt.Errorf("cannot %s: %w", what, err)
		}
	}
}
