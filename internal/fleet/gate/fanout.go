package gate

import (
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// together is the change after which one workflow runs a gate on all its models. Since its version 2 a gate may be built
// on a host that only builds.
const together = "together"

// FanOut runs a gate on one or more models at once and returns one outcome for each, in their order.
func FanOut(ctx workflow.Context, work Work, models []string) ([]Outcome, error) {
	version := workflow.GetVersion(ctx, together, workflow.DefaultVersion, 2)
	if version == workflow.DefaultVersion {
		return apart(ctx, work, models)
	}
	var parts []*part
	list := make([]Outcome, len(models))
	running := workflow.NewWaitGroup(ctx)
	for i, model := range models {
		p := &part{gate: &gate{work: work, model: model, ask: version >= 2}, leases: workflow.NewBufferedChannel(ctx, maxLeases)}
		p.granted = p.leases
		parts = append(parts, p)
		running.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer running.Done()
			out, err := p.gate.gate(ctx)
			p.ended, list[i] = true, outcome(ctx, out, model, err)
		})
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var l placement.Lease
			workflow.GetSignalChannel(ctx, placer.Granted).Receive(ctx, &l)
			deliver(ctx, parts, l)
		}
	})
	running.Wait(ctx)
	return list, ctx.Err()
}

// part is a gate on one of its models.
type part struct {
	*gate
	leases workflow.Channel
	ended  bool
}

// deliver passes a lease to the part that asked for it. One that has ended gives it back.
func deliver(ctx workflow.Context, parts []*part, l placement.Lease) {
	prefix := l.Lease[:max(0, strings.LastIndexByte(l.Lease, '-'))]
	for _, p := range parts {
		if leasePrefix(p.work, p.model) != prefix {
			continue
		}
		if p.ended {
			last, _ := workflow.NewDisconnectedContext(workflow.WithActivityOptions(ctx, placer.ServerOptions()))
			workflow.Go(last, func(ctx workflow.Context) {
				_ = p.tell(ctx, placer.Message{Withdraw: &placement.Withdraw{Lease: l.Lease}})
			})
			return
		}
		for !p.leases.SendAsync(l) { // those in it were sent again because the gate asked again
			p.leases.ReceiveAsync(&placement.Lease{})
		}
	}
}

// outcome returns that of a part that may have failed.
func outcome(ctx workflow.Context, out Outcome, model string, err error) Outcome {
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
		list = append(list, outcome(ctx, out, models[i], err))
	}
	return list, ctx.Err()
}
