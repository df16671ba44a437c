package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// attempt is a request that must not reach Temporal.
type attempt struct {
	name string
	key  string // as the header has it
	call func(ctx context.Context, c workflowservice.WorkflowServiceClient, conn *grpc.ClientConn) error
	want codes.Code
}

const a, b = "Bearer key-a", "Bearer key-b"

// allowed are the methods that agents may call.
var allowed = []string{
	"GetSystemInfo", "DescribeNamespace", "PollActivityTaskQueue", "RecordActivityTaskHeartbeat",
	"RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled", "ShutdownWorker",
}

func invoke(method string) func(context.Context, workflowservice.WorkflowServiceClient, *grpc.ClientConn) error {
	return func(ctx context.Context, _ workflowservice.WorkflowServiceClient, conn *grpc.ClientConn) error {
		return conn.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{})
	}
}

func polling(in *workflowservice.PollActivityTaskQueueRequest) func(context.Context, workflowservice.WorkflowServiceClient, *grpc.ClientConn) error {
	return func(ctx context.Context, c workflowservice.WorkflowServiceClient, _ *grpc.ClientConn) error {
		_, err := c.PollActivityTaskQueue(ctx, in)
		return err
	}
}

// withToken calls each of the four methods that take a token.
func withToken(name, key, ns string, token []byte, size int, want codes.Code) []attempt {
	return []attempt{
		{name + ": heartbeat", key, func(ctx context.Context, c workflowservice.WorkflowServiceClient, _ *grpc.ClientConn) error {
			_, err := c.RecordActivityTaskHeartbeat(ctx, &workflowservice.RecordActivityTaskHeartbeatRequest{Namespace: ns, TaskToken: token, Details: payload(size)})
			return err
		}, want},
		{name + ": completed", key, func(ctx context.Context, c workflowservice.WorkflowServiceClient, _ *grpc.ClientConn) error {
			_, err := c.RespondActivityTaskCompleted(ctx, &workflowservice.RespondActivityTaskCompletedRequest{Namespace: ns, TaskToken: token, Result: payload(size)})
			return err
		}, want},
		{name + ": failed", key, func(ctx context.Context, c workflowservice.WorkflowServiceClient, _ *grpc.ClientConn) error {
			_, err := c.RespondActivityTaskFailed(ctx, &workflowservice.RespondActivityTaskFailedRequest{Namespace: ns, TaskToken: token, Failure: &failurepb.Failure{Message: strings.Repeat("x", size)}})
			return err
		}, want},
		{name + ": canceled", key, func(ctx context.Context, c workflowservice.WorkflowServiceClient, _ *grpc.ClientConn) error {
			_, err := c.RespondActivityTaskCanceled(ctx, &workflowservice.RespondActivityTaskCanceledRequest{Namespace: ns, TaskToken: token, Details: payload(size)})
			return err
		}, want},
	}
}

func attempts(token []byte) []attempt {
	var list []attempt
	for _, m := range workflowservice.WorkflowService_ServiceDesc.Methods {
		path := "/" + workflowservice.WorkflowService_ServiceDesc.ServiceName + "/" + m.MethodName
		if !slices.Contains(allowed, m.MethodName) {
			list = append(list, attempt{"method " + m.MethodName, a, invoke(path), codes.PermissionDenied})
			continue
		}
		for _, key := range []string{"", "Bearer ", "Bearer key-c", "key-a", "Basic key-a", "Bearer key-a ", "bearer  key-a", "Bearer key-revoked"} {
			list = append(list, attempt{fmt.Sprintf("key %q: %s", key, m.MethodName), key, invoke(path), codes.Unauthenticated})
		}
	}
	for _, path := range []string{
		"/temporal.api.operatorservice.v1.OperatorService/DeleteNamespace", "/temporal.server.api.adminservice.v1.AdminService/DescribeCluster",
		"/grpc.health.v1.Health/Check", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/x", "/",
		"/temporal.api.workflowservice.v1.WorkflowService/pollActivityTaskQueue", "/temporal.api.workflowservice.v1.WorkflowService//PollActivityTaskQueue",
		"/temporal.api.workflowservice.v1.WorkflowService/PollActivityTaskQueue/", "/temporal.api.workflowservice.v1.workflowservice/PollActivityTaskQueue",
	} {
		list = append(list, attempt{"path " + path, a, invoke(path), codes.PermissionDenied})
	}
	for _, queue := range []string{"gpu:cpu:2", "gpu:cpu:3", "cpu:0", "gpu:", "", "pawld", "/_sys/gpu:cpu:0/1", "gpu:cpu:0 ", "GPU:cpu:0", "gpu:cpu:0\x00", "builder:own/" + strings.Repeat("0", 64), strings.Repeat("q", 2000)} {
		list = append(list, attempt{fmt.Sprintf("queue %.30q", queue), a, polling(pollOf(queue)), codes.PermissionDenied})
	}
	for _, ns := range []string{"", "default", "temporal-system", "pawl-devices ", "PAWL-DEVICES"} {
		in := pollOf(job.Queue("cpu:0"))
		in.Namespace = ns
		list = append(list, attempt{fmt.Sprintf("namespace %q: poll", ns), a, polling(in), codes.PermissionDenied})
		list = append(list, withToken(fmt.Sprintf("namespace %q", ns), a, ns, token, 1, codes.PermissionDenied)...)
	}
	list = append(list, withToken("token of another agent", b, namespace, token, 1, codes.NotFound)...)
	list = append(list, withToken("no token", a, namespace, nil, 1, codes.NotFound)...)
	list = append(list, withToken("raw token", a, namespace, []byte("raw"), 1, codes.NotFound)...)
	list = append(list, withToken("token cut off", a, namespace, token[:len(token)-1], 1, codes.NotFound)...)
	list = append(list, withToken("token and more", a, namespace, append(slices.Clone(token), 0), 1, codes.NotFound)...)
	list = append(list, withToken("large content", a, namespace, token, 17<<10, codes.InvalidArgument)...)
	list = append(list, withToken("huge token", a, namespace, bytes.Repeat([]byte{1}, 9<<10), 1, codes.NotFound)...)
	for i := range token { // every byte counts
		changed := slices.Clone(token)
		changed[i] ^= 1
		list = append(list, withToken(fmt.Sprintf("token with byte %d changed", i), a, namespace, changed, 1, codes.NotFound)[0])
	}
	return list
}

