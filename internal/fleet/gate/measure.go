package gate

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
)

const (
	takeWithin  = 60 * time.Second // a lease that is not taken by then goes to the next device
	againWithin = 20 * time.Second // the same, for a measurement that is offered to its card again
	// An agent sends a heartbeat every 2 s. A shorter timeout would end measurements whenever the engine restarts, a
	// longer one would delay the next card.
	heartbeat = 30 * time.Second
)

// measure runs all rounds of both sides on the card of a lease, and returns the message that gives the lease back. If
// the agent is lost, the same card gets the same measurement once more: an agent that came back continues from its
// journal.
func (g *gate) measure(ctx workflow.Context, l placement.Lease) (job.Result, placement.Release, error) {
	start := workflow.Now(ctx)
	r, err := g.offer(ctx, l, takeWithin, g.work.Seconds)
	taken := timeoutOf(err) != enums.TIMEOUT_TYPE_SCHEDULE_TO_START
	if ctx.Err() == nil && timeoutOf(err) == enums.TIMEOUT_TYPE_HEARTBEAT {
		left := g.work.Seconds - int(workflow.Now(ctx).Sub(start).Seconds())
		r, err = g.offer(ctx, l, againWithin, max(left, 1)) // both attempts together stay within what was reserved
	}
	give := placement.Release{Lease: l.Lease}
	if taken {
		give.Seconds = workflow.Now(ctx).Sub(start).Seconds()
	}
	if err != nil && ctx.Err() == nil && timeoutOf(err) != enums.TIMEOUT_TYPE_START_TO_CLOSE { // then the device did its part
		give.Failed, give.Lost = true, IsLost(err)
	}
	return r, give, err
}

// offer makes one attempt. The number of the attempt is recorded before it starts, so that a result of an earlier one
// can no longer be published.
func (g *gate) offer(ctx workflow.Context, l placement.Lease, within time.Duration, seconds int) (job.Result, error) {
	g.attempt++
	if err := g.note(ctx, Measuring, l.Device, ""); err != nil {
		return job.Result{}, err
	}
	lease := job.Lease{
		ID: l.Lease, Gate: g.work.Gate, Project: g.work.Project, Device: l.Device, Attempt: g.attempt, Bundle: g.work.Bundle,
		Base: g.work.Base, Head: g.work.Head, Suite: g.work.Suite, Tier: g.work.Tier, Trust: g.work.Trust, Seconds: seconds,
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              job.Queue(l.Device),
		ScheduleToStartTimeout: within,
		StartToCloseTimeout:    time.Duration(seconds) * time.Second,
		HeartbeatTimeout:       heartbeat,
		WaitForCancellation:    true, // the card is idle when the agent says so
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	var r job.Result
	if err := workflow.ExecuteActivity(ctx, job.Measure, lease).Get(ctx, &r); err != nil {
		return job.Result{}, err
	}
	if r.Lease != lease.ID || r.Attempt != lease.Attempt {
		return job.Result{}, fmt.Errorf("device %s answered for lease %.100q, attempt %d, instead of %s, attempt %d", l.Device, r.Lease, r.Attempt, lease.ID, lease.Attempt)
	}
	return r, nil
}

// IsLost reports whether an activity ended because its agent is gone.
func IsLost(err error) bool {
	t := timeoutOf(err)
	return t != enums.TIMEOUT_TYPE_UNSPECIFIED && t != enums.TIMEOUT_TYPE_START_TO_CLOSE
}

// timeoutOf returns which timeout an activity ended with; unspecified if none.
func timeoutOf(err error) enums.TimeoutType {
	if t, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return t.TimeoutType()
	}
	return enums.TIMEOUT_TYPE_UNSPECIFIED
}
