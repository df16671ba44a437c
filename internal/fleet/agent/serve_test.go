package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// TestMain lets the test binary be an agent in a process of its own, which can be killed.
func TestMain(m *testing.M) {
	state := os.Getenv("PAWL_TEST_AGENT")
	if state == "" {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() { <-signals; cancel() }()
	o := Options{
		Server: os.Getenv("PAWL_TEST_SERVER"), State: state, Code: "code", Model: "cpu", Devices: []string{"cpu:0"}, Pawl: os.Getenv("PAWL_TEST_PAWL"),
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	var err error
	if lease, wait, only := strings.Cut(os.Getenv("PAWL_TEST_ONCE"), " "); only {
		patience, _ := time.ParseDuration(wait)
		err = Once(ctx, o, lease, patience)
	} else {
		err = Serve(ctx, o)
	}
	if err != nil {
		slog.Error("the agent ended", "error", err)
		os.Exit(3)
	}
	os.Exit(0)
}

// fakeTemporal stands for Temporal: one task at a time, which stays until it is completed.
type fakeTemporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	tasks  chan *workflowservice.PollActivityTaskQueueResponse // of the queue of cpu:0
	builds chan *workflowservice.PollActivityTaskQueueResponse // of its queue of builds
	mu     sync.Mutex
	beats  int
	ended  map[string][]job.Result
	failed []string      // types of failures
	more   chan struct{} // receives a value for every completion
}

func (u *fakeTemporal) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{ServerVersion: "1.32.1", Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (u *fakeTemporal) PollActivityTaskQueue(ctx context.Context, in *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	tasks := u.tasks
	if in.GetTaskQueue().GetName() == job.BuildQueue("cpu:0") {
		tasks = u.builds
	}
	select {
	case t := <-tasks:
		return t, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (u *fakeTemporal) RecordActivityTaskHeartbeat(_ context.Context, in *workflowservice.RecordActivityTaskHeartbeatRequest) (*workflowservice.RecordActivityTaskHeartbeatResponse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.beats++; u.ended[string(in.GetTaskToken())] != nil {
		return nil, status.Error(codes.NotFound, "already completed")
	}
	return &workflowservice.RecordActivityTaskHeartbeatResponse{}, nil
}

func (u *fakeTemporal) RespondActivityTaskCompleted(_ context.Context, in *workflowservice.RespondActivityTaskCompletedRequest) (*workflowservice.RespondActivityTaskCompletedResponse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	token := string(in.GetTaskToken())
	if u.ended[token] != nil {
		return nil, status.Error(codes.NotFound, "already completed")
	}
	var r job.Result
	if err := json.Unmarshal(in.GetResult().GetPayloads()[0].GetData(), &r); err != nil {
		return nil, err
	}
	u.ended[token] = append(u.ended[token], r)
	u.more <- struct{}{}
	return &workflowservice.RespondActivityTaskCompletedResponse{}, nil
}

func (u *fakeTemporal) RespondActivityTaskFailed(_ context.Context, in *workflowservice.RespondActivityTaskFailedRequest) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.failed = append(u.failed, in.GetFailure().GetApplicationFailureInfo().GetType())
	u.more <- struct{}{}
	return &workflowservice.RespondActivityTaskFailedResponse{}, nil
}

// offer puts a lease on its queue of cpu:0.
func (u *fakeTemporal) offer(t testing.TB, l job.Lease, token string) {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	tasks := u.tasks
	if l.Build {
		tasks = u.builds
	}
	tasks <- &workflowservice.PollActivityTaskQueueResponse{
		TaskToken: []byte(token), WorkflowNamespace: "ns", WorkflowType: &commonpb.WorkflowType{Name: "gate"}, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: "w", RunId: "r"},
		ActivityType: &commonpb.ActivityType{Name: l.Activity()}, ActivityId: "5", Attempt: 1,
		ScheduledTime: timestamppb.Now(), StartedTime: timestamppb.Now(), StartToCloseTimeout: durationpb.New(time.Hour), ScheduleToCloseTimeout: durationpb.New(time.Hour),
		Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: text}}},
	}
}

// parts are the keys, files and audit of a gateway, in memory. Every code enrolls.
type parts struct {
	mu      sync.Mutex
	agents  map[[sha256.Size]byte]gateway.Agent
	files   map[string][]byte
	refused []gateway.Refusal
}

func (p *parts) Agent(_ context.Context, key [sha256.Size]byte) (gateway.Agent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, ok := p.agents[key]; ok {
		return a, nil
	}
	return gateway.Agent{}, gateway.ErrUnknown
}

func (p *parts) Enroll(_ context.Context, in job.Enrollment, key [sha256.Size]byte) (gateway.Agent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.agents[key] = gateway.Agent{ID: "1", Queues: []string{job.Queue(in.Devices[0]), job.BuildQueue(in.Devices[0])}}
	return p.agents[key], nil
}

func (p *parts) Describe(_ context.Context, a gateway.Agent, h job.Host) (gateway.Agent, error) {
	a.Host = h
	return a, nil
}

func (p *parts) TakeOnly(context.Context, gateway.Agent, string) error { return nil }

func (p *parts) Get(_ context.Context, _, digest string) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return io.NopCloser(bytes.NewReader(p.files[digest])), nil
}