func TestGateway_Refuses(t *testing.T) {
	w := newWorld(t)
	token := w.token(t, "raw")
	conns := map[string]*grpc.ClientConn{}
	list := attempts(token)
	if len(list) < 200 {
		t.Errorf("only %d attempts", len(list))
	}
	for _, try := range list {
		if conns[try.key] == nil {
			conns[try.key] = w.as(t, try.key)
		}
		conn, calls := conns[try.key], w.up.seen()
		err := try.call(t.Context(), workflowservice.NewWorkflowServiceClient(conn), conn)
		if status.Code(err) != try.want {
			t.Errorf("%s: %v, want %s", try.name, err, try.want)
		}
		if w.up.seen() != calls {
			t.Errorf("%s: it reached Temporal: %v", try.name, w.up.last())
		}
	}
	if n := len(w.audit.list); n < 200 {
		t.Errorf("%d refusals were recorded in full, want the first 200", n)
	}
	t.Logf("%d attempts", len(list))
}

// A message that is too large is refused before it is decoded.
func TestGateway_RefusesHugeRequests(t *testing.T) {
	w := newWorld(t)
	token := w.token(t, "raw")
	calls := w.up.seen()
	for _, try := range withToken("huge", a, namespace, token, 1<<20, codes.ResourceExhausted) {
		conn := w.as(t, try.key)
		if err := try.call(t.Context(), workflowservice.NewWorkflowServiceClient(conn), conn); status.Code(err) != try.want {
			t.Errorf("%s: %v", try.name, err)
		}
	}
	if w.up.seen() != calls {
		t.Error("one reached Temporal")
	}
}

func TestGateway_RefusesMoreThanItsShareOfRequests(t *testing.T) {
	w := newWorld(t)
	c := workflowservice.NewWorkflowServiceClient(w.as(t, a))
	ctx, cancel := context.WithCancel(t.Context())
	refused, all := make(chan error, 300), 300
	for range all {
		go func() {
			_, err := c.PollActivityTaskQueue(ctx, pollOf(job.Queue("cpu:0")))
			refused <- err
		}()
	}
	for range all - 192 {
		if err := <-refused; status.Code(err) != codes.ResourceExhausted {
			t.Errorf("a poll beyond the share: %v", err)
		}
	}
	cancel()
	for range 192 {
		if err := <-refused; status.Code(err) != codes.Canceled {
			t.Errorf("a poll that was canceled: %v", err)
		}
	}
}

