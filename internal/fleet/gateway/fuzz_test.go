package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// Methods of Temporal that FuzzGateway calls: those of agents, and some that they may not call.
var fuzzed = []string{
	"GetSystemInfo", "DescribeNamespace", "PollActivityTaskQueue", "RecordActivityTaskHeartbeat", "RespondActivityTaskCompleted", "RespondActivityTaskFailed",
	"RespondActivityTaskCanceled", "ShutdownWorker", "StartWorkflowExecution", "TerminateWorkflowExecution", "PollWorkflowTaskQueue", "RespondActivityTaskCompletedById",
}

const temporalPath = "/temporal.api.workflowservice.v1.WorkflowService/"

// Whatever an agent without a lease sends, Temporal sees at most a poll of the agent's own queue, and no file of a project
// comes out or goes in.
func FuzzGateway(f *testing.F) {
	w := newWorld(f)
	sealed := w.token(f, "raw") // of the other agent
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
		f.Add(uint8(i), temporalPath+fuzzed[i], text)
	}
	other, err := proto.Marshal(pollOf(job.Queue("cpu:0")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(2), "", other)
	f.Add(uint8(12), job.BundlePath+digestOf(bundle), sealed)
	f.Add(uint8(13), job.DocumentPath+digestOf(bundle), sealed)
	f.Add(uint8(14), job.EnrollPath, []byte(`{"code":"guess","key":"`+digestOf(bundle)+`","model":"cpu","devices":["cpu:9"]}`))
	f.Fuzz(func(t *testing.T, kind uint8, path string, body []byte) {
		w.forget()
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, fuzzRequest(t.Context(), kind, path, body))
		w.up.mu.Lock()
		defer w.up.mu.Unlock()
		for _, call := range w.up.calls {
			switch in := call.(type) {
			case *workflowservice.GetSystemInfoRequest:
			case *workflowservice.PollActivityTaskQueueRequest:
				if in.GetNamespace() != namespace || in.GetTaskQueue().GetName() != job.Queue("cpu:2") {
					t.Errorf("polled %v", in)
				}
			default:
				t.Errorf("Temporal was sent %T: %v", call, call)
			}
		}
		w.files.mu.Lock()
		defer w.files.mu.Unlock()
		if len(w.files.kept) != 2 || bytes.Contains(answer.Body.Bytes(), bundle) || strings.Contains(answer.Body.String(), "secret") {
			t.Errorf("files %d, answer %q", len(w.files.kept), answer.Body)
		}
	})
}

// forget clears what earlier requests left, and lets a poll end at once.
func (w *world) forget() {
	w.up.mu.Lock()
	w.up.calls = nil
	w.up.mu.Unlock()
	w.audit.mu.Lock()
	w.audit.list = nil
	w.audit.mu.Unlock()
	select {
	case w.up.tasks <- &workflowservice.PollActivityTaskQueueResponse{}:
	default:
	}
}

// fuzzRequest returns a request of agent b: a call of a method, of any path, or of the paths beside gRPC.
func fuzzRequest(ctx context.Context, kind uint8, path string, body []byte) *http.Request {
	method, content := http.MethodPost, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	header := http.Header{"Authorization": {"Bearer key-b"}, "Content-Type": {"application/grpc"}}
	n := int(kind) % (len(fuzzed) + 4)
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
