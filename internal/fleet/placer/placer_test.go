package placer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
)

const anything = "mock.Anything" // testify's name for an argument that is not compared

// A world is a placer in simulated time, with pawld's activities.
type world struct {
	env   *testsuite.TestWorkflowEnvironment
	began time.Time

	mu      sync.Mutex
	devices []placement.Device
	budget  placement.Budget
	settled []Settlement
	granted []placement.Lease
	gone    string        // gate that has ended
	away    time.Duration // how long the database is, from the start
}

func newWorld(t *testing.T, devices int) *world {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(fleettest.Silent)
	w := &world{env: suite.NewTestWorkflowEnvironment()}
	w.began = w.env.Now()
	w.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	for i := range devices {
		w.devices = append(w.devices, placement.Device{ID: fmt.Sprint("d", i), Host: fmt.Sprint("h", i), Power: placement.Ready})
	}
	w.env.SetTestTimeout(time.Minute)
	w.env.RegisterWorkflowWithOptions(Placer, workflow.RegisterOptions{Name: Name})
	for name, f := range map[string]any{
		Devices: func(context.Context, string) ([]placement.Device, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.devices, nil
		},
		Reserve: func(_ context.Context, r Reservation) (Reserved, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.env.Now().Before(w.began.Add(w.away)) {
				return Reserved{}, errors.New("the database is away")
			}
			return Reserved{w.budget.Reserve(r.Cost, r.Start), placement.Until(r.Start)}, nil
		},
		Settle: func(_ context.Context, s Settlement) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.settled = append(w.settled, s)
			return nil
		},
	} {
		w.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	w.env.OnSignalExternalWorkflow(anything, anything, anything, Granted, anything).Return(
		func(_, id, _, _ string, arg any) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if id == w.gone {
				return errors.New("not found")
			}
			w.granted = append(w.granted, arg.(placement.Lease))
			return nil
		})
	return w
}

// at sends a message at a time.
func (w *world) at(after time.Duration, m Message) {
	w.env.RegisterDelayedCallback(func() { w.env.SignalWorkflow(Inbox, m) }, after)
}

func (w *world) run(state placement.State) {
	w.env.RegisterDelayedCallback(w.env.CancelWorkflow, 30*24*time.Hour)
	w.env.ExecuteWorkflow(Name, "l4", state)
}

func ask(id string) Message {
	return Message{Ask: &placement.Ask{Request: placement.Request{Lease: id, Gate: "gate/" + id, Project: "p", Seconds: 600}}}
}

func (w *world) leases() (list []string) {
	for _, l := range w.granted {
		list = append(list, l.Lease)
	}
	return list
}

func TestPlacer_GrantsAndSettles(t *testing.T) {
	w := newWorld(t, 1)
	w.at(time.Second, ask("one"))
	w.at(2*time.Second, ask("two"))
	w.at(time.Minute, Message{Release: &placement.Release{Lease: "one", Seconds: 58}})
	w.at(2*time.Minute, Message{Release: &placement.Release{Lease: "two", Seconds: 9000}})
	w.run(placement.State{})
	if got := fmt.Sprint(w.leases()); got != "[one two]" {
		t.Errorf("granted %s", got)
	}
	if got := fmt.Sprint(w.settled); got != "[{one p 58} {two p 600}]" {
		t.Errorf("settled %s", got)
	}
}

