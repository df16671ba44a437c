package gate

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// An outage is a time in which a host does not reach the server: its processes are stopped (frozen), it is cut off and
// its processes run on, or it is gone with its processes.
type outage struct {
	from, until time.Time
	kind        string
}

// never is the end of an outage for good.
var never = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// A host has one card and an agent that follows the rules of package agent: it takes a lease when the one before has
// ended, keeps finished work, and gives up a lost lease with the first heartbeat that is answered.
type host struct {
	outages []outage                 // in order, apart
	slot    time.Time                // when the agent can take the next lease
	done    map[string]time.Duration // finished work of a lease, kept on disk
	runs    [][2]time.Time           // processes on the card
}

const (
	taskTime = 8 * time.Minute
	beat     = 2 * time.Second
)

// at returns the outage of a time; nil if the host reaches the server.
func (h *host) at(t time.Time) *outage {
	for i, o := range h.outages {
		if !t.Before(o.from) && t.Before(o.until) {
			return &h.outages[i]
		}
	}
	return nil
}

// An ending is what the server hears of an attempt, and when.
type ending struct {
	at   time.Time
	err  error
	late time.Time // when the agent tries to deliver a result that the server has given up; zero for never
}

// take plays an attempt that is offered for a while.
func (h *host) take(lease string, now time.Time, within time.Duration) ending {
	start := now
	if h.slot.After(start) {
		start = h.slot
	}
	for o := h.at(start); o != nil; o = h.at(start) {
		start = o.until
	}
	if start.After(now.Add(within)) {
		return ending{at: now.Add(within), err: errNotServed}
	}
	t, left := start, taskTime-h.done[lease]
	for _, o := range h.outages {
		if !o.until.After(t) || !o.from.Before(t.Add(left)) {
			continue
		}
		if o.until.Sub(o.from) <= heartbeat { // the server does not notice
			if o.kind == "frozen" {
				left, t = left-o.from.Sub(t), o.until
			}
			continue
		}
		return h.lose(lease, start, t, left, o)
	}
	end := t.Add(left)
	if o := h.at(end); o != nil {
		end = o.until // delivered when the server is reached
	}
	h.slot, h.done[lease] = end, taskTime
	h.runs = append(h.runs, [2]time.Time{start, end})
	return ending{at: end}
}

// lose plays an attempt that a long outage ends. t is when its last stretch of work started.
func (h *host) lose(lease string, start, t time.Time, left time.Duration, o outage) ending {
	lost := ending{at: o.from.Add(heartbeat), err: errLost}
	stop := o.until.Add(beat)
	switch o.kind {
	case "gone":
		stop = o.from
		h.slot = never
	case "frozen":
		h.slot = stop
	case "cut":
		h.slot = stop
		if end := t.Add(left); end.Before(o.until) {
			stop, lost.late = end, o.until
		}
	}
	worked := min(left, stop.Sub(t))
	if o.kind == "frozen" {
		worked = o.from.Sub(t)
	}
	h.done[lease] += max(worked, 0)
	h.runs = append(h.runs, [2]time.Time{start, stop})
	return lost
}

// A fleet is several hosts of one model and several gates in simulated time.
type fleet struct {
	env *testsuite.TestWorkflowEnvironment

	mu      sync.Mutex
	state   placement.State
	hosts   map[string]*host
	offered map[string]bool
	fences  map[string]*Fence
	made    map[string]int
	refused int
	takes   int
}

// many runs gates that start one after the other.
func many(ctx workflow.Context, gates int) (list []Outcome, err error) {
	var parts []workflow.ChildWorkflowFuture
	for n := range gates {
		work := testWork
		work.Gate = fmt.Sprint("G", n)
		child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: ID(work.Project, work.Gate)})
		parts = append(parts, workflow.ExecuteChildWorkflow(child, Several, work, []string{"l4"}))
		if err := workflow.Sleep(ctx, time.Minute); err != nil {
			return nil, err
		}
	}
	for _, p := range parts {
		var out []Outcome
		if err := p.Get(ctx, &out); err != nil {
			return nil, err
		}
		list = append(list, out...)
	}
	return list, nil
}

func newFleet(r *rand.Rand) *fleet {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(fleettest.Silent)
	f := &fleet{env: suite.NewTestWorkflowEnvironment(), hosts: map[string]*host{}, offered: map[string]bool{}, fences: map[string]*Fence{}, made: map[string]int{}}
	f.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	f.env.SetTestTimeout(time.Minute)
	f.env.RegisterWorkflowWithOptions(FanOut, workflow.RegisterOptions{Name: Several})
	f.env.RegisterWorkflow(many)
	for name, a := range map[string]any{Tell: f.tell, Note: f.note, Publish: f.publish, job.Measure: f.measure, job.Build: f.build} {
		f.env.RegisterActivityWithOptions(a, activity.RegisterOptions{Name: name})
	}
	for i := range 2 + r.IntN(2) {
		h := &host{done: map[string]time.Duration{}}
		t := f.env.Now()
		for range 4 {
			t = t.Add(time.Duration(r.IntN(900)) * time.Second)
			o := outage{from: t, until: t.Add(time.Duration(1+r.IntN(240)) * time.Second), kind: []string{"frozen", "cut"}[r.IntN(2)]}
			if i > 0 && r.IntN(8) == 0 { // the first host always comes back
				o.until, o.kind = never, "gone"
			}
			h.outages = append(h.outages, o)
			t = o.until.Add(time.Minute)
			if o.kind == "gone" {
				break
			}
		}
		f.hosts[fmt.Sprint("d", i)] = h
	}
	return f
}

