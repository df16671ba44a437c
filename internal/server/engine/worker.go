package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/calibrate"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/hosts"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Work runs workflows and activities until ctx ends. While Temporal cannot be reached, it tries again.
func (e *Engine) Work(ctx context.Context) {
	for {
		err := e.work(ctx)
		if ctx.Err() != nil {
			return
		}
		e.o.Log.WarnContext(ctx, "gates wait: cannot work for Temporal", "address", e.o.Address, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Second):
		}
	}
}

func (e *Engine) work(ctx context.Context) error {
	failed := make(chan error, 1)
	w := worker.New(e.client, placer.Server, worker.Options{
		WorkerStopTimeout: 10 * time.Second,
		OnFatalError:      func(err error) { failed <- err },
	})
	e.register(w)
	if err := w.Start(); err != nil {
		return fmt.Errorf("cannot start a worker: %w", err)
	}
	defer w.Stop()
	if err := errors.Join(e.schedule(ctx), e.chooseHosts(ctx)); err != nil {
		return err
	}
	e.o.Log.InfoContext(ctx, "working for Temporal", "address", e.o.Address, "namespace", e.o.Namespace)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-time.After(time.Minute):
			e.keepHosts(ctx)
			if err := e.schedule(ctx); err != nil {
				e.o.Log.WarnContext(ctx, "no calibrations start", "error", err)
			}
		}
	}
}

// registry is a worker or a test.
type registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