func TestPlacer_WaitsForADevice(t *testing.T) {
	w := newWorld(t, 0)
	w.at(time.Second, ask("one"))
	w.env.RegisterDelayedCallback(func() {
		v, err := w.env.QueryWorkflow(Shown)
		var view View
		if err == nil {
			err = v.Get(&view)
		}
		if err != nil || len(view.Queue) != 1 || view.Queue[0].Reason != placement.None {
			t.Errorf("view %+v, %v", view, err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.devices = []placement.Device{{ID: "new", Power: placement.Ready}}
	}, time.Minute)
	w.run(placement.State{})
	if len(w.granted) != 1 || w.granted[0].Device != "new" {
		t.Errorf("granted %+v", w.granted)
	}
}

func TestPlacer_BudgetRefusesUntilTomorrow(t *testing.T) {
	w := newWorld(t, 2)
	w.budget.Limit.Seconds = 1000
	w.at(time.Second, ask("one"))
	w.at(2*time.Second, ask("two"))
	w.run(placement.State{})
	if len(w.granted) != 2 {
		t.Fatalf("granted %+v", w.granted)
	}
	if a, b := w.granted[0].Start.UTC(), w.granted[1].Start.UTC(); b.Before(placement.Until(a)) {
		t.Errorf("started at %v and %v, want different days", a, b)
	}
}

func TestPlacer_EndedGateGivesItsLeaseBack(t *testing.T) {
	w := newWorld(t, 1)
	w.gone = "gate/one"
	w.at(time.Second, ask("one"))
	w.at(time.Second, ask("two"))
	w.run(placement.State{})
	if got := fmt.Sprint(w.leases()); got != "[two]" {
		t.Errorf("granted %s", got)
	}
	if got := fmt.Sprint(w.settled); got != "[{one p 0} {two p 600}]" { // two was never given back and expires
		t.Errorf("settled %s", got)
	}
}

func TestPlacer_DatabaseIsAway(t *testing.T) {
	w := newWorld(t, 2)
	w.away = 20 * time.Second // an activity of the test environment gives up after 30 s, one of Temporal does not
	w.at(time.Second, ask("one"))
	w.at(2*time.Second, ask("two"))
	w.run(placement.State{})
	if got := fmt.Sprint(w.leases()); got != "[one two]" {
		t.Errorf("granted %s, and the placer ended with %v", got, w.env.GetWorkflowError())
	}
}

func TestPlacer_ContinuesInANewRunWithItsState(t *testing.T) {
	w := newWorld(t, 1)
	w.at(time.Second, ask("one"))
	w.env.RegisterDelayedCallback(func() { w.env.SetContinueAsNewSuggested(true) }, 2*time.Second)
	w.at(3*time.Second, ask("two"))
	w.run(placement.State{})
	var next *workflow.ContinueAsNewError
	if !errors.As(w.env.GetWorkflowError(), &next) {
		t.Fatalf("ended with %v, want a new run", w.env.GetWorkflowError())
	}
	if next.WorkflowType.Name != Name {
		t.Errorf("next run is a %s", next.WorkflowType.Name)
	}
	if len(w.granted) != 1 {
		t.Errorf("granted %+v", w.granted)
	}
}

func TestPlacer_CalibrationHasNoBudget(t *testing.T) {
	w := newWorld(t, 1)
	w.budget.Limit.Seconds = 1
	m := ask("one")
	m.Ask.Project, m.Ask.Only = "", "d0"
	w.at(time.Second, m)
	w.at(time.Minute, Message{Release: &placement.Release{Lease: "one", Seconds: 58}})
	w.run(placement.State{})
	if len(w.granted) != 1 || w.granted[0].Device != "d0" || len(w.settled) != 0 {
		t.Errorf("granted %+v, settled %+v", w.granted, w.settled)
	}
}

// 40 gates of one project wait when another project asks for 6: its first starts among the next 2.
func TestPlacer_SecondProjectStartsAmongTheNextTwo(t *testing.T) {
	w := newWorld(t, 1)
	send := func(project string, n int, after time.Duration) {
		id := fmt.Sprintf("%s%02d", project, n)
		m := ask(id)
		m.Ask.Project = project
		w.at(after, m)
	}
	for n := range 40 {
		send("big", n, time.Second)
	}
	const asked = 30 * time.Minute
	for n := range 6 {
		send("small", n, asked)
	}
	ended := 0
	for after := time.Minute; after < 10*time.Hour; after += time.Minute {
		w.env.RegisterDelayedCallback(func() {
			w.mu.Lock()
			var m Message
			if ended < len(w.granted) && w.env.Now().Sub(w.granted[ended].Start) >= 4*time.Minute {
				m.Release = &placement.Release{Lease: w.granted[ended].Lease, Seconds: 240}
				ended++
			}
			w.mu.Unlock()
			if m.Release != nil {
				w.env.SignalWorkflow(Inbox, m)
			}
		}, after)
	}
	w.run(placement.State{})
	before := 0
	for _, l := range w.granted {
		if l.Project == "small" {
			break
		}
		if l.Start.Sub(w.granted[0].Start) > asked {
			before++
		}
	}
	if len(w.granted) != 46 || before > 1 {
		t.Errorf("%d leases; %d of the first project were between: %v", len(w.granted), before, w.leases())
	}
}