func (f *fleet) tell(_ context.Context, m ToPlacer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.env.Now()
	var table placement.Table
	for id, h := range f.hosts {
		d := placement.Device{ID: id, Host: id, Power: placement.Ready, Seen: now}
		if o := h.at(now); o != nil {
			d.Seen = o.from
		}
		table.Devices = append(table.Devices, d)
	}
	granted, _ := f.state.Step(table, now)
	var e placement.Event = placement.Tick{}
	switch {
	case m.Message.Ask != nil:
		e = *m.Message.Ask
	case m.Message.Withdraw != nil:
		e = *m.Message.Withdraw
	case m.Message.Release != nil:
		e = *m.Message.Release
	}
	more, _ := f.state.Step(e, now)
	for _, l := range append(granted, more...) {
		f.env.RegisterDelayedCallback(func() { _ = f.env.SignalWorkflowByID(l.Gate, placer.Granted, l) }, 100*time.Millisecond)
	}
	return nil
}

func (f *fleet) fence(gate string) *Fence {
	if f.fences[gate] == nil {
		f.fences[gate] = &Fence{}
	}
	return f.fences[gate]
}

func (f *fleet) note(_ context.Context, p Progress) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fence(p.Gate).Raise(p.Attempt)
	return nil
}

func (f *fleet) publish(_ context.Context, p Publication) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh, err := f.fence(p.Gate).Publish(p.Result.Attempt)
	if err != nil {
		f.refused++
		return temporal.NewNonRetryableApplicationError(err.Error(), Fenced, nil)
	}
	if fresh {
		f.made[p.Gate]++
	}
	return nil
}

// build takes no time. A host that is away does not take it.
func (f *fleet) build(_ context.Context, l job.Lease) (job.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hosts[l.Device].at(f.env.Now()) != nil {
		return job.Result{}, errNotServed
	}
	return job.Result{Lease: l.ID, Attempt: l.Attempt}, nil
}

// measure lets the host of a lease take it, and answers when the server hears of it.
func (f *fleet) measure(ctx context.Context, l job.Lease) (job.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.takes++
	within := takeWithin
	if f.offered[l.ID] {
		within = againWithin
	}
	f.offered[l.ID] = true
	now := f.env.Now()
	end := f.hosts[l.Device].take(l.ID, now, within)
	r := job.Result{Lease: l.ID, Attempt: l.Attempt, Record: "record of " + l.Device, Rounds: 8}
	token := activity.GetInfo(ctx).TaskToken
	f.env.RegisterDelayedCallback(func() {
		_ = f.env.CompleteActivity(token, r, end.err)
		_ = f.env.SignalWorkflowByID(ID(l.Project, l.Gate), "wake", nil) // the test environment wakes only the parent
	}, end.at.Sub(now))
	if !end.late.IsZero() { // as if the gateway let it pass
		f.env.RegisterDelayedCallback(func() {
			_ = f.publish(context.Background(), Publication{Gate: l.Gate, Commit: l.Head, Suite: l.Suite, Model: "l4", Result: r})
		}, end.late.Sub(now))
	}
	return job.Result{}, activity.ErrResultPending
}

// check fails the test if a gate was published twice or two processes shared a card.
func (f *fleet) check(t *testing.T, list []Outcome) {
	t.Helper()
	for n, out := range list {
		want := 0
		if out.State == Done {
			want = 1
		}
		if got := f.made[fmt.Sprint("G", n)]; got != want {
			t.Fatalf("gate %d ended as %s with %d publications", n, out.State, got)
		}
	}
	for id, h := range f.hosts {
		slices.SortFunc(h.runs, func(a, b [2]time.Time) int { return a[0].Compare(b[0]) })
		for i := 1; i < len(h.runs); i++ {
			if h.runs[i][0].Before(h.runs[i-1][1]) {
				t.Fatalf("two processes on %s: %v and %v", id, h.runs[i-1], h.runs[i])
			}
		}
	}
	if n := len(f.state.Leases) + len(f.state.Requests); n != 0 {
		t.Fatalf("%d leases and requests are left", n)
	}
}

func TestHosts_FrozenCutOffAndGone(t *testing.T) {
	seeds, ends, refused, takes := testrun.Times(50, 1000), map[State]int{}, 0, 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 44))
		f := newFleet(r)
		f.env.ExecuteWorkflow(many, 2+r.IntN(4))
		var list []Outcome
		if err := f.env.GetWorkflowResult(&list); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		f.check(t, list)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		for _, out := range list {
			ends[out.State]++
		}
		refused += f.refused
		takes += f.takes
	}
	t.Logf("%d schedules: %v, %d attempts, %d late results refused", seeds, ends, takes, refused)
	if ends[Done] == 0 || takes <= cmp.Or(ends[Done], 1) || refused == 0 {
		t.Errorf("%v, %d attempts, %d refusals: the schedules do not reach everything", ends, takes, refused)
	}
}
