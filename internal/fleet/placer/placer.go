package placer

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
)

// refreshEvery is how old the table of devices may be when a lease is granted.
const refreshEvery = 15 * time.Second

// maxEvents is the length of a history after which a placer continues in a new run.
const maxEvents = 3000

// ServerOptions returns the options of an activity of pawld: it is retried until it succeeds.
func ServerOptions() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue: Server, StartToCloseTimeout: 30 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second},
	}
}

// shortly is the change after which a placer keeps a budget within its own tasks, and does not wait until a gate has got its
// lease.
const shortly = "shortly"

// placer is one run of the workflow.
type placer struct {
	model     string
	state     placement.State
	refreshed time.Time
	sending   int // leases on their way to a gate
	turn      workflow.Mutex
}

// Placer hands out the devices of a model until it is terminated. state is that of the run before it.
func Placer(ctx workflow.Context, model string, state placement.State) error {
	p := &placer{model: model, state: state, turn: workflow.NewMutex(ctx)}
	ctx = workflow.WithActivityOptions(ctx, ServerOptions())
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: budgetWithin, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	err := workflow.SetQueryHandler(ctx, Shown, func() (View, error) {
		return View{p.state.Devices, p.state.Leases, p.state.Queue(workflow.Now(ctx))}, nil
	})
	if err != nil {
		return fmt.Errorf("cannot answer queries: %w", err)
	}
	inbox := workflow.GetSignalChannel(ctx, Inbox)
	for ctx.Err() == nil {
		var m Message
		got, _ := inbox.ReceiveWithTimeout(ctx, p.wait(workflow.Now(ctx)), &m)
		for got {
			if err := p.alone(ctx, func() error { return p.receive(ctx, m) }); err != nil {
				return err
			}
			m = Message{}
			got = inbox.ReceiveAsync(&m)
		}
		if err := p.alone(ctx, func() error { return p.tick(ctx) }); err != nil {
			return err
		}
		if inbox.Len() == 0 && p.sending == 0 && isLong(ctx) {
			return workflow.NewContinueAsNewError(ctx, Name, p.model, p.state)
		}
	}
	return ctx.Err()
}

// alone does something while nothing else changes the state.
func (p *placer) alone(ctx workflow.Context, do func() error) error {
	if err := p.turn.Lock(ctx); err != nil {
		return err
	}
	defer p.turn.Unlock()
	return do()
}

// isLong reports whether this run should end.
func isLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > maxEvents
}

// wait returns how long nothing has to happen without a message.
func (p *placer) wait(now time.Time) time.Duration {
	wait := 24 * time.Hour
	if len(p.state.Requests) > 0 {
		wait = refreshEvery
	}
	if next := p.state.Next(); !next.IsZero() {
		wait = min(wait, next.Sub(now))
	}
	return max(wait, time.Second)
}

func (p *placer) receive(ctx workflow.Context, m Message) error {
	switch {
	case m.Ask != nil:
		if err := p.refresh(ctx); err != nil {
			return err
		}
		return p.step(ctx, *m.Ask)
	case m.Withdraw != nil:
		return p.release(ctx, m.Withdraw.Lease, 0, *m.Withdraw)
	case m.Release != nil:
		return p.release(ctx, m.Release.Lease, m.Release.Seconds, *m.Release)
	case m.Refresh:
		p.refreshed = time.Time{}
	}
	return nil
}

// release settles a lease, then lets the rules free it. One that is only asked for may have been reserved by a task that was lost.
func (p *placer) release(ctx workflow.Context, lease string, seconds float64, e placement.Event) error {
	for _, r := range p.state.Requests {
		if r.Lease == lease && !isOld(ctx) {
			if err := settle(ctx, placement.Lease{Request: r}, 0); err != nil {
				return err
			}
		}
	}
	for _, l := range p.state.Leases {
		if l.Lease == lease {
			if err := settle(ctx, l, seconds); err != nil {
				return err
			}
		}
	}
	return p.step(ctx, e)
}

