package submit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
)

// Causes that end a run early.
var (
	errTimeUp      = errors.New("the submission's time is used up")
	errWrongResult = errors.New("a result is wrong")
)

// clock follows the events of a run: how long it waited for the device, how long it worked, and which
// result was wrong. It ends the run when its time is used up or at the first wrong result.
type clock struct {
	now   func() time.Time
	limit time.Duration
	stop  context.CancelCauseFunc
	emit  func(runner.Event) // nil for none

	mu      sync.Mutex
	started time.Time
	since   time.Time // start of waiting; zero while working
	waited  time.Duration
	failed  *correctness.Result // the first wrong result
	where   string              // its benchmark
	done    chan struct{}
}

// startClock starts a clock for a step of at most limit. The context ends with errTimeUp once the work took longer than the limit.
func (g *Grant) startClock(ctx context.Context, limit time.Duration) (context.Context, *clock) {
	ctx, stop := context.WithCancelCause(ctx)
	c := &clock{now: g.Now, limit: limit, stop: stop, emit: g.Emit, started: g.Now(), done: make(chan struct{})}
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-c.done:
				return
			case <-tick.C:
				if _, work := c.read(); work > limit {
					stop(errTimeUp)
					return
				}
			}
		}
	}()
	return ctx, c
}

// end stops the clock.
func (c *clock) end() {
	close(c.done)
	c.stop(nil)
}

// read returns how long the run waited and worked so far.
func (c *clock) read() (waited, worked time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waited = c.waited
	if !c.since.IsZero() {
		waited += c.now().Sub(c.since)
	}
	return waited, c.now().Sub(c.started) - waited
}

// left returns how much of the limit is left.
func (c *clock) left() time.Duration {
	_, worked := c.read()
	return max(c.limit-worked, time.Millisecond)
}

// wait marks the start of waiting for the device.
func (c *clock) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		c.since = c.now()
	}
}

// work marks the end of waiting.
func (c *clock) work() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.since.IsZero() {
		c.waited += c.now().Sub(c.since)
		c.since = time.Time{}
	}
}

// event follows a run.
func (c *clock) event(e runner.Event) {
	if c.emit != nil {
		c.emit(e)
	}
	if _, ok := e.(runner.Waiting); ok {
		c.wait()
		return
	}
	c.work()
	f, ok := e.(runner.Fuzzing)
	if !ok || f.Result == nil || f.Result.Status != correctness.Failed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed, c.where = f.Result, f.Benchmark
		c.stop(errWrongResult) // a smaller input that fails too is not worth the time
	}
}
