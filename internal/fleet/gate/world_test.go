package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

const anything = "mock.Anything" // testify's name for an argument that is not compared

var (
	errLost      = temporal.NewHeartbeatTimeoutError()
	errNotServed = temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
	errTooLong   = temporal.NewTimeoutError(enums.TIMEOUT_TYPE_START_TO_CLOSE, nil)
)

// An answer is what happens to one attempt.
type answer struct {
	after time.Duration
	err   error
	stale bool          // the agent answers for the attempt before
	late  time.Duration // when the agent that was given up answers after all; 0 for never
	ends  bool          // a build that ends the gate
	exit  int           // without a round if it is not 0
}

// A world is a fleet in simulated time: the rules of placement, agents that answer as planned, and a database.
type world struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment

	mu       sync.Mutex
	state    placement.State
	devices  []string
	answers  []answer // of the attempts in their order; then they succeed after a minute
	current  answer
	builds   []answer    // of the builds in their order; without any, no agent serves builds
	built    []job.Lease // builds that an agent took
	building answer
	host     job.Host // for which a host that only builds is there; empty for none
	leases   []job.Lease
	notes    []Progress
	fences   map[string]*Fence
	made     []Publication
	refused  int
	released []placement.Release
	withdrew int
	asked    int // for which host it can be built elsewhere
}

var builtElsewhere = strings.Repeat("e", 64)

var testWork = Work{Gate: "G", Project: "p", Bundle: "b", Base: "base", Head: "head", Suite: "pawl.yaml", Seconds: 1800}

func newWorld(t *testing.T, devices []string, answers ...answer) *world {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(fleettest.Silent)
	w := &world{t: t, env: suite.NewTestWorkflowEnvironment(), devices: devices, answers: answers, fences: map[string]*Fence{}}
	w.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	w.env.SetTestTimeout(time.Minute)
	w.env.RegisterWorkflowWithOptions(Gate, workflow.RegisterOptions{Name: Name})
	w.env.RegisterWorkflowWithOptions(FanOut, workflow.RegisterOptions{Name: Several})
	for name, f := range map[string]any{Tell: w.tell, Note: w.note, Publish: w.publish, job.Measure: w.measure, job.Build: w.build} {
		w.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	w.env.OnActivity(job.Measure, anything, anything).Return(w.measure).AfterFn(w.delay)
	w.env.OnActivity(job.Build, anything, anything).Return(w.build).AfterFn(w.buildDelay)
	return w
}

// run runs the gate on one model.
func (w *world) run() (out Outcome, err error) {
	w.t.Helper()
	w.env.ExecuteWorkflow(Several, testWork, []string{"l4"})
	if !w.env.IsWorkflowCompleted() {
		w.t.Fatal("the gate did not end")
	}
	if err := w.env.GetWorkflowError(); err != nil {
		return out, err
	}
	var list []Outcome
	if err := w.env.GetWorkflowResult(&list); err != nil {
		return out, err
	}
	return list[0], nil
}

func (w *world) tell(_ context.Context, m ToPlacer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.env.Now()
	var table placement.Table
	for _, d := range w.devices {
		seen := now
		if w.lost(d) {
			seen = time.Time{}
		}
		table.Devices = append(table.Devices, placement.Device{ID: d, Host: d, Power: placement.Ready, Seen: seen})
	}
	granted, _ := w.state.Step(table, now)
	var e placement.Event
	switch {
	case m.Message.Ask != nil:
		e = *m.Message.Ask
	case m.Message.Withdraw != nil:
		w.withdrew++
		e = *m.Message.Withdraw
	case m.Message.Release != nil:
		w.released = append(w.released, *m.Message.Release)
		e = *m.Message.Release
	}
	more, _ := w.state.Step(e, now)
	for _, l := range append(granted, more...) {
		w.env.RegisterDelayedCallback(func() {
			if err := w.env.SignalWorkflowByID(l.Gate, placer.Granted, l); err != nil {
				w.env.SignalWorkflow(placer.Granted, l)
			}
		}, 100*time.Millisecond)
	}
	return nil
}

// lost reports whether the last lease of a device ended with the loss of its agent.
func (w *world) lost(device string) bool {
	lost := false
	for _, f := range w.state.Failed {
		lost = lost || f.Device == device && f.Lost
	}
	return lost && len(w.devices) > 1
}

func (w *world) note(_ context.Context, p Progress) (job.Host, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, p)
	w.fence(p.Model).Raise(p.Attempt)
	if !p.Ask {
		return job.Host{}, nil
	}
	w.asked++
	return w.host, nil
}

func (w *world) fence(model string) *Fence {
	if w.fences[model] == nil {
		w.fences[model] = &Fence{}
	}
	return w.fences[model]
}

func (w *world) publish(_ context.Context, p Publication) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh, err := w.fence(p.Model).Publish(p.Result.Attempt)
	if err != nil {
		w.refused++
		return temporal.NewNonRetryableApplicationError(err.Error(), Fenced, nil)
	}
	if fresh {
		w.made = append(w.made, p)
	}
	return nil
}

// delay takes the next answer and returns how long it takes.
func (w *world) delay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current = answer{after: time.Minute}
	if len(w.answers) > 0 {
		w.current, w.answers = w.answers[0], w.answers[1:]
	}
	return w.current.after
}

func (w *world) measure(_ context.Context, l job.Lease) (job.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases = append(w.leases, l)
	a := w.current
	r := job.Result{Lease: l.ID, Attempt: l.Attempt, Record: fmt.Sprint("record of ", l.Device), Rounds: 8}
	if a.stale {
		r.Attempt--
	}
	if a.exit != 0 {
		r.Exit, r.Rounds, r.Seconds = a.exit, 0, a.after.Seconds()
	}
	if a.late > 0 {
		w.env.RegisterDelayedCallback(func() {
			_ = w.publish(context.Background(), Publication{Gate: l.Gate, Commit: l.Head, Suite: l.Suite, Model: "l4", Result: r})
		}, a.late)
	}
	return r, a.err
}

func (w *world) buildDelay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.building = answer{err: errNotServed}
	if len(w.builds) > 0 {
		w.building, w.builds = w.builds[0], w.builds[1:]
	}
	return w.building.after
}

func (w *world) build(_ context.Context, l job.Lease) (job.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.building
	if !errors.Is(a.err, errNotServed) {
		w.built = append(w.built, l)
	}
	r := job.Result{Lease: l.ID, Attempt: l.Attempt}
	switch {
	case a.ends:
		r.Record, r.Exit = "record of a build", 1
	case l.Elsewhere():
		r.Builds = builtElsewhere
	}
	return r, a.err
}

func (w *world) attempts() []string {
	var list []string
	for _, l := range w.leases {
		list = append(list, fmt.Sprintf("%s %d on %s", l.ID, l.Attempt, l.Device))
	}
	return list
}
