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
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

const (
	maxLeases = 5                // cards that a gate tries
	patience  = 24 * time.Hour   // for all leases together
	askAgain  = 10 * time.Minute // a request is repeated, in case that the placer was terminated
)

// ToPlacer is a message to the placer of a model.
type ToPlacer struct {
	Model   string         `json:"model"`
	Message placer.Message `json:"message"`
}

// gate is the part of a gate for one model.
type gate struct {
	work    Work
	model   string
	granted workflow.ReceiveChannel // leases from the placer
	child   bool                    // it has a workflow of its own, as in an earlier version
	ask     bool                    // it may be built elsewhere; earlier versions did not ask
	host    job.Host                // for which builds were made elsewhere
	builds  string                  // digest of their archive; empty if there are none
	attempt int                     // counts measurements over all cards
	taken   bool                    // the agent of the card took the build or the measurement of the lease
}

// Gate is the workflow that gates of an earlier version start for each model.
func Gate(ctx workflow.Context, work Work, model string) (Outcome, error) {
	g := &gate{work: work, model: model, granted: workflow.GetSignalChannel(ctx, placer.Granted), child: true}
	return g.gate(ctx)
}

// gate measures on one card of the model and publishes the result. A card that is lost in between is offered the same
// measurement once more; then another one starts anew.
func (g *gate) gate(ctx workflow.Context) (Outcome, error) {
	ctx = workflow.WithActivityOptions(ctx, placer.ServerOptions())
	out, err := g.run(ctx)
	if out.State == Done {
		return out, err
	}
	// What follows must happen although the gate was canceled.
	last, _ := workflow.NewDisconnectedContext(ctx)
	out = Outcome{Model: g.model, State: Failed, Reason: Reason(err)}
	if ctx.Err() != nil {
		out.State, out.Reason = Canceled, ""
	}
	if noted := g.note(last, out.State, "", out.Reason); noted != nil {
		return out, noted
	}
	if out.State == Canceled {
		return out, ctx.Err()
	}
	return out, nil
}

// run tries cards until one has measured.
func (g *gate) run(ctx workflow.Context) (Outcome, error) {
	last, _ := workflow.NewDisconnectedContext(ctx) // a card is given back and a result is published even if the gate is canceled
	var failed error
	for n := range maxLeases {
		id := fmt.Sprintf("%s-%d", leasePrefix(g.work, g.model), n+1)
		if err := g.begin(ctx, id); err != nil {
			return Outcome{}, err
		}
		lease, err := g.lease(ctx, id)
		if err != nil {
			return Outcome{}, err
		}
		result, give, err := g.measure(ctx, lease)
		unable := err == nil && n == 0 && g.cannot(ctx, result)
		give.Failed = give.Failed || unable
		if told := g.tell(last, placer.Message{Release: &give}); told != nil {
			return Outcome{}, told
		}
		switch {
		case unable:
			continue
		case err == nil:
			return g.publish(last, lease.Device, result)
		}
		if ctx.Err() != nil || timeoutOf(err) == enums.TIMEOUT_TYPE_START_TO_CLOSE {
			return Outcome{}, err // another card would not be faster
		}
		failed = err
	}
	return Outcome{}, fmt.Errorf("%d devices failed, the last one: %w", maxLeases, failed)
}

// cannot reports whether a host could not measure at all, such as one without the sandbox or a compiler. It ends gates so soon that it would get
// the next ones, too. The change itself may be the cause, so a gate asks only one more host, and none if it took most of its time.
func (g *gate) cannot(ctx workflow.Context, r job.Result) bool {
	return r.Exit == job.ExitCannot && r.Rounds == 0 && r.Seconds < float64(g.work.Seconds)/2 && workflow.GetVersion(ctx, "cannot", workflow.DefaultVersion, 1) == 1
}

// leasePrefix returns what the names of the leases of a gate on a model begin with; a dash and a number follow.
func leasePrefix(w Work, model string) string { return w.Project + "-" + w.Gate + "-" + model }

// begin records that the gate waits for a device. Before the first one, a host that only builds may build both sides.
func (g *gate) begin(ctx workflow.Context, id string) error {
	noted := g.noting(ctx, Waiting, "", "")
	if !g.ask {
		return noted.Get(ctx, nil)
	}
	g.ask = false
	var host job.Host
	if err := noted.Get(ctx, &host); err != nil || host.Tools == "" {
		return err
	}
	return g.elsewhere(ctx, id, host)
}

// lease asks the placer for a device and waits for the answer.
func (g *gate) lease(ctx workflow.Context, id string) (placement.Lease, error) {
	request := placer.Message{Ask: &placement.Ask{Request: placement.Request{
		Lease: id, Gate: workflow.GetInfo(ctx).WorkflowExecution.ID, Project: g.work.Project, Tier: g.work.Tier,
		Priority: g.work.Priority, Seconds: g.work.Seconds,
	}}}
	end := workflow.GetInfo(ctx).WorkflowStartTime.Add(patience)
	if g.child {
		end = workflow.Now(ctx).Add(patience)
	}
	var err error
	for {
		if err = g.tell(ctx, request); err != nil {
			break
		}
		for ok := true; ok; { // leases of earlier requests may still arrive
			var l placement.Lease
			if ok, _ = g.granted.ReceiveWithTimeout(ctx, askAgain, &l); ok && l.Lease == id {
				return l, nil
			}
		}
		if err = ctx.Err(); err != nil {
			break
		}
		if !workflow.Now(ctx).Before(end) {
			err = fmt.Errorf("no device of model %s was free within %v", g.model, patience)
			break
		}
	}
	last, _ := workflow.NewDisconnectedContext(ctx)
	return placement.Lease{}, errors.Join(err, g.tell(last, placer.Message{Withdraw: &placement.Withdraw{Lease: id}}))
}

func (g *gate) tell(ctx workflow.Context, m placer.Message) error {
	return workflow.ExecuteActivity(ctx, Tell, ToPlacer{g.model, m}).Get(ctx, nil)
}

// note records how far the gate is. Unless it measures, no earlier attempt may publish any more.
func (g *gate) note(ctx workflow.Context, s State, device, reason string) error {
	return g.noting(ctx, s, device, reason).Get(ctx, nil)
}

func (g *gate) noting(ctx workflow.Context, s State, device, reason string) workflow.Future {
	p := Progress{Project: g.work.Project, Gate: g.work.Gate, Model: g.model, State: s, Device: device, Attempt: g.attempt, Reason: reason}
	if s != Measuring {
		p.Attempt++
	}
	if g.ask {
		p.Ask, p.Tier = true, g.work.Tier
	}
	return workflow.ExecuteActivity(ctx, Note, p)
}

func (g *gate) publish(ctx workflow.Context, device string, r job.Result) (Outcome, error) {
	err := workflow.ExecuteActivity(ctx, Publish, Publication{
		Project: g.work.Project, Gate: g.work.Gate, Commit: g.work.Head, Suite: g.work.Suite, Model: g.model, Device: device, Result: r,
	}).Get(ctx, nil)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Model: g.model, Device: device, State: Done, Result: r}, nil
}

// Reason returns the words of the innermost error, without those that the engine adds.
func Reason(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Message()
	}
	if err == nil {
		return ""
	}
	return err.Error()
}
