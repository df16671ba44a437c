// Package gateway lets agents reach Temporal and the files of their leases, and nothing else. Temporal itself cannot confine an agent: a
// client that may poll a queue may also start and end every workflow of the namespace, and a task token is a plain message that anyone can
// forge. The package must not know where keys, files and audit lines are kept.
package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// Agent is the holder of a key.
type Agent struct {
	ID     string
	Queues []string  // the queues that it may poll
	Tier   tier.Tier // of code that its host serves
	Host   job.Host  // as it described it last
}

// Answers of [Keys] and [Blobs].
var (
	ErrUnknown  = errors.New("unknown or revoked")                    // of a key, a code, or a file that is gone
	ErrMismatch = errors.New("the content does not match its digest") // of a file; nothing is stored
	ErrFull     = errors.New("no room for files of the project")      // nothing is stored
)

// Keys finds agents. Only hashes of keys reach it.
type Keys interface {
	// Agent returns the agent whose key has this SHA-256, or [ErrUnknown].
	Agent(ctx context.Context, key [sha256.Size]byte) (Agent, error)
	// Enroll exchanges a one-time code for the right to use a key, and returns the new agent, or [ErrUnknown]. The same code with the same
	// key returns the same agent again, because an answer can be lost.
	Enroll(ctx context.Context, in job.Enrollment, key [sha256.Size]byte) (Agent, error)
	// Describe records what an agent says of its host, and returns the agent, whose queues may have changed.
	Describe(ctx context.Context, a Agent, h job.Host) (Agent, error)
	// TakeOnly records that an agent takes a lease whose host may take no other one. If it has taken another one, it returns [ErrUnknown].
	TakeOnly(ctx context.Context, a Agent, lease string) error
}

// Blobs holds files by project and SHA-256.
type Blobs interface {
	// Get opens a file, or returns [ErrUnknown].
	Get(ctx context.Context, project, digest string) (io.ReadCloser, error)
	// Put stores a file, or returns [ErrMismatch] if its content does not match the digest and the size, or [ErrFull].
	Put(ctx context.Context, project, digest string, r io.Reader, size int64) error
}

// Refusal is a request that was refused.
type Refusal struct {
	Agent  string // empty if the key is unknown
	Remote string // address of the client
	Method string
	Reason string
	Missed int // refusals before it that were not reported, because there were too many
}

// Audit records refusals.
type Audit interface {
	Refused(ctx context.Context, r Refusal)
}

// Options are the parts of a gateway. All are required.
type Options struct {
	Temporal  workflowservice.WorkflowServiceClient
	Namespace string
	Secret    []byte // seals task tokens, at least 32 bytes; agents hold tokens for hours, so it must survive a restart
	Keys      Keys
	Blobs     Blobs
	Audit     Audit
	Log       *slog.Logger
	Now       func() time.Time
}

// Limits of what an agent may send.
const (
	maxRequest  = 64 << 10 // bytes of a gRPC message
	maxDetails  = 4 << 10  // bytes of a heartbeat's details
	maxOutcome  = 16 << 10 // bytes of a result or a failure
	maxInFlight = 192      // requests of one agent at a time; each device holds two for its polls
	maxFiles    = 8        // files of one agent at a time: each can fill 1 GiB before the quota of the project counts it
)

// Gateway is the HTTP handler for agents. It serves gRPC and plain HTTP on one port.
type Gateway struct {
	o      Options
	sealer sealer
	grpc   *grpc.Server
	mux    *http.ServeMux

	reports   *rate.Limiter // of agents
	unknown   *rate.Limiter // of clients without a valid key, which must not hide those of agents
	mu        sync.Mutex
	missed    int
	active    map[string]int       // requests by agent, and files
	described map[string]time.Time // when an agent described its host last
}

// New returns a gateway.
func New(o Options) (*Gateway, error) {
	if o.Temporal == nil || o.Namespace == "" || o.Keys == nil || o.Blobs == nil || o.Audit == nil || o.Log == nil || o.Now == nil {
		return nil, errors.New("cannot create a gateway: an option is missing")
	}
	s, err := newSealer(o.Secret, o.Namespace)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		o: o, sealer: s, grpc: grpc.NewServer(grpc.MaxRecvMsgSize(maxRequest), grpc.UnaryInterceptor(keepStatus)), mux: http.NewServeMux(),
		reports: rate.NewLimiter(10, 200), unknown: rate.NewLimiter(1, 100), active: map[string]int{}, described: map[string]time.Time{},
	}
	workflowservice.RegisterWorkflowServiceServer(g.grpc, &service{g: g})
	g.mux.HandleFunc("POST "+job.EnrollPath, g.enroll)
	g.mux.HandleFunc("GET "+job.BundlePath+"{digest}", g.bundle)
	g.mux.HandleFunc("PUT "+job.DocumentPath+"{digest}", g.document)
	return g, nil
}

