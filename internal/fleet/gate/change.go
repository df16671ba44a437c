package gate

import (
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// maxChange ends a gate that nothing else ended.
const maxChange = 48 * time.Hour

// Change gates a change in its newest state, and ends when the forge has said nothing new meanwhile. A new event cancels
// the gate of the one before it, which ends before the next one starts.
func Change(ctx workflow.Context) error {
	events := workflow.GetSignalChannel(ctx, Happened)
	var e Event
	events.Receive(ctx, &e)
	for {
		next, err := follow(ctx, e, events)
		for {
			var newer Event // an event decodes into a fresh value, because fields that it omits would keep the old ones
			if !events.ReceiveAsync(&newer) {
				break
			}
			next = &newer
		}
		if next == nil {
			return err
		}
		e = *next
	}
}

// follow carries out one event, and returns the newest one that arrived meanwhile; nil if none did.
func follow(ctx workflow.Context, e Event, events workflow.ReceiveChannel) (next *Event, err error) {
	work, cancel := workflow.WithCancel(ctx)
	defer cancel()
	done, set := workflow.NewFuture(ctx)
	workflow.Go(work, func(ctx workflow.Context) { set.Set(nil, gateEvent(ctx, e)) })
	ended := false
	s := workflow.NewSelector(ctx)
	s.AddFuture(done, func(f workflow.Future) { ended, err = true, f.Get(ctx, nil) })
	s.AddReceive(events, func(c workflow.ReceiveChannel, _ bool) {
		next = &Event{}
		c.Receive(ctx, next)
		cancel()
	})
	for !ended {
		s.Select(ctx)
	}
	return next, err
}

// gateEvent gates the state of a change that an event names. It ends early if a newer one cancels it.
func gateEvent(ctx workflow.Context, e Event) error {
	if e.Closed {
		return nil
	}
	last, _ := workflow.NewDisconnectedContext(ctx) // the forge is told although the gate was canceled
	var p Prepared
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, forgeOptions()), Prepare, e).Get(ctx, &p)
	switch {
	case err == nil && p.Skip != "":
		return nil
	case err == nil && ctx.Err() != nil:
		return neverStarted(last, e, p)
	case ctx.Err() != nil:
		return nil //nolint:nilerr // a newer event canceled it before anything was recorded or said
	case err != nil:
		return announce(last, Announcement{Event: e, Failed: Reason(err)})
	}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:               ID(p.Work.Project, p.Work.Gate),
		WorkflowExecutionTimeout: maxChange,
		WaitForCancellation:      true, // then the devices are idle
		ParentClosePolicy:        enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
	})
	a := Announcement{Event: e, Work: p.Work}
	err = workflow.ExecuteChildWorkflow(child, Several, p.Work, p.Models).Get(ctx, &a.Outcomes)
	switch {
	case ctx.Err() != nil:
		a.Outcomes, a.Superseded = nil, true
	case temporal.IsCanceledError(err):
		a.Outcomes, a.Failed = nil, "The gate was canceled."
	case err != nil:
		a.Outcomes, a.Failed = nil, Reason(err)
	}
	return announce(last, a)
}

// neverStarted ends a gate that was recorded, and canceled before its workflow started.
func neverStarted(ctx workflow.Context, e Event, p Prepared) error {
	server := workflow.WithActivityOptions(ctx, placer.ServerOptions())
	for _, model := range p.Models {
		note := Progress{Project: p.Work.Project, Gate: p.Work.Gate, Model: model, State: Canceled}
		if err := workflow.ExecuteActivity(server, Note, note).Get(ctx, nil); err != nil {
			return err
		}
	}
	return announce(ctx, Announcement{Event: e, Work: p.Work, Superseded: true})
}

func announce(ctx workflow.Context, a Announcement) error {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, forgeOptions()), Announce, a).Get(ctx, nil)
}

// forgeOptions are those of activities that wait for a forge, or copy from it. A forge may be away for hours. A pawld that ends
// without a word is missed after a minute.
func forgeOptions() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue: placer.Server, ScheduleToCloseTimeout: 24 * time.Hour, StartToCloseTimeout: 20 * time.Minute, HeartbeatTimeout: time.Minute,
		WaitForCancellation: true, // what it records must be known
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute},
	}
}
