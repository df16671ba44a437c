package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/goatnote-inc/pawl/internal/fleet/calibrate"
	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Calibrate starts a calibration of a device now. It does nothing if one is under way.
func (e *Engine) Calibrate(ctx context.Context, c calibrate.Card) error {
	_, err := e.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: calibrate.ID(c.Device), TaskQueue: placer.Server, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, calibrate.Name, c)
	if err != nil {
		return fmt.Errorf("cannot start a calibration of device %s: %w", c.Device, err)
	}
	return nil
}

// schedule starts the workflow that starts calibrations, if it does not run.
func (e *Engine) schedule(ctx context.Context) error {
	if e.o.Calibrate == 0 {
		return nil
	}
	_, err := e.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: calibrate.Scheduler, TaskQueue: placer.Server, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, calibrate.Scheduler)
	if _, started := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); err != nil && !started {
		return fmt.Errorf("cannot schedule calibrations: %w", err)
	}
	return nil
}

// seenWithin is how recently the agent of a device must have been heard for a calibration to make sense.
const seenWithin = 5 * time.Minute

// due returns the devices to calibrate now. Without fleet.calibrate there are none.
func (e *Engine) due(ctx context.Context) ([]calibrate.Card, error) {
	if e.o.Calibrate == 0 {
		return nil, nil
	}
	list, err := e.o.Fleet.Devices(ctx, "")
	var cards []calibrate.Card
	now := time.Now()
	for _, d := range list {
		once := d.Sleeps && !e.manages(d.Host) || d.Tier == tier.Unknown // a batch job and a host of unknown code carry out one lease
		if d.Power != placement.Ready || now.Sub(d.Seen) > seenWithin || once {
			continue
		}
		state := calibration.State{Quarantine: d.Quarantine, Since: d.Since}
		if why := state.Due(d.Last(), d.Driver, e.o.Calibrate, now); why != "" {
			e.o.Log.InfoContext(ctx, "calibrating a device", "device", d.ID, "why", why)
			cards = append(cards, calibrate.Card{Device: d.ID, Model: d.Model})
		}
	}
	return cards, err
}

// calibrated keeps a calibration. The placer is told if that changed what the device may be used for.
func (e *Engine) calibrated(ctx context.Context, c calibrate.Calibrated) error {
	before, after, err := e.o.Fleet.Calibrated(ctx, c.Device, c.Record)
	if errors.Is(err, pg.ErrNotFound) {
		return nil // it was removed meanwhile
	}
	if err != nil {
		return final(err)
	}
	switch {
	case before.Quarantine == "" && after.Quarantine != "":
		e.o.Log.WarnContext(ctx, "a device is in quarantine", "device", c.Device, "why", after.Quarantine)
	case before.Quarantine != "" && after.Quarantine == "":
		e.o.Log.InfoContext(ctx, "a device has left the quarantine", "device", c.Device)
	default:
		return nil
	}
	return e.Refresh(ctx, c.Model)
}
