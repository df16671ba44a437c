package gateway_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

const namespace = "pawl-devices"

// upstream stands for Temporal. It records every request.
type upstream struct {
	workflowservice.UnimplementedWorkflowServiceServer
	mu    sync.Mutex
	calls []proto.Message
	tasks chan *workflowservice.PollActivityTaskQueueResponse
	ended map[string]bool
}

func (u *upstream) record(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	u.mu.Lock()
	u.calls = append(u.calls, proto.Clone(req.(proto.Message)))
	u.mu.Unlock()
	return handler(ctx, req)
}

func (u *upstream) seen() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.calls)
}

func (u *upstream) last() proto.Message {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls[len(u.calls)-1]
}

func (u *upstream) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{ServerVersion: "1.32.1"}, nil
}

func (u *upstream) PollActivityTaskQueue(ctx context.Context, _ *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	select {
	case t := <-u.tasks:
		return t, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (u *upstream) RecordActivityTaskHeartbeat(context.Context, *workflowservice.RecordActivityTaskHeartbeatRequest) (*workflowservice.RecordActivityTaskHeartbeatResponse, error) {
	return &workflowservice.RecordActivityTaskHeartbeatResponse{CancelRequested: true}, nil
}

// end ends a task once, as Temporal does.
func (u *upstream) end(token []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended[string(token)] {
		return status.Error(codes.NotFound, "activity already completed")
	}
	u.ended[string(token)] = true
	return nil
}

func (u *upstream) RespondActivityTaskCompleted(_ context.Context, in *workflowservice.RespondActivityTaskCompletedRequest) (*workflowservice.RespondActivityTaskCompletedResponse, error) {
	return &workflowservice.RespondActivityTaskCompletedResponse{}, u.end(in.GetTaskToken())
}

func (u *upstream) RespondActivityTaskFailed(_ context.Context, in *workflowservice.RespondActivityTaskFailedRequest) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	return &workflowservice.RespondActivityTaskFailedResponse{}, u.end(in.GetTaskToken())
}

func (u *upstream) RespondActivityTaskCanceled(_ context.Context, in *workflowservice.RespondActivityTaskCanceledRequest) (*workflowservice.RespondActivityTaskCanceledResponse, error) {
	return &workflowservice.RespondActivityTaskCanceledResponse{}, u.end(in.GetTaskToken())
}

// keys, files and audit keep everything in memory.
type keys struct {
	mu     sync.Mutex
	agents map[[sha256.Size]byte]gateway.Agent
	fails  error

	described int
	taken     map[string]string // only lease by agent
}

func (k *keys) Agent(_ context.Context, key [sha256.Size]byte) (gateway.Agent, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fails != nil {
		return gateway.Agent{}, k.fails
	}
	a, ok := k.agents[key]
	if !ok {
		return a, gateway.ErrUnknown
	}
	return a, nil
}

func (k *keys) Enroll(_ context.Context, in job.Enrollment, key [sha256.Size]byte) (gateway.Agent, error) {
	if in.Code != "code" || len(in.Devices) == 0 { // the code is not for a host that only builds
		return gateway.Agent{}, gateway.ErrUnknown
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	a := gateway.Agent{ID: "new", Tier: tier.Checked}
	for _, d := range in.Devices {
		a.Queues = append(a.Queues, job.Queue(d))
	}
	k.agents[key] = a
	return a, nil
}

func (k *keys) Describe(_ context.Context, a gateway.Agent, h job.Host) (gateway.Agent, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, known := range k.agents {
		if known.ID == a.ID {
			k.described++
			known.Host = h
			if known.ID == agentC.ID {
				known.Queues = []string{job.BuilderQueue(known.Tier, h.Tools)}
			}
			k.agents[key] = known
			return known, nil
		}
	}
	return gateway.Agent{}, gateway.ErrUnknown
}

func (k *keys) TakeOnly(_ context.Context, a gateway.Agent, lease string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.taken == nil {
		k.taken = map[string]string{}
	}
	if had := k.taken[a.ID]; had != "" && had != lease {
		return gateway.ErrUnknown
	}
	k.taken[a.ID] = lease
	return k.fails
}

func (k *keys) set(key string, a *gateway.Agent) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a == nil {
		delete(k.agents, sha256.Sum256([]byte(key)))
		return
	}
	k.agents[sha256.Sum256([]byte(key))] = *a
}

type files struct {
	mu   sync.Mutex
	kept map[string][]byte
	full bool

	begun atomic.Int32 // files that were stored, or are
}

func (f *files) Get(_ context.Context, project, digest string) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.kept[project+"/"+digest]
	if !ok {
		return nil, gateway.ErrUnknown
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (f *files) Put(_ context.Context, project, digest string, r io.Reader, size int64) error {
	f.begun.Add(1)
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if int64(len(b)) != size || digestOf(b) != digest {
		return gateway.ErrMismatch
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return gateway.ErrFull
	}
	f.kept[project+"/"+digest] = b
	return nil
}

type audit struct {
	mu   sync.Mutex
	list []gateway.Refusal
}

func (a *audit) Refused(_ context.Context, r gateway.Refusal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, r)
}

// total counts refusals, including those that were only counted.
func (a *audit) total() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.list)
	for _, r := range a.list {
		n += r.Missed
	}
	return n
}