// settle returns what a lease did not use. A calibration belongs to no project and has no budget.
func settle(ctx workflow.Context, l placement.Lease, seconds float64) error {
	if l.Project == "" {
		return nil
	}
	return budget(ctx, nil, Settle, Settlement{l.Lease, l.Project, min(seconds, float64(l.Seconds))})
}

// budgetWithin is how long a local activity may take. It blocks the placer's task.
const budgetWithin = 5 * time.Second

// budget runs an activity about a budget. It takes a millisecond, so it is not worth a task of its own, unless the database is
// away. Both are safe to repeat.
func budget(ctx workflow.Context, result any, activity string, arg any) error {
	if !isOld(ctx) && workflow.ExecuteLocalActivity(ctx, activity, arg).Get(ctx, result) == nil {
		return nil
	}
	return workflow.ExecuteActivity(ctx, activity, arg).Get(ctx, result)
}

// isOld reports whether this run of the placer was started by an earlier version.
func isOld(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, shortly, workflow.DefaultVersion, 1) == workflow.DefaultVersion
}

// tick lets the rules see the time. While requests wait, the table of devices stays fresh.
func (p *placer) tick(ctx workflow.Context) error {
	if len(p.state.Requests) > 0 {
		if err := p.refresh(ctx); err != nil {
			return err
		}
	}
	return p.step(ctx, placement.Tick{})
}

// refresh reads the table of devices if it is old.
func (p *placer) refresh(ctx workflow.Context) error {
	now := workflow.Now(ctx)
	if now.Sub(p.refreshed) < refreshEvery {
		return nil
	}
	p.refreshed = now
	var table placement.Table
	if err := workflow.ExecuteActivity(ctx, Devices, p.model).Get(ctx, &table.Devices); err != nil {
		return err
	}
	return p.step(ctx, table)
}

// step applies an event and everything that follows from it.
func (p *placer) step(ctx workflow.Context, e placement.Event) error {
	for events := []placement.Event{e}; len(events) > 0; events = events[1:] {
		granted, expired := p.state.Step(events[0], workflow.Now(ctx))
		for _, l := range expired {
			if err := settle(ctx, l, float64(l.Seconds)); err != nil {
				return err
			}
		}
		for _, l := range granted {
			next, err := p.grant(ctx, l)
			if err != nil {
				return err
			}
			if next != nil {
				events = append(events, next)
			}
		}
	}
	return nil
}

// grant reserves the cost of a lease and sends it to its gate. If the cost is refused, it returns the event that takes the
// lease back; if the gate is gone, that event follows.
func (p *placer) grant(ctx workflow.Context, l placement.Lease) (placement.Event, error) {
	r := Reserved{OK: true}
	if l.Project != "" {
		if err := budget(ctx, &r, Reserve, Reservation{l.Lease, l.Project, l.Cost(), l.Start}); err != nil {
			return nil, err
		}
	}
	if !r.OK {
		return placement.Refuse{Lease: l.Lease, Until: r.Until}, nil
	}
	sent := workflow.SignalExternalWorkflow(ctx, l.Gate, "", Granted, l)
	if isOld(ctx) || isLong(ctx) { // a run that ended now would lose it
		return received(ctx, l, sent)
	}
	p.sending++
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer func() { p.sending-- }()
		if sent.Get(ctx, nil) == nil {
			return
		}
		err := p.alone(ctx, func() error {
			next, err := received(ctx, l, sent)
			if err != nil {
				return err
			}
			return p.step(ctx, next)
		})
		if err != nil {
			workflow.GetLogger(ctx).Warn("a lease stays until it expires", "lease", l.Lease, "error", err)
		}
	})
	return nil, nil
}

// received waits until a gate has got its lease. If the gate is gone, it returns the event that takes the lease back.
func received(ctx workflow.Context, l placement.Lease, sent workflow.Future) (placement.Event, error) {
	err := sent.Get(ctx, nil)
	if err == nil {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	workflow.GetLogger(ctx).Info("the gate is gone", "gate", l.Gate, "error", err)
	return placement.Withdraw{Lease: l.Lease}, settle(ctx, l, 0)
}
