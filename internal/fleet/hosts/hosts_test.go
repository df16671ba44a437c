package hosts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
)

var errOther = temporal.NewApplicationError("another file was chosen", OtherFile)

const anything = "mock.Anything" // testify's name for an argument that is not compared

// A world is a fleet in simulated time: its gates, and one host that boots in a minute.
type world struct {
	env *testsuite.TestWorkflowEnvironment

	mu     sync.Mutex
	begin  time.Time
	rules  wake.Config
	known  Known
	files  []string // of the pawlds, which are asked in turn
	looks  int
	away   bool  // what gates want cannot be seen
	jobs   []job // of the model l4
	power  wake.Power
	on     time.Time     // when it is on
	broken int           // starts that fail
	takes  time.Duration // of each command
	hangs  bool          // its status takes as long as it may, and fails
	fails  bool          // its stop fails
	stays  int           // stops that come too late
	did    []string
}

// job is a gate: when it waits, and when it would have been measured on a host that is on.
type job struct{ from, until time.Duration }

func newWorld(t *testing.T, jobs ...job) *world {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(fleettest.Silent)
	w := &world{known: Known{"one", "1"}, files: []string{"one"}, env: suite.NewTestWorkflowEnvironment(), jobs: jobs, power: wake.Off, begin: time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)}
	w.rules = wake.Config{
		Forge: wake.Forge{Repositories: []string{"l4"}}, Poll: time.Minute, Budget: wake.Budget{Hours: 8, Least: 10 * time.Minute, Margin: 2 * time.Minute},
		Hosts: []wake.HostConfig{{
			Name: "gpu1", Labels: []string{wake.HostLabel("gpu1"), "l4/own"}, Runners: []string{"gpu1"}, Boot: 5 * time.Minute, Halt: 3 * time.Minute, Idle: 15 * time.Minute,
			Timeout: 2 * time.Minute, Ask: 10 * time.Second, Retry: time.Hour, Jobs: 1,
		}},
	}
	w.env.SetStartTime(w.begin)
	w.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	w.env.SetTestTimeout(time.Minute)
	w.env.RegisterWorkflowWithOptions(Hosts, workflow.RegisterOptions{Name: Name})
	w.env.RegisterActivityWithOptions(w.look, activity.RegisterOptions{Name: Look})
	w.env.RegisterActivityWithOptions(w.command, activity.RegisterOptions{Name: Run})
	w.env.OnActivity(Run, anything, anything).Return(w.command).AfterFn(w.delay)
	return w
}

func (w *world) at() time.Duration { return w.env.Now().Sub(w.begin) }

func (w *world) isOn() bool { return w.power == wake.On && !w.env.Now().Before(w.on) }

// decides reports whether the pawld that an activity reaches has the file. The pawlds get them in turn.
func (w *world) decides(file string) bool {
	w.looks++
	own := w.files[w.looks%len(w.files)]
	return own != "" && (file == "" || file == own)
}

func (w *world) look(_ context.Context, known Known) (Demand, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.away:
		return Demand{}, errors.New("no database")
	case !w.decides(known.File):
		return Demand{}, errOther
	}
	d := Demand{Known: w.known}
	d.Known.File = w.files[w.looks%len(w.files)]
	if known != d.Known {
		d.Rules = &w.rules
	}
	list := List{Model: "l4"}
	for i, j := range w.jobs {
		if w.at() < j.from || w.at() >= j.until {
			continue
		}
		found := wake.Job{Repo: "l4", ID: int64(i), Stage: wake.Queued, Labels: []string{"l4/own"}}
		if w.isOn() {
			found = wake.Job{Repo: "l4", ID: int64(100 + i), Stage: wake.Running, Labels: []string{wake.HostLabel("gpu1")}, Runner: "gpu1"}
		}
		list.Jobs = append(list.Jobs, found)
	}
	d.Lists = []List{list}
	return d, nil
}

// delay returns how long a command takes.
func (w *world) delay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hangs {
		return 2 * time.Minute
	}
	return w.takes
}

func (w *world) command(_ context.Context, o Order) (Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.decides(o.File):
		return Answer{}, errOther
	case o.Kind == wake.Ask && w.hangs:
		return Answer{Why: "was stopped after 2m0s"}, nil
	case o.Kind == wake.Stop && w.stays > 0:
		w.stays--
		return Answer{Stays: true}, nil
	}
	if o.Kind == wake.Ask {
		power := w.power
		if power == wake.On && !w.isOn() {
			power = wake.Starting
		}
		return Answer{Power: power}, nil
	}
	kind := string(o.Kind)
	if o.Hard {
		kind = "hard " + kind
	}
	w.did = append(w.did, fmt.Sprintf("%s after %v", kind, w.at().Truncate(time.Minute)))
	switch {
	case o.Kind == wake.Stop && w.fails:
		return Answer{Why: "the cloud does not answer"}, nil
	case o.Kind == wake.Stop:
		w.power = wake.Off
	case w.broken > 0:
		w.broken--
		return Answer{Why: "no capacity"}, nil
	default:
		w.power, w.on = wake.On, w.env.Now().Add(time.Minute)
	}
	return Answer{}, nil
}