func TestGateway_RefusesFiles(t *testing.T) {
	w := newWorld(t)
	token := w.token(t, "raw")
	changed := slices.Clone(token)
	changed[len(changed)-1] ^= 1
	secret, hash := digestOf([]byte("secret")), digestOf([]byte("key"))
	enrollment := func(code, key, devices string) []byte {
		return fmt.Appendf(nil, `{"code":%q,"key":%q,"model":"cpu","devices":[%s]}`, code, key, devices)
	}
	for _, try := range []struct {
		name, method, path, key string
		token, body             []byte
		want                    int
	}{
		{"a bundle without a key", http.MethodGet, job.BundlePath + digestOf(bundle), "", token, nil, http.StatusUnauthorized},
		{"a bundle with an unknown key", http.MethodGet, job.BundlePath + digestOf(bundle), "key-c", token, nil, http.StatusUnauthorized},
		{"a bundle with the lease of another agent", http.MethodGet, job.BundlePath + digestOf(bundle), "key-b", token, nil, http.StatusForbidden},
		{"a bundle without a lease", http.MethodGet, job.BundlePath + digestOf(bundle), "key-a", nil, nil, http.StatusForbidden},
		{"a bundle with a changed lease", http.MethodGet, job.BundlePath + digestOf(bundle), "key-a", changed, nil, http.StatusForbidden},
		{"the file of another project", http.MethodGet, job.BundlePath + secret, "key-a", token, nil, http.StatusForbidden},
		{"a path", http.MethodGet, job.BundlePath + "..%2f..%2fetc%2fpasswd", "key-a", token, nil, http.StatusForbidden},
		{"documents without a key", http.MethodPut, job.DocumentPath + digestOf([]byte("x")), "", token, []byte("x"), http.StatusUnauthorized},
		{"documents with the lease of another agent", http.MethodPut, job.DocumentPath + digestOf([]byte("x")), "key-b", token, []byte("x"), http.StatusForbidden},
		{"documents without a lease", http.MethodPut, job.DocumentPath + digestOf([]byte("x")), "key-a", nil, []byte("x"), http.StatusForbidden},
		{"documents under a name", http.MethodPut, job.DocumentPath + "name", "key-a", token, []byte("x"), http.StatusBadRequest},
		{"documents under another digest", http.MethodPut, job.DocumentPath + digestOf([]byte("x")), "key-a", token, []byte("y"), http.StatusUnprocessableEntity},
		{"enrolling with an unknown code", http.MethodPost, job.EnrollPath, "", nil, enrollment("guess", hash, `"cpu:9"`), http.StatusForbidden},
		{"enrolling without a device", http.MethodPost, job.EnrollPath, "", nil, enrollment("code", hash, ``), http.StatusForbidden},
		{"enrolling a device with a space", http.MethodPost, job.EnrollPath, "", nil, enrollment("code", hash, `"a b"`), http.StatusBadRequest},
		{"enrolling a device with a slash", http.MethodPost, job.EnrollPath, "", nil, enrollment("code", hash, `"/_sys/x"`), http.StatusBadRequest},
		{"enrolling a nameless device", http.MethodPost, job.EnrollPath, "", nil, enrollment("code", hash, `""`), http.StatusBadRequest},
		{"enrolling 65 devices", http.MethodPost, job.EnrollPath, "", nil, enrollment("code", hash, `"d"`+strings.Repeat(`,"d"`, 64)), http.StatusBadRequest},
		{"enrolling a short hash", http.MethodPost, job.EnrollPath, "", nil, enrollment("code", hash[:62], `"cpu:9"`), http.StatusBadRequest},
		{"enrolling a long hash", http.MethodPost, job.EnrollPath, "", nil, enrollment("code", hash+"00", `"cpu:9"`), http.StatusBadRequest},
		{"enrolling a hash that is none", http.MethodPost, job.EnrollPath, "", nil, enrollment("code", strings.Repeat("z", 64), `"cpu:9"`), http.StatusBadRequest},
		{"enrolling with an unknown field", http.MethodPost, job.EnrollPath, "", nil, []byte(`{"admin":true}`), http.StatusBadRequest},
		{"enrolling with a huge body", http.MethodPost, job.EnrollPath, "", nil, enrollment(strings.Repeat("x", 20<<10), hash, `"cpu:9"`), http.StatusBadRequest},
		{"another method", http.MethodDelete, job.BundlePath + digestOf(bundle), "key-a", token, nil, http.StatusMethodNotAllowed},
		{"another path", http.MethodGet, "/v1/projects", "key-a", token, nil, http.StatusNotFound},
	} {
		before := w.audit.total()
		if res := w.http(t, try.method, try.path, try.key, try.token, try.body); res.code != try.want {
			t.Errorf("%s: %v, want %d", try.name, res, try.want)
		}
		if handled := try.want != http.StatusMethodNotAllowed && try.want != http.StatusNotFound; handled && w.audit.total() != before+1 {
			t.Errorf("%s: it was not recorded", try.name)
		}
	}
	if len(w.files.kept) != 2 {
		t.Errorf("files were stored: %d", len(w.files.kept))
	}
}

// A client without a key must not hide what an agent tries, nor fill the audit log.
func TestGateway_RefusalsOfAnAgentAreSeenInAFlood(t *testing.T) {
	w := newWorld(t)
	for range 300 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, job.BundlePath+digestOf(bundle), nil)
		w.handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if n := len(w.audit.list); n > 110 {
		t.Errorf("%d of 300 refusals of an unknown client were recorded one by one", n)
	}
	w.http(t, http.MethodGet, job.BundlePath+digestOf(bundle), "key-a", []byte("forged"), nil)
	if last := w.audit.last(); last.Agent != agentA.ID || last.Missed < 190 {
		t.Errorf("recorded %+v last", last)
	}
}
