// Package engine connects pawld to Temporal. It starts and cancels gates, runs their workflows and pawld's own activities,
// and prepares and checks a namespace. It must not know how requests arrive.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// Options says where Temporal is and what the activities use.
type Options struct {
	Address   string // HOST:PORT of Temporal's frontend
	Namespace string
	Log       *slog.Logger

	Calibrate time.Duration // time between two calibrations of a device; 0 for none
	Hosts     *wake.Config  // hosts that are started and stopped; nil for none

	Fleet   *fleetstore.Store                                            // nil if only Setup and Check are used
	Project func(ctx context.Context, slug string) (id int64, err error) // returns an error that wraps pg.ErrNotFound if there is none
	Changes Changes                                                      // nil if no forge reports changes
}

// Changes fetches changes that a forge reports, and tells the forge how their gates ended. A [forge.InputError] is final.
type Changes interface {
	Prepare(ctx context.Context, e gate.Event) (gate.Prepared, error)
	Announce(ctx context.Context, a gate.Announcement) error
}

// Engine is a connection to Temporal. It connects when it is used first, so that pawld starts without Temporal.
type Engine struct {
	o      Options
	client client.Client
}

// maxReconnect is the longest pause before pawld connects to Temporal again. Heartbeats of agents pass through this connection, and
// one that is 30 s late ends an attempt. The SDK's own limit of 10 s would let that happen after an outage of 20 s.
const maxReconnect = 2 * time.Second

// New returns an engine that is not connected yet.
func New(o Options) (*Engine, error) {
	again := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 20 * time.Second}
	again.Backoff.BaseDelay, again.Backoff.MaxDelay = 200*time.Millisecond, maxReconnect
	c, err := client.NewLazyClient(client.Options{
		HostPort: o.Address, Namespace: o.Namespace, Logger: log.NewStructuredLogger(o.Log), Identity: "pawld",
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithConnectParams(again)}},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot use Temporal at %s: %w", o.Address, err)
	}
	return &Engine{o, c}, nil
}

// Close ends the connection.
func (e *Engine) Close() { e.client.Close() }

// Service returns the requests of Temporal, for the gateway of agents.
func (e *Engine) Service() workflowservice.WorkflowServiceClient { return e.client.WorkflowService() }

// maxGate ends a gate that nothing else ended.
const maxGate = 48 * time.Hour

// projectAttribute is the search attribute with the project of a gate.
var projectAttribute = temporal.NewSearchAttributeKeyKeyword("PawlProject")

// Start starts a gate on one or more models. Starting it again changes nothing.
func (e *Engine) Start(ctx context.Context, w gate.Work, models []string) error {
	_, err := e.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: gate.ID(w.Project, w.Gate), TaskQueue: placer.Server, WorkflowExecutionTimeout: maxGate,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		TypedSearchAttributes: temporal.NewSearchAttributes(projectAttribute.ValueSet(w.Project)),
	}, gate.Several, w, models)
	if _, started := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); started {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot start gate %s: %w", w.Gate, err)
	}
	return nil
}

// Cancel asks a gate to end. It returns nil if the gate has ended or does not exist.
func (e *Engine) Cancel(ctx context.Context, project, id string) error {
	if err := e.client.CancelWorkflow(ctx, gate.ID(project, id), ""); err != nil && !isNotFound(err) {
		return fmt.Errorf("cannot cancel gate %s: %w", id, err)
	}
	return nil
}

// Follow passes on what a forge says of a change. A gate of it that is under way is canceled.
func (e *Engine) Follow(ctx context.Context, change string, event gate.Event) error {
	id := gate.ChangeID(event.Project, change)
	_, err := e.client.SignalWithStartWorkflow(ctx, id, gate.Happened, event, client.StartWorkflowOptions{
		ID: id, TaskQueue: placer.Server, TypedSearchAttributes: temporal.NewSearchAttributes(projectAttribute.ValueSet(event.Project)),
	}, gate.ChangeName)
	if err != nil {
		return fmt.Errorf("cannot follow %s: %w", change, err)
	}
	return nil
}

// Queue returns the devices, leases and queue of a model. It is empty if the model was never asked for.
func (e *Engine) Queue(ctx context.Context, model string) (v placer.View, err error) {
	answer, err := e.client.QueryWorkflow(ctx, placer.ID(model), "", placer.Shown)
	if isNotFound(err) {
		return v, nil
	}
	if err == nil {
		err = answer.Get(&v)
	}
	if err != nil {
		return v, fmt.Errorf("cannot ask the placer of model %s: %w", model, err)
	}
	return v, nil
}

// Beat returns what the last heartbeat said of the build or the measurement of a gate on a model. It is zero if none runs.
func (e *Engine) Beat(ctx context.Context, project, id, model string) (b job.Beat, err error) {
	d, err := e.client.DescribeWorkflowExecution(ctx, gate.ID(project, id), "")
	if isNotFound(err) {
		return b, nil
	}
	if err != nil {
		return b, fmt.Errorf("cannot read the progress of gate %s: %w", id, err)
	}
	for _, a := range d.GetPendingActivities() {
		if !gate.IsOf(a.GetActivityId(), model) || a.GetHeartbeatDetails() == nil {
			continue
		}
		if converter.GetDefaultDataConverter().FromPayloads(a.GetHeartbeatDetails(), &b) != nil {
			b = job.Beat{} // an agent's words: not worth an error
		}
	}
	return b, nil
}

// Refresh asks the placer of a model to read the table of devices.
func (e *Engine) Refresh(ctx context.Context, model string) error {
	return e.tell(ctx, gate.ToPlacer{Model: model, Message: placer.Message{Refresh: true}})
}

// tell sends a message to a placer, and starts it if it does not run.
func (e *Engine) tell(ctx context.Context, m gate.ToPlacer) error {
	_, err := e.client.SignalWithStartWorkflow(ctx, placer.ID(m.Model), placer.Inbox, m.Message,
		client.StartWorkflowOptions{ID: placer.ID(m.Model), TaskQueue: placer.Server}, placer.Name, m.Model, placement.State{})
	return err
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*serviceerror.NotFound](err)
	return ok
}