// run runs the workflow for some time, and returns the starts and stops.
func (w *world) run(t *testing.T, in State, d time.Duration) []string {
	t.Helper()
	w.env.RegisterDelayedCallback(w.env.CancelWorkflow, d)
	w.env.ExecuteWorkflow(Name, in)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.did
}

func TestHosts(t *testing.T) {
	const minute = time.Minute
	for _, x := range []struct {
		name   string
		jobs   []job
		change func(*world)
		d      time.Duration
		want   []string
	}{
		{name: "nothing waits", d: 12 * time.Hour},
		{name: "a gate waits: the host starts, and stops when it was idle for long enough", jobs: []job{{10 * minute, 20 * minute}}, d: 2 * time.Hour, want: []string{"start after 10m0s", "stop after 35m0s"}},
		{name: "another gate comes before it is idle for long enough", jobs: []job{{10 * minute, 20 * minute}, {30 * minute, 40 * minute}}, d: 2 * time.Hour, want: []string{"start after 10m0s", "stop after 55m0s"}},
		{
			name: "two starts fail", jobs: []job{{0, 20 * minute}}, change: func(w *world) { w.broken = 2 }, d: time.Hour,
			want: []string{"start after 0s", "start after 0s", "start after 1m0s", "stop after 35m0s"},
		},
		{
			name: "the budget does not reach for a start", jobs: []job{{0, time.Hour}}, change: func(w *world) { w.rules.Budget.Hours = 0.25 }, d: time.Hour,
		},
		{
			name: "the budget ends while a gate is measured, and starts again at midnight", jobs: []job{{0, 20 * time.Hour}}, change: func(w *world) { w.rules.Budget.Hours = 1 }, d: 16 * time.Hour,
			want: []string{"start after 0s", "hard stop after 55m0s", "start after 14h55m0s", "hard stop after 15h55m0s"}, // the day ends after 15 h
		},
		{
			name: "what gates want cannot be seen: the host stays on", jobs: []job{{0, 10 * minute}}, d: 3 * time.Hour,
			change: func(w *world) {
				w.env.RegisterDelayedCallback(func() { w.set(func() { w.away = true }) }, 9*minute)
				w.env.RegisterDelayedCallback(func() { w.set(func() { w.away = false }) }, 2*time.Hour)
			},
			want: []string{"start after 0s", "stop after 2h15m0s"},
		},
		{
			name: "a gate gets a device just before a stop", jobs: []job{{0, 20 * minute}}, change: func(w *world) { w.stays = 1 }, d: 2 * time.Hour,
			want: []string{"start after 0s", "stop after 50m0s"},
		},
		{
			name: "one of two pawlds has another file", jobs: []job{{0, 20 * minute}}, change: func(w *world) { w.files = []string{"one", "two"} }, d: 2 * time.Hour,
			want: []string{"start after 0s", "stop after 35m0s"},
		},
		{
			name: "one of two pawlds has no file", jobs: []job{{0, 20 * minute}}, change: func(w *world) { w.files = []string{"one", ""} }, d: 2 * time.Hour,
			want: []string{"start after 0s", "stop after 35m0s"},
		},
		{
			name: "the pawld with the chosen file goes, and one with another comes", jobs: []job{{0, 20 * minute}}, d: 2 * time.Hour,
			change: func(w *world) {
				w.env.RegisterDelayedCallback(func() { w.set(func() { w.files = []string{"two"} }) }, 22*minute)
			},
			want: []string{"start after 0s", "stop after 35m0s"},
		},
		{
			name: "the rules change while the host is started", jobs: []job{{0, 20 * minute}}, d: 2 * time.Hour,
			change: func(w *world) {
				w.takes = 30 * time.Second
				w.env.RegisterDelayedCallback(func() { w.set(func() { w.known.Rules = "2" }) }, 45*time.Second)
			},
			want: []string{"start after 1m0s", "stop after 35m0s"},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld(t, x.jobs...)
			if x.change != nil {
				x.change(w)
			}
			if did := w.run(t, State{}, x.d); !slices.Equal(did, x.want) {
				t.Errorf("%q, want %q", did, x.want)
			}
		})
	}
}

