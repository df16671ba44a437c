package calibrate

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// A world is a calibration in simulated time, with the parts of pawld and an agent.
type world struct {
	env *testsuite.TestWorkflowEnvironment

	mu       sync.Mutex
	grants   bool
	due      [][]Card
	answer   func(job.Lease) (job.Result, error)
	asked    []placement.Request
	released []placement.Release
	withdrew int
	records  []Calibrated
}

func newWorld(t *testing.T) *world {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(fleettest.Silent)
	w := &world{env: suite.NewTestWorkflowEnvironment(), grants: true, answer: good}
	w.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	w.env.SetTestTimeout(time.Minute)
	w.env.RegisterWorkflowWithOptions(Calibrate, workflow.RegisterOptions{Name: Name})
	w.env.RegisterWorkflowWithOptions(Schedule, workflow.RegisterOptions{Name: Scheduler})
	for name, f := range map[string]any{
		gate.Tell: w.tell,
		job.Measure: func(_ context.Context, l job.Lease) (job.Result, error) {
			return w.answer(l)
		},
		Record: func(_ context.Context, c Calibrated) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.records = append(w.records, c)
			return nil
		},
		Due: func(context.Context) ([]Card, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if len(w.due) == 0 {
				return nil, nil
			}
			next := w.due[0]
			w.due = w.due[1:]
			return next, nil
		},
	} {
		w.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	return w
}

func good(l job.Lease) (job.Result, error) {
	return job.Result{Lease: l.ID, Attempt: l.Attempt, Calibration: calibration.Record{Rounds: 8, Noise: 0.01, Smallest: 0.02, Planted: 0.0625, Found: true, Seed: 99}}, nil
}

func (w *world) tell(_ context.Context, m gate.ToPlacer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case m.Message.Ask != nil:
		r := m.Message.Ask.Request
		w.asked = append(w.asked, r)
		if w.grants {
			w.env.RegisterDelayedCallback(func() {
				l := placement.Lease{Request: r, Device: r.Only}
				if err := w.env.SignalWorkflowByID(r.Gate, placer.Granted, l); err != nil {
					w.env.SignalWorkflow(placer.Granted, l)
				}
			}, time.Second)
		}
	case m.Message.Withdraw != nil:
		w.withdrew++
	case m.Message.Release != nil:
		w.released = append(w.released, *m.Message.Release)
	}
	return nil
}

func (w *world) run(t *testing.T) {
	t.Helper()
	w.env.ExecuteWorkflow(Name, Card{"cpu:0", "cpu"})
	if err := w.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
}

func TestCalibrate_KeepsARecord(t *testing.T) {
	w := newWorld(t)
	w.run(t)
	if len(w.asked) != 1 || w.asked[0].Only != "cpu:0" || w.asked[0].Project != "" {
		t.Errorf("asked %+v", w.asked)
	}
	if len(w.released) != 1 || w.released[0].Failed || w.released[0].Lease != w.asked[0].Lease {
		t.Errorf("released %+v", w.released)
	}
	if len(w.records) != 1 || !w.records[0].Record.Found || w.records[0].Record.Seed == 99 || w.records[0].Record.At.IsZero() || w.records[0].Device != "cpu:0" {
		t.Errorf("records %+v", w.records)
	}
}

func TestCalibrate_Problems(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(job.Lease) (job.Result, error)
		lost   bool
		want   string
	}{
		"the agent is lost": {func(job.Lease) (job.Result, error) { return job.Result{}, temporal.NewHeartbeatTimeoutError() }, true, "timeout"},
		"an old agent": {func(job.Lease) (job.Result, error) {
			return job.Result{}, temporal.NewNonRetryableApplicationError("its bundle is not a SHA-256", "InvalidLease", nil)
		}, false, "its bundle is not a SHA-256"},
		"another lease": {func(l job.Lease) (job.Result, error) { l.ID = "x"; return good(l) }, false, "answered for lease"},
		"no numbers":    {func(l job.Lease) (job.Result, error) { return job.Result{Lease: l.ID}, nil }, false, "rounds"},
	} {
		w := newWorld(t)
		w.answer = c.answer
		w.run(t)
		if len(w.released) != 1 || !w.released[0].Failed || w.released[0].Lost != c.lost {
			t.Errorf("%s: released %+v", name, w.released)
		}
		if len(w.records) != 1 || !strings.Contains(strings.ToLower(w.records[0].Record.Error), c.want) && !strings.Contains(w.records[0].Record.Error, c.want) {
			t.Errorf("%s: records %+v", name, w.records)
		}
	}
}

func TestCalibrate_DeviceIsNeverFree(t *testing.T) {
	w := newWorld(t)
	w.grants = false
	w.run(t)
	if w.withdrew != 1 || len(w.records)+len(w.released) != 0 {
		t.Errorf("withdrew %d, released %+v, records %+v", w.withdrew, w.released, w.records)
	}
}

func TestSchedule_StartsWhatIsDue(t *testing.T) {
	w := newWorld(t)
	w.due = [][]Card{{{"a", "l4"}, {"b", "l4"}}, nil, {{"a", "l4"}}}
	w.env.ExecuteWorkflow(Scheduler)
	if !workflow.IsContinueAsNewError(w.env.GetWorkflowError()) {
		t.Errorf("ended with %v, want a new run", w.env.GetWorkflowError())
	}
	var devices []string
	for _, r := range w.records {
		devices = append(devices, r.Device)
	}
	slices.Sort(devices)
	if !slices.Equal(devices, []string{"a", "a", "b"}) {
		t.Errorf("calibrated %v", devices)
	}
}