func (a *audit) last() gateway.Refusal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list[len(a.list)-1]
}

// world is a gateway between two agents, "a" and "b", and an upstream.
type world struct {
	address string
	handler http.Handler
	up      *upstream
	keys    *keys
	files   *files
	audit   *audit
	now     func() time.Time
}

var (
	bundle  = []byte("a git bundle")
	agentA  = gateway.Agent{ID: "1", Queues: []string{job.Queue("cpu:0"), job.Queue("cpu:1"), job.BuildQueue("cpu:0")}}
	agentB  = gateway.Agent{ID: "2", Queues: []string{job.Queue("cpu:2")}}
	agentC  = gateway.Agent{ID: "3"} // of a host that only builds
	theTime = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
)

func digestOf(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{
		up:    &upstream{tasks: make(chan *workflowservice.PollActivityTaskQueueResponse, 10), ended: map[string]bool{}},
		keys:  &keys{agents: map[[sha256.Size]byte]gateway.Agent{}},
		files: &files{kept: map[string][]byte{"kernels/" + digestOf(bundle): bundle, "other/" + digestOf([]byte("secret")): []byte("secret")}},
		audit: &audit{}, now: func() time.Time { return theTime },
	}
	w.keys.set("key-a", &agentA)
	w.keys.set("key-b", &agentB)
	w.keys.set("key-builder", &agentC)
	g, err := gateway.New(gateway.Options{
		Temporal: fleettest.Temporal(t, w.up, grpc.UnaryInterceptor(w.up.record)), Namespace: namespace, Secret: bytes.Repeat([]byte("s"), 32),
		Keys: w.keys, Blobs: w.files, Audit: w.audit, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now() },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.handler = g
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.address = front.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Serve(ctx, front) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

// as returns a client of the gateway that sends a key.
func (w *world) as(t testing.TB, key string) *grpc.ClientConn {
	t.Helper()
	add := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if key != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", key)
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	conn, err := grpc.NewClient(w.address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(add))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func lease() job.Lease {
	return job.Lease{ID: "lease-1", Project: "kernels", Device: "cpu:0", Attempt: 1, Bundle: digestOf(bundle), Seconds: 60}
}

func taskOf(t testing.TB, l job.Lease, token string) *workflowservice.PollActivityTaskQueueResponse {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return &workflowservice.PollActivityTaskQueueResponse{
		TaskToken: []byte(token), ActivityType: &commonpb.ActivityType{Name: l.Activity()}, ActivityId: "5", Attempt: 1,
		Input:  &commonpb.Payloads{Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: text}}},
		Header: &commonpb.Header{Fields: map[string]*commonpb.Payload{"secret": {}}},
	}
}

func pollOf(queue string) *workflowservice.PollActivityTaskQueueRequest {
	return &workflowservice.PollActivityTaskQueueRequest{Namespace: namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue}, Identity: "another"}
}

// token lets agent a take a lease, and returns its sealed token.
func (w *world) token(t testing.TB, raw string) []byte {
	t.Helper()
	w.up.tasks <- taskOf(t, lease(), raw)
	task, err := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-a")).PollActivityTaskQueue(t.Context(), pollOf(job.Queue("cpu:0")))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(task.GetTaskToken())
}
