package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/fleet/calibrate"
	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

var writeHistories = flag.Bool("histories", false, "write the histories of this test for the replay tests of internal/fleet")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}

// A place is an engine with a real Temporal and PostgreSQL, and an agent in this process.
type place struct {
	t       *testing.T
	engine  *Engine
	all     *store.Store
	fleet   *fleetstore.Store
	project int64

	mu    sync.Mutex
	told  []string // of announcements
	asked []string // gates of changes, as often as they were asked for
	stop  func()   // stops the worker
}

// Prepare implements [Changes] for commits that need no fetching.
func (p *place) Prepare(ctx context.Context, e gate.Event) (gate.Prepared, error) {
	p.mu.Lock()
	again := slices.Contains(p.asked, e.Gate)
	p.asked = append(p.asked, e.Gate)
	p.mu.Unlock()
	if e.Gate == "G11" && !again { // the fetch of a large repository
		<-ctx.Done()
		return gate.Prepared{}, ctx.Err()
	}
	if e.Gate == "G7" || e.Gate == "G11" {
		return gate.Prepared{}, forge.Invalid("the suite cannot be read")
	}
	w := gate.Work{Gate: e.Gate, Project: e.Project, Bundle: "b", Base: "base", Head: e.Head, Suite: "pawl.yaml", Seconds: 600}
	return gate.Prepared{Work: w, Models: []string{"l4"}}, p.fleet.AddGate(ctx, p.project, w, []string{"l4"}, "pull/7")
}

// Announce implements [Changes].
func (p *place) Announce(_ context.Context, a gate.Announcement) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := a.Event.Gate + " " + a.Failed
	if a.Superseded {
		line += "superseded"
	}
	for _, o := range a.Outcomes {
		line += string(o.State)
	}
	p.told = append(p.told, line)
	return nil
}

// follow passes on a new head of pull request 7.
func (p *place) follow(id string) {
	p.t.Helper()
	if err := p.engine.Follow(p.t.Context(), "pull/7", gate.Event{Project: "kernels", Gate: id, Pull: 7, Head: "head"}); err != nil {
		p.t.Fatal(err)
	}
}

// recorded waits until a gate has been prepared.
func (p *place) recorded(id string) {
	p.t.Helper()
	await.True(p.t, "gate "+id+" to be recorded", func() bool {
		_, err := p.fleet.Gate(p.t.Context(), p.project, id)
		return err == nil
	})
}

// untilTold waits until the forge was told these lines.
func (p *place) untilTold(lines ...string) {
	p.t.Helper()
	await.True(p.t, "the forge to be told", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.told) >= len(lines)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.told, lines) {
		p.t.Errorf("the forge was told %q, want %q", p.told, lines)
	}
}

