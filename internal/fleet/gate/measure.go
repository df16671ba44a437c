package gate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
)

const (
	// An agent that serves builds takes one at once. One of an earlier version does not, and builds when it measures.
	buildWithin = 5 * time.Second
	buildSoon   = time.Minute      // a host that only builds and has not begun by then is too busy: the card's host builds
	buildLong   = 30 * time.Minute // the same, if it has not ended by then
	takeWithin  = 55 * time.Second // a lease that is not taken by then goes to the next device: after 60 s with its build
	againWithin = 20 * time.Second // the same, for a measurement that is offered to its card again
	afterOutage = 2 * time.Minute  // the same, if it was the engine that was away: it needs time to recover, and the agent is there
	// An agent sends a heartbeat every 2 s. A shorter timeout would end measurements whenever the engine restarts, a
	// longer one would delay the next card.
	heartbeat = 30 * time.Second
)

// measure builds both sides and runs all rounds on the card of a lease, and returns the message that gives the lease
// back. If the agent is lost, the same card gets the same measurement once more: an agent that came back continues from
// its journal.
func (g *gate) measure(ctx workflow.Context, l placement.Lease) (job.Result, placement.Release, error) {
	start := workflow.Now(ctx)
	g.taken = false
	r, err := g.offer(ctx, l, start, takeWithin)
	if ctx.Err() == nil && timeoutOf(err) == enums.TIMEOUT_TYPE_HEARTBEAT {
		within := againWithin
		if engineWasAway(err, workflow.Now(ctx)) {
			within = afterOutage
		}
		r, err = g.offer(ctx, l, start, within)
	}
	give := placement.Release{Lease: l.Lease}
	if g.taken {
		give.Seconds = workflow.Now(ctx).Sub(start).Seconds()
	}
	if err != nil && ctx.Err() == nil && timeoutOf(err) != enums.TIMEOUT_TYPE_START_TO_CLOSE { // then the device did its part
		give.Failed, give.Lost = true, IsLost(err)
	}
	return r, give, err
}

// offer makes one attempt. The number of the attempt is recorded before it starts, so that a result of an earlier one
// can no longer be published. The first attempt on a card builds before it measures, unless a host that only builds did.
func (g *gate) offer(ctx workflow.Context, l placement.Lease, start time.Time, within time.Duration) (job.Result, error) {
	g.attempt++
	if err := g.note(ctx, Measuring, l.Device, ""); err != nil {
		return job.Result{}, err
	}
	if !g.taken && g.builds == "" && workflow.GetVersion(ctx, job.Build, workflow.DefaultVersion, 1) == 1 {
		if r, ended, err := g.build(ctx, l, start); ended {
			return r, err
		}
	}
	return g.do(ctx, false, l, start, within)
}

// build lets the host of a card build what it measures next, and reports whether that ended the attempt. It does if
// there is nothing to measure, because a side does not build or both are identical: then the result has documents. A
// build that fails in another way is left to the measurement, which builds what it does not find in the host's cache.
func (g *gate) build(ctx workflow.Context, l placement.Lease, start time.Time) (r job.Result, ended bool, err error) {
	r, err = g.do(ctx, true, l, start, buildWithin)
	late := timeoutOf(err)
	switch {
	case err == nil && r.Record != "", late == enums.TIMEOUT_TYPE_HEARTBEAT, late == enums.TIMEOUT_TYPE_START_TO_CLOSE:
		return r, true, err
	case ctx.Err() != nil:
		return r, true, ctx.Err()
	}
	return r, false, nil
}

// elsewhere lets a host that only builds build both sides, before a card is asked for. Only its builds are used: whatever
// else it says is found out again by the host of the card, which builds what it does not get.
func (g *gate) elsewhere(ctx workflow.Context, id string, host job.Host) error {
	lease := g.job(id, "", min(g.work.Seconds, int(buildLong.Seconds())))
	lease.Build, lease.Host = true, host
	r, err := g.execute(ctx, lease, buildSoon)
	if err == nil && job.IsDigest(r.Builds) {
		g.host, g.builds = host, r.Builds
	}
	return ctx.Err()
}

// job returns the lease of a device, as its agent gets it.
func (g *gate) job(id, device string, seconds int) job.Lease {
	return job.Lease{
		ID: id, Gate: g.work.Gate, Project: g.work.Project, Device: device, Attempt: g.attempt, Bundle: g.work.Bundle,
		Base: g.work.Base, Head: g.work.Head, Suite: g.work.Suite, Tier: g.work.Tier, Trust: g.work.Trust, Seconds: seconds,
		Host: g.host, Builds: g.builds,
	}
}

// do lets the agent of a card build or measure. All that it does for a lease together stays within what was reserved at
// start.
func (g *gate) do(ctx workflow.Context, build bool, l placement.Lease, start time.Time, within time.Duration) (job.Result, error) {
	seconds := max(1, g.work.Seconds-int(workflow.Now(ctx).Sub(start).Seconds()))
	lease := g.job(l.Lease, l.Device, seconds)
	lease.Build = build
	r, err := g.execute(ctx, lease, within)
	g.taken = g.taken || timeoutOf(err) != enums.TIMEOUT_TYPE_SCHEDULE_TO_START
	return r, err
}

// execute offers a lease at its queue and waits for the result.
func (g *gate) execute(ctx workflow.Context, lease job.Lease, within time.Duration) (job.Result, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              lease.Queue(),
		ScheduleToStartTimeout: within,
		StartToCloseTimeout:    time.Duration(lease.Seconds) * time.Second,
		HeartbeatTimeout:       heartbeat,
		WaitForCancellation:    true, // the card is idle when the agent says so
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		ActivityID:             g.activityID(lease.Activity()),
	})
	var r job.Result
	if err := workflow.ExecuteActivity(ctx, lease.Activity(), lease).Get(ctx, &r); err != nil {
		return job.Result{}, err
	}
	if r.Lease != lease.ID || r.Attempt != lease.Attempt {
		return job.Result{}, fmt.Errorf("device %s answered for lease %.100q, attempt %d, instead of %s, attempt %d", lease.Device, r.Lease, r.Attempt, lease.ID, lease.Attempt)
	}
	return r, nil
}

// activityID names an activity of an agent, so that its model can be read from outside.
func (g *gate) activityID(activity string) string {
	if g.child {
		return "" // the engine counts
	}
	return fmt.Sprintf("%s/%d/%s", activity, g.attempt, g.model)
}

// IsOf reports whether an activity of an agent belongs to the gate's part for a model, by its ID.
func IsOf(activityID, model string) bool { return strings.HasSuffix(activityID, "/"+model) }

// engineWasAway reports whether a heartbeat timeout was noticed so late that the engine itself was away. The time of the last
// beat is the agent's own. If its clock is slow, it only gets more time than it should.
func engineWasAway(err error, now time.Time) bool {
	var last job.Beat
	t, ok := errors.AsType[*temporal.TimeoutError](err)
	return ok && t.LastHeartbeatDetails(&last) == nil && !last.At.IsZero() && now.Sub(last.At) > 2*heartbeat
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
