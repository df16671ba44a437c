// Package calibrate contains the workflows of calibrations: finding the devices that are due, and measuring on one. It
// must not know the rule that judges a calibration, or where anything is kept.
package calibrate

import (
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// Names of workflows. The ID of the scheduler is its name.
const (
	Name      = "calibrate"
	Scheduler = "calibrations"
)

// ID returns the workflow ID of the calibration of a device.
func ID(device string) string { return Name + "/" + device }

// Names of the activities of pawld.
const (
	Due    = "due"        // the devices to calibrate now: () []Card
	Record = "calibrated" // keeps a calibration, and judges the device: (Calibrated)
)

// A Card is a device to calibrate.
type Card struct {
	Device string `json:"device"`
	Model  string `json:"model"`
}

// Calibrated is a calibration of a device.
type Calibrated struct {
	Device string             `json:"device"`
	Model  string             `json:"model"`
	Record calibration.Record `json:"record"`
}

const (
	lookEvery = 10 * time.Minute
	looks     = 100            // after which the scheduler continues in a new run
	seconds   = 900            // longest time of a calibration
	patience  = 24 * time.Hour // for the device: it may be busy

	takeWithin = 60 * time.Second
	heartbeat  = 30 * time.Second
)

// Schedule starts the calibrations that are due, until it is terminated.
func Schedule(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, placer.ServerOptions())
	for range looks {
		var due []Card
		if err := workflow.ExecuteActivity(ctx, Due).Get(ctx, &due); err != nil {
			return err
		}
		for _, c := range due {
			child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: ID(c.Device), ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON})
			started := workflow.ExecuteChildWorkflow(child, Name, c).GetChildWorkflowExecution()
			if err := started.Get(ctx, nil); err != nil && !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
				return err
			}
		}
		if err := workflow.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, Scheduler)
}

// Calibrate measures the agent's own kernel on one device. A device that is lost meanwhile is calibrated another time.
func Calibrate(ctx workflow.Context, c Card) error {
	ctx = workflow.WithActivityOptions(ctx, placer.ServerOptions())
	last, _ := workflow.NewDisconnectedContext(ctx) // the card is given back even if the calibration is canceled
	seed := uint64(workflow.Now(ctx).UnixMicro())
	id := fmt.Sprintf("calibrate-%s-%d", c.Device, seed)
	tell := func(ctx workflow.Context, m placer.Message) error {
		return workflow.ExecuteActivity(ctx, gate.Tell, gate.ToPlacer{Model: c.Model, Message: m}).Get(ctx, nil)
	}
	ask := placement.Request{Lease: id, Gate: workflow.GetInfo(ctx).WorkflowExecution.ID, Only: c.Device, Seconds: seconds}
	if err := tell(ctx, placer.Message{Ask: &placement.Ask{Request: ask}}); err != nil {
		return err
	}
	var lease placement.Lease
	for end := workflow.Now(ctx).Add(patience); lease.Lease != id; { // a lease of an earlier calibration may still arrive
		ok, _ := workflow.GetSignalChannel(ctx, placer.Granted).ReceiveWithTimeout(ctx, end.Sub(workflow.Now(ctx)), &lease)
		if !ok || ctx.Err() != nil {
			return tell(last, placer.Message{Withdraw: &placement.Withdraw{Lease: id}})
		}
	}
	result, give := measure(ctx, lease, seed)
	if err := tell(last, placer.Message{Release: &give}); err != nil || ctx.Err() != nil {
		return err
	}
	return workflow.ExecuteActivity(ctx, Record, Calibrated{c.Device, c.Model, result}).Get(ctx, nil)
}

// measure runs the calibration on the card of a lease, and returns the message that gives the lease back.
func measure(ctx workflow.Context, l placement.Lease, seed uint64) (calibration.Record, placement.Release) {
	start := workflow.Now(ctx)
	work := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: job.Queue(l.Device), ScheduleToStartTimeout: takeWithin, StartToCloseTimeout: seconds * time.Second, HeartbeatTimeout: heartbeat,
		WaitForCancellation: true, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	var r job.Result
	err := workflow.ExecuteActivity(work, job.Measure, job.Lease{ID: l.Lease, Device: l.Device, Attempt: 1, Seconds: seconds, Calibrate: seed}).Get(ctx, &r)
	give := placement.Release{Lease: l.Lease, Seconds: workflow.Now(ctx).Sub(start).Seconds()}
	if err == nil && r.Lease != l.Lease {
		err = fmt.Errorf("device %s answered for lease %.100q", l.Device, r.Lease)
	}
	if err == nil {
		err = r.Calibration.Check()
	}
	if err != nil {
		give.Failed, give.Lost = true, gate.IsLost(err)
		r.Calibration = calibration.Record{Error: clip(gate.Reason(err))}
	}
	r.Calibration.At, r.Calibration.Seed = workflow.Now(ctx), seed // not the agent's clock
	return r.Calibration, give
}

// clip bounds the words of an agent.
func clip(text string) string { return string([]rune(text[:min(len(text), 400)])) }