func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// A long history goes on in a new run, with all that is known: a host that is on is not started again, and its time today counts.
func TestHosts_ContinueInANewRun(t *testing.T) {
	for name, hangs := range map[string]bool{"quiet": false, "with a status that never ends": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, job{0, 5 * time.Hour})
			w.env.RegisterDelayedCallback(func() { w.set(func() { w.hangs = hangs }) }, 50*time.Minute)
			w.env.RegisterDelayedCallback(func() { w.env.SetCurrentHistoryLength(maxEvents + 1) }, time.Hour)
			w.run(t, State{}, 2*time.Hour)
			next, ok := errors.AsType[*workflow.ContinueAsNewError](w.env.GetWorkflowError())
			if !ok || w.at() > 63*time.Minute {
				t.Fatalf("after %v: %v, want a new run", w.at(), w.env.GetWorkflowError())
			}
			var left State
			if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &left); err != nil {
				t.Fatal(err)
			}
			again := newWorld(t, w.jobs...)
			again.env.SetStartTime(w.env.Now())
			again.power, again.on = w.power, w.on
			again.env.RegisterDelayedCallback(func() {
				if sum := again.shown(t); sum.Spent < 1 || sum.Hosts[0].Failing {
					t.Errorf("%.2f h today, an hour was before: %+v", sum.Spent, sum)
				}
			}, 10*time.Minute)
			if did := again.run(t, left, 2*time.Hour); len(did) > 0 {
				t.Errorf("the new run did %q", did)
			}
		})
	}
}

// Without a pawld that has a file of hosts nothing is done, and the workflow ends.
func TestHosts_EndsWhenNoPawldHasAFile(t *testing.T) {
	w := newWorld(t, job{0, 5 * time.Hour})
	w.env.RegisterDelayedCallback(func() { w.set(func() { w.files = []string{"", ""} }) }, time.Hour)
	if did := w.run(t, State{}, 4*time.Hour); len(did) != 1 {
		t.Errorf("did %q", did)
	}
	if err := w.env.GetWorkflowError(); err != nil || !w.env.IsWorkflowCompleted() || w.at() < time.Hour || w.at() > 90*time.Minute {
		t.Errorf("after %v: %v", w.at(), err)
	}
}

// Twenty hosts are to be stopped, and each stop fails after a minute: there is always a command under way.
func TestHosts_ContinuesInANewRunWhileStopsFail(t *testing.T) {
	w := newWorld(t)
	w.power, w.takes, w.fails = wake.On, 50*time.Second, true
	one := w.rules.Hosts[0]
	for i := range 19 {
		one.Name = fmt.Sprint("gpu", i+2)
		w.rules.Hosts = append(w.rules.Hosts, one)
	}
	w.env.RegisterDelayedCallback(func() { w.env.SetCurrentHistoryLength(maxEvents + 1) }, 2*time.Hour)
	did := w.run(t, State{}, 3*time.Hour)
	if _, ok := errors.AsType[*workflow.ContinueAsNewError](w.env.GetWorkflowError()); !ok || w.at() > 2*time.Hour+5*time.Minute || len(did) < 40 {
		t.Errorf("after %v and %d stops: %v", w.at(), len(did), w.env.GetWorkflowError())
	}
}

// A pawld that starts chooses its file. A host that the file no longer has is left alone, and its time today counts.
func TestHosts_AnotherFileIsChosen(t *testing.T) {
	w := newWorld(t, job{0, 5 * time.Hour})
	w.files = []string{"one", "two"}
	w.env.RegisterDelayedCallback(func() {
		w.set(func() { w.rules.Hosts[0].Name, w.known.Rules = "gpu2", "2" })
		w.env.SignalWorkflow(Chosen, "two")
	}, time.Hour)
	w.env.RegisterDelayedCallback(func() {
		if sum := w.shown(t); len(sum.Hosts) != 1 || sum.Hosts[0].Name != "gpu2" {
			t.Errorf("%+v", sum)
		}
	}, 70*time.Minute)
	w.run(t, State{}, 2*time.Hour)
}

func (w *world) shown(t *testing.T) (sum wake.Summary) {
	t.Helper()
	answer, err := w.env.QueryWorkflow(Shown)
	if err == nil {
		err = answer.Get(&sum)
	}
	if err != nil {
		t.Error(err)
	}
	return sum
}

func TestHosts_Shown(t *testing.T) {
	w := newWorld(t, job{0, 10 * time.Minute})
	w.env.RegisterDelayedCallback(func() {
		if sum := w.shown(t); len(sum.Hosts) != 1 || sum.Hosts[0].Power != wake.On || !sum.Hosts[0].Running || sum.Running != 1 || sum.Spent == 0 {
			t.Errorf("shown as %+v", sum)
		}
	}, 5*time.Minute)
	w.run(t, State{}, time.Hour)
}