func (p *parts) Put(_ context.Context, _, digest string, r io.Reader, _ int64) error {
	text, err := io.ReadAll(r)
	if err != nil || digestOf(text) != digest {
		return gateway.ErrMismatch
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[digest] = text
	return nil
}

func (p *parts) Refused(_ context.Context, r gateway.Refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = append(p.refused, r)
}

// fleet is a gateway before a Temporal, and a host whose agent can be killed.
type fleet struct {
	*world
	*parts
	up     *fakeTemporal
	server string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{
		world: newWorld(t), parts: &parts{agents: map[[sha256.Size]byte]gateway.Agent{}, files: map[string][]byte{}},
		up: &fakeTemporal{
			tasks: make(chan *workflowservice.PollActivityTaskQueueResponse, 1), builds: make(chan *workflowservice.PollActivityTaskQueueResponse, 1),
			ended: map[string][]job.Result{}, more: make(chan struct{}, 100),
		},
	}
	for path, text := range f.world.files {
		f.parts.files[strings.TrimPrefix(path, job.BundlePath)] = text
	}
	f.server = serveGateway(t, fleettest.Temporal(t, f.up), "ns", f.parts)
	return f
}

// serveGateway starts a gateway and returns its address.
func serveGateway(t *testing.T, up workflowservice.WorkflowServiceClient, namespace string, p *parts) string {
	t.Helper()
	g, err := gateway.New(gateway.Options{
		Temporal: up, Namespace: namespace, Secret: bytes.Repeat([]byte("s"), 32), Keys: p, Blobs: p, Audit: p,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Serve(ctx, front) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + front.Addr().String()
}

// start starts the agent's process.
func (f *fleet) start(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "PAWL_TEST_AGENT="+filepath.Join(f.dir, "state"), "PAWL_TEST_SERVER="+f.server, "PAWL_TEST_PAWL="+filepath.Join(f.dir, "pawl"))
	cmd.Stderr = t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// holds reports whether the agent has a lease on disk, or has delivered it.
func (f *fleet) holds(id string) bool {
	f.up.mu.Lock()
	defer f.up.mu.Unlock()
	return f.up.ended[id] != nil || slices.ContainsFunc(f.agent.kept(), func(d *leaseDir) bool { return d.lease.ID == id })
}

func (f *fleet) checkRounds(t *testing.T, r job.Result) {
	t.Helper()
	f.parts.mu.Lock()
	packed := f.parts.files[r.Record]
	f.parts.mu.Unlock()
	f.world.mu.Lock()
	f.world.files[job.DocumentPath+r.Record] = packed
	f.world.mu.Unlock()
	want := `{"record":"open"}` + "\n"
	for i := range 4 {
		want += `{"record":"round","round":` + string(rune('0'+i)) + "}\n"
	}
	if got := f.documents(t, r.Record)["current.json"]; got != want {
		t.Errorf("rounds %q, want %q", got, want)
	}
}

// The agent is killed at random moments, and its host starts it again. Each lease has one result, with every round once.
func TestServe_KilledAtAnyMoment(t *testing.T) {
	f := newFleet(t)
	random := rand.New(rand.NewPCG(1, 2))
	cmd := f.start(t)
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	killed := 0
	for i := range 6 {
		l := f.lease
		l.ID = string(rune('a' + i))
		f.up.offer(t, l, l.ID)
		for kills, ended := 0, false; !ended; {
			wait := time.Second
			if kills < 4 {
				wait = time.Duration(random.IntN(600)) * time.Millisecond
			}
			select {
			case <-f.up.more:
				ended = true
				continue
			case <-time.After(wait):
			}
			if kills++; kills <= 4 {
				killed++
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				_ = os.Remove(filepath.Join(f.dir, "running"))
				cmd = f.start(t)
			}
			if !f.holds(l.ID) && len(f.up.tasks) == 0 { // killed before it was on disk: Temporal offers it again
				f.up.offer(t, l, l.ID)
			}
		}
		f.up.mu.Lock()
		results := f.up.ended[l.ID]
		f.up.mu.Unlock()
		if len(results) != 1 || results[0].Lease != l.ID || results[0].Exit != 1 {
			t.Fatalf("lease %s has the results %+v", l.ID, results)
		}
		f.checkRounds(t, results[0])
	}
	t.Logf("%d kills, pawl started %d times", killed, len(f.lines("runs")))
	if problems := f.lines("problems"); problems != nil {
		t.Error(problems)
	}
	f.parts.mu.Lock()
	defer f.parts.mu.Unlock()
	for _, r := range f.refused {
		t.Errorf("the agent did something that it may not: %+v", r)
	}
}

// The first signal lets a measurement end, and takes no new one.
func TestServe_DrainsOnTerm(t *testing.T) {
	f := newFleet(t)
	f.hold(t, "2")
	cmd := f.start(t)
	defer func() { _ = cmd.Process.Kill() }()
	f.up.offer(t, f.lease, "first")
	f.held(t)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	f.hold(t, "")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
	f.up.mu.Lock()
	defer f.up.mu.Unlock()
	if r := f.up.ended["first"]; len(r) != 1 || r[0].Exit != 1 {
		t.Errorf("results %+v", r)
	}
	if f.up.beats == 0 {
		t.Error("no heartbeat arrived")
	}
}
