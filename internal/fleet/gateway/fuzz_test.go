package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// Methods of Temporal that FuzzGateway calls: those of agents, and some that they may not call.
var fuzzed = []string{
	"GetSystemInfo", "DescribeNamespace", "PollActivityTaskQueue", "RecordActivityTaskHeartbeat", "RespondActivityTaskCompleted", "RespondActivityTaskFailed",
	"RespondActivityTaskCanceled", "ShutdownWorker", "StartWorkflowExecution", "TerminateWorkflowExecution", "PollWorkflowTaskQueue", "RespondActivityTaskCompletedById",
}

const temporalPath = "/temporal.api.workflowservice.v1.WorkflowService/"

// callers of FuzzGateway: an agent without a lease, the holder of a revoked key, and an agent that repeats what it sent for a
// lease that has ended.
var callers = []struct {
	key   string
	agent gateway.Agent
	token string // of Temporal, for the lease that it had
}{{"key-b", agentB, ""}, {"key-revoked", gateway.Agent{}, ""}, {"key-a", agentA, "raw"}}

// Whatever these callers send, Temporal sees at most polls of their own queues and the token of the lease that they had, which
// it refuses, and no file of another project comes out or goes in.
func FuzzGateway(f *testing.F) {
	w := newWorld(f)
	sealed := w.token(f, "raw")
	if err := w.up.end([]byte("raw")); err != nil {
		f.Fatal(err)
	}
	for who := range callers {
		addSeeds(f, uint8(who*kinds), sealed)
	}
	f.Fuzz(func(t *testing.T, kind uint8, path string, body []byte) {
		w.forget()
		c := callers[int(kind)/kinds%len(callers)]
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, fuzzRequest(t.Context(), c.key, int(kind)%kinds, path, body))
		w.up.mu.Lock()
		defer w.up.mu.Unlock()
		for _, call := range w.up.calls {
			if !mayReach(call, c.agent, c.token) {
				t.Errorf("Temporal was sent %T of %s: %v", call, c.key, call)
			}
			switch call.(type) {
			case *workflowservice.RespondActivityTaskCompletedRequest, *workflowservice.RespondActivityTaskFailedRequest, *workflowservice.RespondActivityTaskCanceledRequest:
				if status := answer.Result().Trailer.Get("Grpc-Status"); status != strconv.Itoa(int(codes.NotFound)) {
					t.Errorf("a lease ended twice: status %q", status)
				}
			}
		}
		w.files.mu.Lock()
		defer w.files.mu.Unlock()
		for name := range w.files.kept {
			if c.token == "" && len(w.files.kept) != 2 || !strings.HasPrefix(name, "kernels/") && name != "other/"+digestOf([]byte("secret")) {
				t.Errorf("%s stored %s", c.key, name)
			}
		}
		if c.token == "" && bytes.Contains(answer.Body.Bytes(), bundle) || strings.Contains(answer.Body.String(), "secret") {
			t.Errorf("%s got %q", c.key, answer.Body)
		}
	})
}

// mayReach reports whether Temporal may see a request of an agent that had the lease of a token; empty if none.
func mayReach(call proto.Message, of gateway.Agent, token string) bool {
	switch in := call.(type) {
	case *workflowservice.GetSystemInfoRequest:
		return of.ID != ""
	case *workflowservice.PollActivityTaskQueueRequest:
		return in.GetNamespace() == namespace && slices.Contains(of.Queues, in.GetTaskQueue().GetName())
	case interface{ GetTaskToken() []byte }:
		return token != "" && string(in.GetTaskToken()) == token
	}
	return false
}

// addSeeds adds a good request of each kind. The token is that of agent a.
func addSeeds(f *testing.F, first uint8, sealed []byte) {
	f.Helper()
	for i, in := range []proto.Message{
		&workflowservice.GetSystemInfoRequest{}, &workflowservice.DescribeNamespaceRequest{Namespace: namespace}, pollOf(job.Queue("cpu:2")),
		&workflowservice.RecordActivityTaskHeartbeatRequest{Namespace: namespace, TaskToken: sealed, Details: &commonpb.Payloads{}},
		&workflowservice.RespondActivityTaskCompletedRequest{Namespace: namespace, TaskToken: sealed}, &workflowservice.RespondActivityTaskFailedRequest{Namespace: namespace, TaskToken: sealed},
		&workflowservice.RespondActivityTaskCanceledRequest{Namespace: namespace, TaskToken: sealed}, &workflowservice.ShutdownWorkerRequest{Namespace: namespace},
	} {
		text, err := proto.Marshal(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(first+uint8(i), temporalPath+fuzzed[i], text)
	}
	other, err := proto.Marshal(pollOf(job.Queue("cpu:0")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(first+2, "", other)
	f.Add(first+12, job.BundlePath+digestOf(bundle), sealed)
	f.Add(first+13, job.DocumentPath+digestOf(bundle), sealed)
	f.Add(first+13, job.DocumentPath+digestOf(sealed), sealed)
	f.Add(first+14, job.EnrollPath, []byte(`{"code":"guess","key":"`+digestOf(bundle)+`","model":"cpu","devices":["cpu:9"]}`))
}

// forget clears what earlier requests left, and lets a poll end at once.
func (w *world) forget() {
	w.up.mu.Lock()
	w.up.calls = nil
	w.up.mu.Unlock()
	w.audit.mu.Lock()
	w.audit.list = nil
	w.audit.mu.Unlock()
	w.files.mu.Lock()
	maps.DeleteFunc(w.files.kept, func(_ string, b []byte) bool { return !bytes.Equal(b, bundle) && string(b) != "secret" })
	w.files.mu.Unlock()
	select {
	case w.up.tasks <- &workflowservice.PollActivityTaskQueueResponse{}:
	default:
	}
}

// kinds is how many kinds of requests there are: a call of each method, of the paths beside gRPC, and of any path.
var kinds = len(fuzzed) + 4

// fuzzRequest returns a request of a kind with a key.
func fuzzRequest(ctx context.Context, key string, n int, path string, body []byte) *http.Request {
	method, content := http.MethodPost, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	header := http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/grpc"}}
	switch plain := []string{http.MethodGet, http.MethodPut, http.MethodPost}; {
	case n < len(fuzzed):
		path = temporalPath + fuzzed[n]
	case n < len(fuzzed)+len(plain):
		method, content = plain[n-len(fuzzed)], body
		header.Del("Content-Type")
		header.Set(job.LeaseHeader, base64.StdEncoding.EncodeToString(body))
	} // otherwise a method of gRPC that the path names
	r := httptest.NewRequestWithContext(ctx, method, "/", bytes.NewReader(content))
	r.URL, r.Header, r.ProtoMajor, r.ProtoMinor, r.Proto = &url.URL{Path: path}, header, 2, 0, "HTTP/2.0"
	return r
}
