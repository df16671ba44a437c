package gate

import (
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// together is the change after which one workflow runs a gate on all its models.
const together = "together"

// FanOut runs a gate on one or more models at once and returns one outcome for each, in their order.
func FanOut(ctx workflow.Context, work Work, models []string) ([]Outcome, error) {
	if workflow.GetVersion(ctx, together, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return apart(ctx, work, models)
	}
	granted := map[string]workflow.Channel{}
	list := make([]Outcome, len(models))
	parts := workflow.NewWaitGroup(ctx)
	for i, model := range models {
		c := workflow.NewBufferedChannel(ctx, maxLeases)
		granted[leasePrefix(work, model)] = c
		parts.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer parts.Done()
			g := &gate{work: work, model: model, granted: c}
			out, err := g.gate(ctx)
			list[i] = ended(ctx, out, model, err)
		})
	}
	workflow.Go(ctx, func(ctx workflow.Context) { deliver(ctx, granted) })
	parts.Wait(ctx)
	return list, ctx.Err()
}

// deliver passes each lease to the part that asked for it. A part that has no room has asked again, and does not need it.
func deliver(ctx workflow.Context, granted map[string]workflow.Channel) {
	leases := workflow.GetSignalChannel(ctx, placer.Granted)
	for {
		var l placement.Lease
		leases.Receive(ctx, &l)
		if c := granted[l.Lease[:max(0, strings.LastIndexByte(l.Lease, '-'))]]; c != nil {
			c.SendAsync(l)
		}
	}
}

// ended returns the outcome of a part that may have failed.
func ended(ctx workflow.Context, out Outcome, model string, err error) Outcome {
	switch {
	case err == nil:
		return out
	case ctx.Err() != nil:
		return Outcome{Model: model, State: Canceled}
	}
	return Outcome{Model: model, State: Failed, Reason: Reason(err)}
}

// maxPart is the longest time of a part with everything that it waits for.
const maxPart = 36 * time.Hour

// apart runs a gate that an earlier version started: each model has a workflow of its own.
func apart(ctx workflow.Context, work Work, models []string) ([]Outcome, error) {
	var parts []workflow.ChildWorkflowFuture
	for _, model := range models {
		part := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
			WorkflowID:               ID(work.Project, work.Gate) + "/" + model,
			WorkflowExecutionTimeout: maxPart,
			WaitForCancellation:      true,
			ParentClosePolicy:        enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		})
		parts = append(parts, workflow.ExecuteChildWorkflow(part, Name, work, model))
	}
	var list []Outcome
	for i, part := range parts {
		out := Outcome{}
		err := part.Get(ctx, &out)
		list = append(list, ended(ctx, out, models[i], err))
	}
	return list, ctx.Err()
}
