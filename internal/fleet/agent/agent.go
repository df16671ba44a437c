// Package agent carries out the leases of a host's devices: it takes one from the gateway, lets pawl measure it in a process of its own, and
// delivers the documents. All that it needs to go on after a crash is in its folder. The package must not know how anything is measured,
// and it holds one secret: the key of its host.
package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	temporallog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// Options say what an agent works with.
type Options struct {
	Server  string   // URL of the gateway
	State   string   // folder of its key and its leases
	Code    string   // one-time code; needed only the first time
	Devices []string // devices to enroll; nil for those that pawl finds
	Model   string   // model of the devices; empty for what pawl finds
	// BuildOnly is for a host without devices: it builds for cards of hosts with equal tools.
	BuildOnly bool
	// BuiltElsewhere lets such hosts build for the cards of this one.
	BuiltElsewhere bool
	Pawl           string // path of the pawl program
	Log            *slog.Logger
}

// engine is what an agent needs of Temporal's client while a lease is under way.
type engine interface {
	RecordActivityHeartbeat(ctx context.Context, token []byte, details ...any) error
	CompleteActivity(ctx context.Context, token []byte, result any, err error) error
}

// pace is how long the agent waits; tests shorten it.
type pace struct {
	beat     time.Duration // between heartbeats
	patience time.Duration // for the answer to one
	retry    time.Duration // before a failed request is repeated, doubled up to maxRetry
	stop     time.Duration // for pawl to restore clocks and end
	turn     time.Duration // for what else runs on the host
}

// A canceled lease frees its card within a beat, its patience and the time that pawl takes to stop.
var defaultPace = pace{beat: 2 * time.Second, patience: time.Second, retry: time.Second, stop: 3 * time.Second, turn: 3 * time.Minute}

// maxRetry is well below the 20 s for which a lost lease is offered to its device again: an agent that delivers a result learns
// only from its next try that the lease was lost.
const maxRetry = 5 * time.Second

// Agent carries out leases.
type Agent struct {
	state  string
	pawl   string
	id     identity
	engine engine
	http   *http.Client
	log    *slog.Logger
	pace   pace
	host   atomic.Pointer[job.Host] // as the server is told; nil if it takes no part in builds elsewhere
	stale  chan error               // why the host that only builds is not as the server was told
	turn   chan struct{}            // holds one element while a build or a measurement runs: one at a time on a host
	once   *once                    // nil to carry out leases without end
}

// Serve carries out leases until ctx ends. It then takes no new lease, and returns when those under way are delivered.
func Serve(ctx context.Context, o Options) error { return serve(ctx, o, nil) }

func serve(ctx context.Context, o Options, only *once) error {
	if err := os.MkdirAll(filepath.Join(o.State, "leases"), 0o700); err != nil {
		return fmt.Errorf("cannot create the agent's folder: %w", err)
	}
	if err := checkFolder(o.State); err != nil {
		return err
	}
	lock, err := lockFolder(o.State)
	if err != nil {
		return err
	}
	defer lock.Close()
	a := &Agent{
		state: o.State, pawl: o.Pawl, http: newHTTP(), log: o.Log, pace: defaultPace, turn: make(chan struct{}, 1), stale: make(chan error, 1), once: only,
	}
	if a.id, err = a.enrolled(ctx, o); err != nil {
		return err
	}
	if err := a.fresh(only); err != nil {
		return err
	}
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	a.engine = c
	a.finishAll(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return nil
	}
	if a.id.onlyBuilds() {
		if err := a.describe(ctx); err != nil {
			return err
		}
	} else if o.BuiltElsewhere {
		select { // the next poll tells the server, and a poll may take a minute
		case <-a.describeOften(ctx):
		case <-time.After(describeSoon):
		}
	}
	return a.poll(ctx, c)
}

// checkFolder refuses a folder that builds in the sandbox can read, because the key is in it.
func checkFolder(state string) error {
	path, err := filepath.EvalSymlinks(state)
	if err != nil {
		return fmt.Errorf("cannot find the agent's folder: %w", err)
	}
	for _, shown := range []string{"/usr/", "/opt/", "/nix/store/"} {
		if strings.HasPrefix(path, shown) {
			return fmt.Errorf("builds can read %s, and the key would be in %s: choose another --state, such as /var/lib/pawl-agent", shown, state)
		}
	}
	return nil
}

// lockFolder keeps a second agent out of the folder.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the agent's folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another pawl-agent uses %s: stop it, or choose another --state", dir), f.Close())
	}
	return f, nil
}

// GetHeaders returns the headers of a request to the gateway: the key, and what is known of the host.
func (a *Agent) GetHeaders(context.Context) (map[string]string, error) {
	h := map[string]string{"authorization": "Bearer " + a.id.Key}
	if host := a.host.Load(); host != nil {
		h[job.ToolsHeader], h[job.ArchHeader] = host.Tools, host.Arch
	}
	return h, nil
}