func (e *Engine) register(r registry) {
	r.RegisterWorkflowWithOptions(gate.Gate, workflow.RegisterOptions{Name: gate.Name})
	r.RegisterWorkflowWithOptions(gate.FanOut, workflow.RegisterOptions{Name: gate.Several})
	r.RegisterWorkflowWithOptions(gate.Change, workflow.RegisterOptions{Name: gate.ChangeName})
	r.RegisterWorkflowWithOptions(placer.Placer, workflow.RegisterOptions{Name: placer.Name})
	r.RegisterWorkflowWithOptions(calibrate.Calibrate, workflow.RegisterOptions{Name: calibrate.Name})
	r.RegisterWorkflowWithOptions(calibrate.Schedule, workflow.RegisterOptions{Name: calibrate.Scheduler})
	r.RegisterWorkflowWithOptions(hosts.Hosts, workflow.RegisterOptions{Name: hosts.Name})
	for name, f := range map[string]any{
		gate.Tell: e.tell, gate.Note: e.note, gate.Publish: e.publish, gate.Prepare: e.prepare, gate.Announce: e.announce,
		placer.Devices: e.devices, placer.Reserve: e.reserve, placer.Settle: e.settle,
		calibrate.Due: e.due, calibrate.Record: e.calibrated, hosts.Look: e.demand, hosts.Run: e.command,
	} {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// project returns the number of a project. One that was deleted fails the activity for good.
func (e *Engine) project(ctx context.Context, slug string) (int64, error) {
	id, err := e.o.Project(ctx, slug)
	if errors.Is(err, pg.ErrNotFound) {
		return 0, temporal.NewNonRetryableApplicationError("project "+slug+" does not exist", "project", err)
	}
	return id, err
}

// note records the progress of a gate. If it asks, the answer is the host for which it can be built elsewhere.
func (e *Engine) note(ctx context.Context, p gate.Progress) (job.Host, error) {
	id, err := e.project(ctx, p.Project)
	if err == nil {
		err = e.o.Fleet.Note(ctx, id, p)
	}
	if err != nil || !p.Ask {
		return job.Host{}, final(err)
	}
	return e.o.Fleet.Builder(ctx, p.Model, p.Tier, time.Now().Add(-fleetstore.AwakeFor))
}

func (e *Engine) publish(ctx context.Context, p gate.Publication) error {
	id, err := e.project(ctx, p.Project)
	if err != nil {
		return err
	}
	return final(e.o.Fleet.Publish(ctx, id, p))
}

func (e *Engine) prepare(ctx context.Context, event gate.Event) (gate.Prepared, error) {
	if e.o.Changes == nil {
		return gate.Prepared{}, errNoForge
	}
	if err := e.room(ctx, event.Project); err != nil {
		return gate.Prepared{}, err
	}
	var p gate.Prepared
	err := beating(ctx, func(ctx context.Context) (err error) {
		p, err = e.o.Changes.Prepare(ctx, event)
		return err
	})
	if p.Skip != "" {
		e.o.Log.InfoContext(ctx, "a change is not gated", "project", event.Project, "pull", event.Pull, "head", event.Head, "why", p.Skip)
	}
	return p, final(err)
}

// room returns an error if the queue of a model that a project gates on is full. The change is prepared when it is not.
func (e *Engine) room(ctx context.Context, slug string) error {
	id, err := e.o.Project(ctx, slug)
	var g fleetstore.Gated
	if err == nil {
		g, err = e.o.Fleet.Gated(ctx, id)
	}
	if errors.Is(err, pg.ErrNotFound) {
		return nil // it gates nothing any more, which Prepare says
	}
	if err != nil {
		return err
	}
	return roomFor(ctx, slices.Concat(g.Models, g.ForkModels), e.Queue)
}

func roomFor(ctx context.Context, models []string, queue func(context.Context, string) (placer.View, error)) error {
	for _, model := range models {
		v, err := queue(ctx, model)
		if err == nil {
			err = v.Full(model)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) announce(ctx context.Context, a gate.Announcement) error {
	if e.o.Changes == nil {
		return errNoForge
	}
	return final(beating(ctx, func(ctx context.Context) error { return e.o.Changes.Announce(ctx, a) }))
}

// beating carries out an activity and sends its heartbeats. A cancel does not reach it, because it may already have recorded
// something. When the worker stops, it ends, and another worker repeats it.
func beating(ctx context.Context, do func(context.Context) error) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		for {
			activity.RecordHeartbeat(ctx)
			select {
			case <-work.Done():
				return
			case <-activity.GetWorkerStopChannel(ctx):
				cancel()
				return
			case <-time.After(10 * time.Second):
			}
		}
	}()
	return do(work)
}

// errNoForge is retried, because another pawld of the fleet may have the credentials.
var errNoForge = errors.New("this pawld has no credentials of a forge")

// final keeps an activity from being tried again if its outcome would be the same.
func final(err error) error {
	var kind string
	switch {
	case is[*forge.InputError](err), is[*pg.InvalidError](err): // an agent may send what cannot be stored
		kind = "input"
	case is[*fleetstore.FencedError](err):
		kind = gate.Fenced
	case errors.Is(err, pg.ErrNotFound): // the database was restored from a backup that is older
		kind = "missing"
	default:
		return err
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), kind, nil)
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

func (e *Engine) devices(ctx context.Context, model string) ([]placement.Device, error) {
	list, err := e.o.Fleet.Devices(ctx, model)
	devices := make([]placement.Device, len(list))
	for i, d := range list {
		devices[i] = d.Device
	}
	return devices, err
}

// reserve refuses a lease of a deleted project until the next day; its gate fails before that.
func (e *Engine) reserve(ctx context.Context, r placer.Reservation) (placer.Reserved, error) {
	id, err := e.o.Project(ctx, r.Project)
	if errors.Is(err, pg.ErrNotFound) {
		return placer.Reserved{Until: placement.Until(r.Start)}, nil
	}
	if err != nil {
		return placer.Reserved{}, err
	}
	return e.o.Fleet.Reserve(ctx, id, r)
}

func (e *Engine) settle(ctx context.Context, s placer.Settlement) error {
	id, err := e.o.Project(ctx, s.Project)
	if errors.Is(err, pg.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.o.Fleet.Settle(ctx, id, s)
}