// Serve serves agents until ctx ends. A poll that waits then is cut off, and its agent polls again.
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error {
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: g, Protocols: &p, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10}
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if s.Shutdown(end) != nil {
			_ = s.Close()
		}
	})
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("cannot serve agents: %w", err)
	}
	return nil
}

// keepStatus answers with the status of Temporal's errors. gRPC knows only its own, and would call a lost lease an unknown
// error, which an agent repeats without end.
func keepStatus(ctx context.Context, in any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	out, err := handle(ctx, in)
	return out, serviceerror.ToStatus(err).Err()
}

// methods are those that an agent may call: what the worker and the client of Temporal's SDK need to poll activities and to end them.
var methods = []string{
	"GetSystemInfo", "DescribeNamespace", "PollActivityTaskQueue", "RecordActivityTaskHeartbeat",
	"RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled", "ShutdownWorker",
}

const servicePath = "/temporal.api.workflowservice.v1.WorkflowService/"

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	calls := r.ProtoMajor > 1 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
	if !calls {
		if r.ContentLength != 0 { // a client without a key, which sends slowly, must not keep a connection open
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(sendWithin))
		}
		g.mux.ServeHTTP(w, r)
		return
	}
	// Key and method are checked before the message is read.
	agent, err := g.agent(r)
	method, ours := strings.CutPrefix(r.URL.Path, servicePath)
	switch {
	case errors.Is(err, ErrUnknown):
		g.refuse(r.Context(), Refusal{Remote: r.RemoteAddr, Method: r.URL.Path, Reason: "unknown or revoked key"})
		grpcError(w, codes.Unauthenticated, "the key is unknown or was revoked")
	case err != nil:
		g.o.Log.ErrorContext(r.Context(), "cannot check the key of an agent", "error", err)
		grpcError(w, codes.Unavailable, "keys cannot be checked now")
	case !ours || !slices.Contains(methods, method):
		g.refuse(r.Context(), Refusal{Agent: agent.ID, Remote: r.RemoteAddr, Method: r.URL.Path, Reason: "method not allowed"})
		grpcError(w, codes.PermissionDenied, "agents may not call this method")
	case !g.enter(agent.ID, maxInFlight):
		g.refuse(r.Context(), Refusal{Agent: agent.ID, Remote: r.RemoteAddr, Method: r.URL.Path, Reason: "too many requests at a time"})
		grpcError(w, codes.ResourceExhausted, "too many requests at a time")
	default:
		defer g.leave(agent.ID)
		g.grpc.ServeHTTP(w, r.WithContext(withCaller(r.Context(), caller{agent, keyOf(r), r.RemoteAddr, job.Host{Tools: r.Header.Get(job.ToolsHeader), Arch: r.Header.Get(job.ArchHeader)}})))
	}
}

// grpcError answers a gRPC request without reading it.
func grpcError(w http.ResponseWriter, code codes.Code, message string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", strconv.Itoa(int(code)))
	w.Header().Set("Grpc-Message", message)
	w.WriteHeader(http.StatusOK)
}

// keyOf returns the hash of the request's key; zero if there is none.
func keyOf(r *http.Request) [sha256.Size]byte {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || text == "" {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256([]byte(text))
}

func (g *Gateway) agent(r *http.Request) (Agent, error) {
	key := keyOf(r)
	if key == ([sha256.Size]byte{}) {
		return Agent{}, ErrUnknown
	}
	return g.o.Keys.Agent(r.Context(), key)
}

// sendWithin is how long a client may take to send a request over HTTP. Files have more time.
const sendWithin = 30 * time.Second

// describeEvery is how often an agent may describe its host anew. Each time is a transaction.
const describeEvery = 10 * time.Second

// mayDescribe reports whether an agent may describe its host now.
func (g *Gateway) mayDescribe(agent string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.o.Now()
	if now.Sub(g.described[agent]) < describeEvery {
		return false
	}
	g.described[agent] = now
	return true
}

// enter reports whether a request of an agent, or another thing that it does, may begin beside the others. Then leave follows.
func (g *Gateway) enter(what string, limit int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.active[what] >= limit {
		return false
	}
	g.active[what]++
	return true
}

func (g *Gateway) leave(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.active[what]--; g.active[what] == 0 {
		delete(g.active, what)
	}
}

// refuse reports a refusal. A client that causes thousands of them must not fill the audit log, so the rest is counted.
func (g *Gateway) refuse(ctx context.Context, r Refusal) {
	reports := g.reports
	if r.Agent == "" {
		reports = g.unknown
	}
	g.mu.Lock()
	if !reports.Allow() {
		g.missed++
		g.mu.Unlock()
		return
	}
	r.Missed, g.missed = g.missed, 0
	g.mu.Unlock()
	r.Method, r.Reason = clip(r.Method), clip(r.Reason)
	g.o.Audit.Refused(context.WithoutCancel(ctx), r)
}

// clip bounds a text that the client chose.
func clip(text string) string { return strings.ToValidUTF8(text[:min(len(text), 200)], "?") }
