package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
)

// forgeWorld is pawld and its gates as a change sees them. It writes down what happens.
type forgeWorld struct {
	env *testsuite.TestWorkflowEnvironment

	mu   sync.Mutex
	said []string
}

func (w *forgeWorld) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

// gate takes ten minutes, unless it is canceled.
func (w *forgeWorld) gate(ctx workflow.Context, work Work, models []string) ([]Outcome, error) {
	w.say("%s started", work.Gate)
	if err := workflow.Sleep(ctx, 10*time.Minute); err != nil {
		w.say("%s canceled", work.Gate)
		return nil, err
	}
	if work.Gate == "broken" {
		return nil, temporal.NewApplicationError("no such model", "model")
	}
	return []Outcome{{Model: models[0], State: Done}}, nil
}

func (w *forgeWorld) prepare(_ context.Context, e Event) (Prepared, error) {
	switch e.Gate {
	case "draft":
		return Prepared{Skip: "it is a draft"}, nil
	case "gone":
		return Prepared{}, temporal.NewNonRetryableApplicationError("the commit is gone", "gone", nil)
	}
	return Prepared{Work: Work{Project: e.Project, Gate: e.Gate, Head: e.Head}, Models: []string{"l4"}}, nil
}

func (w *forgeWorld) announce(_ context.Context, a Announcement) error {
	switch {
	case a.Superseded:
		w.say("%s told superseded", a.Event.Gate)
	case a.Failed != "":
		w.say("%s told failed: %s", a.Event.Gate, a.Failed)
	default:
		w.say("%s told %s on %s", a.Event.Gate, a.Outcomes[0].State, a.Outcomes[0].Model)
	}
	return nil
}

func newForgeWorld(t *testing.T) *forgeWorld {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(fleettest.Silent)
	w := &forgeWorld{env: suite.NewTestWorkflowEnvironment()}
	w.env.SetTestTimeout(time.Minute)
	w.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	w.env.RegisterWorkflowWithOptions(Change, workflow.RegisterOptions{Name: ChangeName})
	w.env.RegisterWorkflowWithOptions(w.gate, workflow.RegisterOptions{Name: Several})
	for name, f := range map[string]any{
		Prepare: w.prepare, Announce: w.announce,
		Note: func(_ context.Context, p Progress) error { w.say("%s noted %s", p.Gate, p.State); return nil },
	} {
		w.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	return w
}

func TestChange(t *testing.T) {
	type at struct {
		after time.Duration
		event Event
	}
	push := func(after time.Duration, gate string) at {
		return at{after, Event{Project: "kernels", Gate: gate, Pull: 7}}
	}
	for name, c := range map[string]struct {
		events []at
		want   string
	}{
		"a pull request is gated and told": {
			[]at{push(0, "a")},
			"a started; a told done on l4",
		},
		"a new push cancels the older gate": {
			[]at{push(0, "a"), push(time.Minute, "b")},
			"a started; a canceled; a told superseded; b started; b told done on l4",
		},
		"of several pushes at once only the newest is gated": {
			[]at{push(0, "a"), push(time.Minute, "b"), push(time.Minute, "c"), push(time.Minute, "d")},
			"a started; a canceled; a told superseded; d started; d told done on l4",
		},
		"a push after the end starts a gate": {
			[]at{push(0, "a"), push(9*time.Minute, "b"), push(30*time.Minute, "late")},
			"a started; a canceled; a told superseded; b started; b told done on l4",
		},
		"a closed pull request is not gated any more": {
			[]at{push(0, "a"), {time.Minute, Event{Project: "kernels", Gate: "x", Pull: 7, Closed: true}}},
			"a started; a canceled; a told superseded",
		},
		"a pull request that is reopened is gated again": {
			[]at{push(0, "a"), {time.Minute, Event{Project: "kernels", Gate: "x", Pull: 7, Closed: true}}, push(time.Minute, "b")},
			"a started; a canceled; a told superseded; b started; b told done on l4",
		},
		"what the settings leave out is not told": {
			[]at{push(0, "draft")},
			"",
		},
		"a change that cannot be fetched is told": {
			[]at{push(0, "gone")},
			"gone told failed: the commit is gone",
		},
		"a gate that fails is told": {
			[]at{push(0, "broken")},
			"broken started; broken told failed: no such model",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newForgeWorld(t)
			for _, x := range c.events {
				w.env.RegisterDelayedCallback(func() {
					if !w.env.IsWorkflowCompleted() {
						w.env.SignalWorkflow(Happened, x.event)
					}
				}, x.after)
			}
			w.env.ExecuteWorkflow(Change)
			if !w.env.IsWorkflowCompleted() || w.env.GetWorkflowError() != nil {
				t.Fatalf("completed %t, error %v", w.env.IsWorkflowCompleted(), w.env.GetWorkflowError())
			}
			if got := strings.Join(w.said, "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The forge is away for a quarter of an hour when a gate ends. It is told when it is back.
func TestChange_ForgeIsAway(t *testing.T) {
	w := newForgeWorld(t)
	began := w.env.Now()
	w.env.OnActivity(Announce, anything, anything).Return(func(ctx context.Context, a Announcement) error {
		if w.env.Now().Sub(began) < 25*time.Minute { // the gate takes ten
			return errors.New("503")
		}
		return w.announce(ctx, a)
	})
	w.env.RegisterDelayedCallback(func() { w.env.SignalWorkflow(Happened, Event{Project: "kernels", Gate: "a", Pull: 7}) }, 0)
	w.env.ExecuteWorkflow(Change)
	if got := strings.Join(w.said, "; "); w.env.GetWorkflowError() != nil || got != "a started; a told done on l4" {
		t.Errorf("error %v\n%s", w.env.GetWorkflowError(), got)
	}
}

// A push that arrives while the change is fetched leaves no gate that waits for ever.
func TestChange_PushDuringTheFetch(t *testing.T) {
	w := newForgeWorld(t)
	first := true
	w.env.OnActivity(Prepare, anything, anything).Return(func(ctx context.Context, e Event) (Prepared, error) {
		if first {
			first = false
			w.env.SignalWorkflow(Happened, Event{Project: "kernels", Gate: "b", Pull: 7})
		}
		return w.prepare(ctx, e)
	})
	w.env.RegisterDelayedCallback(func() { w.env.SignalWorkflow(Happened, Event{Project: "kernels", Gate: "a", Pull: 7}) }, 0)
	w.env.ExecuteWorkflow(Change)
	got := strings.Join(w.said, "; ")
	if w.env.GetWorkflowError() != nil || !strings.HasSuffix(got, "b started; b told done on l4") || strings.Contains(got, "a told done") {
		t.Errorf("error %v\n%s", w.env.GetWorkflowError(), got)
	}
	if strings.Contains(got, "a noted") != strings.Contains(got, "a told superseded") && !strings.Contains(got, "a started") {
		t.Errorf("the first gate was left open: %s", got)
	}
}