// connect returns a client of the gateway. It connects with its first request, because the gateway may be away when the agent starts.
func (a *Agent) connect() (client.Client, error) {
	u, err := url.Parse(a.id.Server)
	if err != nil {
		return nil, fmt.Errorf("cannot read the address of the server: %w", err)
	}
	o := client.Options{
		HostPort: u.Host, Namespace: a.id.Namespace, HeadersProvider: a, Identity: "agent:" + a.id.Agent,
		Logger: temporallog.NewStructuredLogger(a.log),
	}
	port := "80"
	if u.Scheme == "https" {
		o.ConnectionOptions.TLS, port = &tls.Config{MinVersion: tls.VersionTLS12}, "443"
	}
	if u.Port() == "" {
		o.HostPort += ":" + port
	}
	c, err := client.NewLazyClient(o)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", a.id.Server, err)
	}
	return c, nil
}

// poll takes leases and their builds from the queues of all devices until ctx ends.
func (a *Agent) poll(ctx context.Context, c client.Client) error {
	queues := a.queues()
	fatal := make(chan error, len(queues))
	var workers []worker.Worker
	defer func() {
		for _, w := range workers {
			w.Stop()
		}
	}()
	for _, l := range queues {
		w, err := a.start(ctx, c, l, fatal)
		if err != nil {
			return err
		}
		workers = append(workers, w)
	}
	a.log.InfoContext(ctx, "waiting for leases", "agent", a.id.Agent, "devices", a.id.Devices)
	select {
	case <-ctx.Done():
		a.log.InfoContext(ctx, "stopping: leases under way are finished first")
		return nil
	case err := <-fatal:
		return fmt.Errorf("cannot wait for leases: %w", err)
	case err := <-a.stale:
		return err
	}
}

// queues returns a lease for each queue that the agent polls.
func (a *Agent) queues() (list []job.Lease) {
	if a.id.onlyBuilds() {
		return []job.Lease{{Build: true, Tier: a.id.Tier, Host: *a.host.Load()}}
	}
	for _, device := range a.id.Devices {
		list = append(list, job.Lease{Device: device}, job.Lease{Device: device, Build: true})
	}
	return list
}

// start starts a worker for the queue of leases like l. It tries until the server answers.
func (a *Agent) start(ctx context.Context, c client.Client, l job.Lease, fatal chan<- error) (worker.Worker, error) {
	for wait := a.pace.retry; ; wait = min(2*wait, maxRetry) {
		w := worker.New(c, l.Queue(), worker.Options{
			DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: 1, MaxConcurrentActivityTaskPollers: 1,
			WorkerStopTimeout: 365 * 24 * time.Hour, // leases under way have limits of their own
			OnFatalError:      func(err error) { fatal <- err },
		})
		w.RegisterActivityWithOptions(a.take, activity.RegisterOptions{Name: l.Activity()})
		err := w.Start()
		if err == nil {
			return w, nil
		}
		a.log.WarnContext(ctx, "cannot wait for leases yet", "queue", l.Queue(), "error", err)
		if sleep(ctx, wait) != nil {
			return nil, fmt.Errorf("cannot wait for leases at %s: %w", l.Queue(), err)
		}
	}
}

// take is the activity: it keeps the lease on disk and finishes it. The result does not go through the SDK, which loses it if the server is
// away at that moment.
func (a *Agent) take(ctx context.Context, l job.Lease) (job.Result, error) {
	if err := check(l); err != nil {
		return job.Result{}, temporal.NewNonRetryableApplicationError("cannot carry out the lease: "+err.Error(), "InvalidLease", nil)
	}
	if err := a.admit(l); err != nil {
		return job.Result{}, temporal.NewNonRetryableApplicationError("cannot carry out the lease: "+err.Error(), "WrongTier", nil)
	}
	if l.Build && a.once != nil { // the measurement builds, so that one lease is one task
		return job.Result{}, temporal.NewNonRetryableApplicationError("the agent was started for one measurement", "OnlyMeasures", nil)
	}
	if !a.once.admits(l.ID) {
		return job.Result{}, temporal.NewNonRetryableApplicationError("the agent was started for another lease", "OtherLease", nil)
	}
	if err := a.use(l.ID); err != nil {
		return job.Result{}, temporal.NewNonRetryableApplicationError(err.Error(), "UsedHost", nil)
	}
	d, err := a.keep(l, activity.GetInfo(ctx).TaskToken)
	if err != nil {
		return job.Result{}, err
	}
	a.finish(context.WithoutCancel(ctx), d)
	a.once.ended(l.ID)
	return job.Result{}, activity.ErrResultPending
}

// finishAll finishes what an earlier process began.
func (a *Agent) finishAll(ctx context.Context) {
	for _, d := range a.kept() {
		a.log.InfoContext(ctx, "finishing a lease of an earlier process", "lease", d.lease.ID)
		a.finish(ctx, d)
		a.once.ended(d.lease.ID)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