func newPlace(t *testing.T, managed *wake.Config) *place {
	t.Helper()
	address := startTemporal(t)
	all, err := store.Open(t.Context(), store.Config{URL: storetest.URL(t), Conns: 8, AllowUnsafe: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	project, err := all.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "kernels"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, all: all, fleet: fleetstore.New(all.DB()), project: project.ID}
	p.engine, err = New(Options{
		Address: address, Namespace: "pawl", Log: slog.New(slog.DiscardHandler), Fleet: p.fleet, Changes: p, Calibrate: 24 * time.Hour, Hosts: managed,
		Project: func(ctx context.Context, slug string) (int64, error) {
			found, err := all.Project(ctx, slug)
			return found.ID, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.engine.Close)
	await.True(t, "Temporal answers", func() bool {
		_, err := p.engine.Setup(t.Context())
		return err == nil
	})
	p.work()
	return p
}

// work starts the worker of pawld.
func (p *place) work() {
	ctx, cancel := context.WithCancel(p.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.engine.Work(ctx)
	}()
	p.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	p.t.Cleanup(p.stop)
}

// restarted restarts the worker while it prepares a change. The next one prepares it again, and soon.
func (p *place) restarted() {
	p.t.Helper()
	p.follow("G11")
	asked := func(times int) func() bool {
		return func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return strings.Count(strings.Join(p.asked, " "), "G11") == times
		}
	}
	await.True(p.t, "the change to be prepared", asked(1))
	p.stop()
	p.work()
	await.True(p.t, "the change to be prepared again", asked(2))
}

// serve runs an agent for a device.
func (p *place) serve(device string, measure func(context.Context, job.Lease) (job.Result, error)) {
	p.t.Helper()
	err := p.fleet.SetDevice(p.t.Context(), fleetstore.Device{Device: placement.Device{ID: device, Host: device, Power: placement.Ready, Price: 1}, Model: "l4"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.poll(measure, job.Lease{Device: device}, job.Lease{Device: device, Build: true})
}

// poll carries out leases like these.
func (p *place) poll(measure func(context.Context, job.Lease) (job.Result, error), leases ...job.Lease) {
	p.t.Helper()
	for _, l := range leases {
		w := worker.New(p.engine.client, l.Queue(), worker.Options{DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: 1, MaxHeartbeatThrottleInterval: time.Second})
		w.RegisterActivityWithOptions(measure, activity.RegisterOptions{Name: l.Activity()})
		if err := w.Start(); err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(w.Stop)
	}
}

// enroll adds the agent of a host with devices, or of one that only builds.
func (p *place) enroll(name string, h job.Host, devices ...string) {
	p.t.Helper()
	key := sha256.Sum256([]byte(name))
	code, _, err := p.all.NewAgent(p.t.Context(), name, "operator", tier.Own, len(devices) == 0, time.Hour)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.all.EnrollAgent(p.t.Context(), code, key[:], "a100", devices); err != nil {
		p.t.Fatal(err)
	}
	a, err := p.all.AgentByKey(p.t.Context(), key[:])
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.all.DescribeAgent(p.t.Context(), a.ID, h); err != nil {
		p.t.Fatal(err)
	}
}

// elsewhere runs a gate that a host without a device builds.
func (p *place) elsewhere() {
	p.t.Helper()
	host, builds := job.Host{Tools: strings.Repeat("a", 64), Arch: "sm_80"}, strings.Repeat("b", 64)
	p.enroll("card", host, "GPU-e")
	p.enroll("builder", job.Host{Tools: host.Tools})
	var mu sync.Mutex
	var got []string
	p.poll(func(_ context.Context, l job.Lease) (job.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("%s for %s at %q with %.4q", l.Activity(), l.Host.Arch, l.Device, l.Builds))
		if l.Build {
			return job.Result{Lease: l.ID, Attempt: l.Attempt, Builds: builds}, nil
		}
		return job.Result{Lease: l.ID, Attempt: l.Attempt, Record: "r", Rounds: 8}, nil
	}, job.Lease{Device: "GPU-e"}, job.Lease{Device: "GPU-e", Build: true}, job.Lease{Build: true, Host: host})
	p.start("G10", "a100")
	p.until("G10", gate.Done)
	mu.Lock()
	defer mu.Unlock()
	if want := []string{`build for sm_80 at "" with ""`, `measure for sm_80 at "GPU-e" with "bbbb"`}; !slices.Equal(got, want) {
		p.t.Errorf("carried out %q, want %q", got, want)
	}
}

// recordOnly records a gate, and does not start it.
func (p *place) recordOnly(id string, models ...string) gate.Work {
	p.t.Helper()
	w := gate.Work{Gate: id, Project: "kernels", Bundle: "b", Base: "base", Head: "head", Suite: "pawl.yaml", Seconds: 600}
	if err := p.fleet.AddGate(p.t.Context(), p.project, w, models, ""); err != nil {
		p.t.Fatal(err)
	}
	return w
}

func (p *place) start(id string, models ...string) {
	p.t.Helper()
	w := p.recordOnly(id, models...)
	// A new search attribute is known to all parts of Temporal after some seconds.
	await.True(p.t, "gate "+id+" has started", func() bool { return p.engine.Start(p.t.Context(), w, models) == nil })
	if err := p.engine.Start(p.t.Context(), w, models); err != nil { // a client that got no answer asks again
		p.t.Fatal(err)
	}
}

func (p *place) part(id string) fleetstore.Part {
	p.t.Helper()
	parts, err := p.fleet.Gate(p.t.Context(), p.project, id)
	if err != nil {
		p.t.Fatal(err)
	}
	return parts[0]
}

func (p *place) until(id string, state gate.State) fleetstore.Part {
	p.t.Helper()
	await.True(p.t, "gate "+id+" is "+string(state), func() bool { return p.part(id).State == state })
	return p.part(id)
}

// calibrate calibrates a device, and returns what is known about it then.
func (p *place) calibrate(device string) fleetstore.Device {
	p.t.Helper()
	err := p.engine.Calibrate(p.t.Context(), calibrate.Card{Device: device, Model: "l4"})
	if err == nil {
		err = p.engine.client.GetWorkflow(p.t.Context(), calibrate.ID(device), "").Get(p.t.Context(), nil)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	list, err := p.fleet.Devices(p.t.Context(), "l4")
	if err != nil || len(list) != 1 {
		p.t.Fatalf("devices %+v, %v", list, err)
	}
	return list[0]
}

// schedules starts the scheduler again, and waits for the calibration of a device whose agent was heard meanwhile.
func (p *place) schedules(device string) {
	p.t.Helper()
	err := p.engine.client.TerminateWorkflow(p.t.Context(), calibrate.Scheduler, "", "so that it looks now")
	if err == nil {
		err = p.engine.schedule(p.t.Context())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	await.True(p.t, "a calibration of device "+device, func() bool {
		_, err := p.engine.client.DescribeWorkflowExecution(p.t.Context(), calibrate.ID(device), "")
		return err == nil
	})
	if *writeHistories {
		p.keep(calibrate.Scheduler, "../../fleet/calibrate/testdata/history/schedule.json")
	}
}

// One gate succeeds, one is canceled while it measures, one while it waits, one by a new push to its pull request, and one
// waits until its device has left the quarantine, with real servers. One is built by a host without a device. One waits for a
// host that is off. One that was recorded and never started ends as failed.
func TestEngine(t *testing.T) {
	managed, dir := hostsOf(t)
	p := newPlace(t, managed)
	for _, f := range p.engine.Check(t.Context()) {
		if f.Err != nil {
			t.Errorf("%s: %v", f.What, f.Err)
		}
	}
	var bad atomic.Bool
	var built atomic.Int32
	p.serve("GPU-a", func(ctx context.Context, l job.Lease) (job.Result, error) {
		if l.Calibrate != 0 {
			return job.Result{Lease: l.ID, Attempt: l.Attempt, Calibration: calibration.Record{Driver: "570", Rounds: 8, Noise: 0.01, Smallest: 0.02, Planted: 0.06, Found: !bad.Load()}}, nil
		}
		if l.Build {
			built.Add(1)
			return job.Result{Lease: l.ID, Attempt: l.Attempt}, nil
		}
		if l.Gate == "G2" || l.Gate == "G5" {
			for ctx.Err() == nil {
				activity.RecordHeartbeat(ctx, job.Beat{Phase: "rounds", Rounds: 3})
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
			return job.Result{}, ctx.Err()
		}
		return job.Result{Lease: l.ID, Attempt: l.Attempt, Record: "r", Exit: 1, Rounds: 8, Seconds: 1}, nil
	})
	if d := p.calibrate("GPU-a"); d.Calibrations != 1 || d.Driver != "570" || d.Quarantine != "" {
		t.Errorf("device %+v after a good calibration", d)
	}
	p.start("G1", "l4")
	if got := p.until("G1", gate.Done); got.Device != "GPU-a" || got.Attempt != 1 || got.Exit == nil || *got.Exit != 1 || got.Record != "r" || built.Load() != 1 || got.Calibration.Noise != 0.01 || got.Calibration.Driver != "570" {
		t.Errorf("gate %+v", got)
	}

	p.start("G2", "l4")
	p.until("G2", gate.Measuring)
	await.True(t, "the agent is heard", func() bool {
		b, err := p.engine.Beat(t.Context(), "kernels", "G2", "l4")
		return err == nil && b.Rounds == 3
	})
	p.stopped("GPU-a", dir)
	if err := p.engine.Cancel(t.Context(), "kernels", "G2"); err != nil {
		t.Fatal(err)
	}
	p.until("G2", gate.Canceled)
	await.True(t, "the device is free", func() bool {
		v, err := p.engine.Queue(t.Context(), "l4")
		return err == nil && len(v.Leases) == 0
	})

	p.start("G3", "h100")
	await.True(t, "the gate waits", func() bool {
		v, err := p.engine.Queue(t.Context(), "h100")
		return err == nil && len(v.Queue) == 1 && v.Queue[0].Reason == placement.None
	})
	if err := p.engine.Cancel(t.Context(), "kernels", "G3"); err != nil {
		t.Fatal(err)
	}
	p.until("G3", gate.Canceled)

	p.follow("G5")
	p.recorded("G5")
	p.until("G5", gate.Measuring)
	p.follow("G6")
	p.until("G5", gate.Canceled)
	p.recorded("G6")
	p.until("G6", gate.Done)
	p.untilTold("G5 superseded", "G6 done")
	await.True(t, "the change has ended", func() bool {
		d, err := p.engine.client.DescribeWorkflowExecution(t.Context(), gate.ChangeID("kernels", "pull/7"), "")
		return err == nil && d.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED
	})
	if *writeHistories {
		p.keep(gate.ChangeID("kernels", "pull/7"), "../../fleet/gate/testdata/history/change-superseded.json")
	}
	p.follow("G7") // a change that has ended starts again
	p.untilTold("G5 superseded", "G6 done", "G7 the suite cannot be read")
	p.restarted()
	p.untilTold("G5 superseded", "G6 done", "G7 the suite cannot be read", "G11 the suite cannot be read")
	p.elsewhere()
	p.schedules("GPU-e")
	p.sleeps(dir)

	bad.Store(true)
	p.calibrate("GPU-a")
	if d := p.calibrate("GPU-a"); d.Quarantine != calibration.Missed {
		t.Errorf("device %+v after two bad calibrations", d)
	}
	p.start("G4", "l4")
	await.True(t, "the gate waits", func() bool {
		v, err := p.engine.Queue(t.Context(), "l4")
		return err == nil && len(v.Queue) == 1 && v.Queue[0].Reason == placement.AllQuarantined
	})
	bad.Store(false)
	for range 3 {
		p.calibrate("GPU-a")
	}
	p.until("G4", gate.Done)

	await.True(t, "the unused time to be returned", func() bool {
		b, err := p.fleet.Budget(t.Context(), p.project)
		return err == nil && b.Used.Seconds < 600
	})
	if *writeHistories {
		p.keep(gate.ID("kernels", "G1"), "../../fleet/gate/testdata/history/together-2.json")
		p.keep(gate.ID("kernels", "G10"), "../../fleet/gate/testdata/history/elsewhere.json")
		p.keep(placer.ID("l4"), "../../fleet/placer/testdata/history/placer-shortly.json")
		p.keep(calibrate.ID("GPU-a"), "../../fleet/calibrate/testdata/history/calibrate.json")
	}
	p.endLost()
}

// endLost checks that a gate without a workflow ends, and that one that only waits does not.
func (p *place) endLost() {
	p.t.Helper()
	p.start("G8", "b200") // a model without devices: it waits
	p.recordOnly("G9", "l4")
	for _, c := range []struct {
		later  time.Duration
		waits  []string
		failed []string
	}{
		{0, []string{"G8", "G9"}, nil},
		{2 * unstartedAfter, []string{"G8"}, []string{"G9"}},
		{2 * silentAfter, []string{"G8"}, []string{"G9"}},
	} {
		if err := p.engine.EndLost(p.t.Context(), time.Now().Add(c.later)); err != nil {
			p.t.Fatal(err)
		}
		for _, id := range c.waits {
			if got := p.part(id); got.State != gate.Waiting {
				p.t.Errorf("after %v gate %s is %s, want waiting", c.later, id, got.State)
			}
		}
		for _, id := range c.failed {
			if got := p.part(id); got.State != gate.Failed || got.Reason == "" {
				p.t.Errorf("after %v gate %s is %s because of %q, want failed", c.later, id, got.State, got.Reason)
			}
		}
	}
	p.start("G9", "l4") // its client sends it again after all
	p.until("G9", gate.Done)
	if err := p.engine.client.TerminateWorkflow(p.t.Context(), gate.ID("kernels", "G8"), "", "by an operator"); err != nil {
		p.t.Fatal(err)
	}
	if err := p.engine.EndLost(p.t.Context(), time.Now().Add(2*silentAfter)); err != nil {
		p.t.Fatal(err)
	}
	if got := p.part("G8"); got.State == gate.Waiting {
		p.t.Errorf("gate G8 waits although its workflow was terminated")
	}
}

// keep writes the history of a workflow to a file.
func (p *place) keep(workflow, file string) {
	p.t.Helper()
	h := &history.History{}
	events := p.engine.client.GetWorkflowHistory(p.t.Context(), workflow, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			p.t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	text, err := protojson.MarshalOptions{Multiline: true, Indent: " "}.Marshal(h)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, append(text, '\n'), 0o600))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestTried(t *testing.T) {
	for version, ok := range map[string]bool{"1.29.1": true, "1.32.1": true, "1.28.0": false, "1.33.0": false, "2.30.0": false, "": false, "1.32": false} {
		if err := tried(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}
