package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

func payload(n int) *commonpb.Payloads {
	return &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: bytes.Repeat([]byte("x"), n)}}}
}

func TestGateway_AgentTakesBeatsAndEnds(t *testing.T) {
	w := newWorld(t)
	c := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-a"))
	if info, err := c.GetSystemInfo(t.Context(), &workflowservice.GetSystemInfoRequest{}); err != nil || info.GetServerVersion() != "1.32.1" {
		t.Fatalf("system info %v, %v", info, err)
	}
	n := w.up.seen()
	if d, err := c.DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: namespace}); err != nil || d.GetNamespaceInfo().GetName() != namespace {
		t.Fatalf("namespace %v, %v", d, err)
	}
	if _, err := c.ShutdownWorker(t.Context(), &workflowservice.ShutdownWorkerRequest{Namespace: namespace}); err != nil {
		t.Fatal(err)
	}
	if w.up.seen() != n {
		t.Error("Temporal was asked about the namespace or the worker")
	}
	w.up.tasks <- taskOf(t, lease(), "raw")
	task, err := c.PollActivityTaskQueue(t.Context(), pollOf(job.Queue("cpu:0")))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(task.GetTaskToken(), []byte("raw")) || task.GetHeader() != nil || task.GetActivityId() != "5" {
		t.Errorf("the agent got %v", task)
	}
	if poll := w.up.last().(*workflowservice.PollActivityTaskQueueRequest); poll.GetIdentity() != "agent:1" {
		t.Errorf("the agent chose its identity: %v", poll)
	}
	beat, err := c.RecordActivityTaskHeartbeat(t.Context(), &workflowservice.RecordActivityTaskHeartbeatRequest{Namespace: namespace, TaskToken: task.GetTaskToken(), Details: payload(10)})
	if err != nil || !beat.GetCancelRequested() {
		t.Errorf("heartbeat %v, %v", beat, err)
	}
	done := &workflowservice.RespondActivityTaskCompletedRequest{Namespace: namespace, TaskToken: task.GetTaskToken(), Result: payload(10)}
	if _, err := c.RespondActivityTaskCompleted(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	if got := w.up.last().(*workflowservice.RespondActivityTaskCompletedRequest); string(got.GetTaskToken()) != "raw" || got.GetIdentity() != "agent:1" {
		t.Errorf("Temporal got %v", got)
	}
	if _, err := c.RespondActivityTaskCompleted(t.Context(), done); status.Code(err) != codes.NotFound {
		t.Errorf("the same result again: %v", err)
	}
	for token, end := range map[string]func(token []byte) error{
		"failed": func(token []byte) error {
			_, err := c.RespondActivityTaskFailed(t.Context(), &workflowservice.RespondActivityTaskFailedRequest{Namespace: namespace, TaskToken: token, Failure: &failurepb.Failure{Message: "x"}})
			return err
		},
		"canceled": func(token []byte) error {
			_, err := c.RespondActivityTaskCanceled(t.Context(), &workflowservice.RespondActivityTaskCanceledRequest{Namespace: namespace, TaskToken: token})
			return err
		},
	} {
		sealed := w.token(t, token)
		if err := end(sealed); err != nil {
			t.Errorf("%s: %v", token, err)
		}
		if err := end(sealed); status.Code(err) != codes.NotFound {
			t.Errorf("%s again: %v", token, err)
		}
	}
	if n := w.audit.total(); n != 0 {
		t.Errorf("%d refusals of allowed requests: %+v", n, w.audit.last())
	}
}

func TestGateway_RefusesTasksThatAreNoLease(t *testing.T) {
	w := newWorld(t)
	c := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-a"))
	other := lease()
	other.Device = "cpu:1"
	long := lease()
	long.ID = strings.Repeat("x", 256)
	named := taskOf(t, lease(), "raw")
	named.ActivityType.Name = job.Build
	build := lease()
	build.Build = true
	none := taskOf(t, lease(), "raw")
	none.Input = nil
	text := taskOf(t, lease(), "raw")
	text.Input.Payloads[0].Data = []byte("[]")
	for name, task := range map[string]*workflowservice.PollActivityTaskQueueResponse{
		"another device": taskOf(t, other, "raw"), "a name that is too long": taskOf(t, long, "raw"), "another activity": named, "a build": taskOf(t, build, "raw"), "no input": none, "no lease": text,
	} {
		w.up.tasks <- task
		if got, err := c.PollActivityTaskQueue(t.Context(), pollOf(job.Queue("cpu:0"))); status.Code(err) != codes.Internal {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestGateway_HandsOutBuilds(t *testing.T) {
	w := newWorld(t)
	c := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-a"))
	build := lease()
	build.Build = true
	w.up.tasks <- taskOf(t, build, "raw")
	if task, err := c.PollActivityTaskQueue(t.Context(), pollOf(job.BuildQueue("cpu:0"))); err != nil || task.GetActivityType().GetName() != job.Build || bytes.Contains(task.GetTaskToken(), []byte("raw")) {
		t.Errorf("a build: %v, %v", task, err)
	}
	w.up.tasks <- taskOf(t, lease(), "raw")
	if task, err := c.PollActivityTaskQueue(t.Context(), pollOf(job.BuildQueue("cpu:0"))); status.Code(err) != codes.Internal {
		t.Errorf("a measurement on the queue of builds: %v, %v", task, err)
	}
	if _, err := c.PollActivityTaskQueue(t.Context(), pollOf(job.BuildQueue("cpu:2"))); status.Code(err) != codes.PermissionDenied {
		t.Errorf("builds of another agent: %v", err)
	}
}

func TestGateway_KeyRevokedDuringPoll(t *testing.T) {
	w := newWorld(t)
	c := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-a"))
	answer := make(chan error, 1)
	go func() {
		_, err := c.PollActivityTaskQueue(t.Context(), pollOf(job.Queue("cpu:0")))
		answer <- err
	}()
	for w.up.seen() == 0 { // the poll waits upstream
		time.Sleep(time.Millisecond)
	}
	w.keys.set("key-a", nil)
	w.up.tasks <- taskOf(t, lease(), "raw")
	if err := <-answer; status.Code(err) != codes.Unauthenticated {
		t.Errorf("a lease for a revoked key: %v", err)
	}
}

// An outage of the store must not look like a revoked key: an agent would give up.
func TestGateway_KeysCannotBeChecked(t *testing.T) {
	w := newWorld(t)
	w.keys.fails = errors.New("no database")
	c := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-a"))
	if _, err := c.GetSystemInfo(t.Context(), &workflowservice.GetSystemInfoRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
	res := w.http(t, http.MethodGet, job.BundlePath+digestOf(bundle), "key-a", []byte("x"), nil)
	if res.code != http.StatusServiceUnavailable {
		t.Errorf("a bundle: %v", res)
	}
}

// http sends a request with a key and the token of a lease.
func (w *world) http(t testing.TB, method, path, key string, token, body []byte) response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+w.address+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if token != nil {
		req.Header.Set(job.LeaseHeader, base64.StdEncoding.EncodeToString(token))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return response{res.StatusCode, string(text)}
}

type response struct {
	code int
	body string
}

func TestGateway_FilesOfALease(t *testing.T) {
	w := newWorld(t)
	token := w.token(t, "raw")
	res := w.http(t, http.MethodGet, job.BundlePath+digestOf(bundle), "key-a", token, nil)
	if res.code != http.StatusOK || res.body != string(bundle) {
		t.Errorf("bundle: %v", res)
	}
	if res := w.http(t, http.MethodPut, job.DocumentPath+digestOf([]byte("zip")), "key-a", token, []byte("zip")); res.code != http.StatusNoContent {
		t.Errorf("documents: %v", res)
	}
	if string(w.files.kept["kernels/"+digestOf([]byte("zip"))]) != "zip" {
		t.Error("the documents are not kept in the project of the lease")
	}
	delete(w.files.kept, "kernels/"+digestOf(bundle))
	if res := w.http(t, http.MethodGet, job.BundlePath+digestOf(bundle), "key-a", token, nil); res.code != http.StatusNotFound {
		t.Errorf("a bundle that is gone: %v", res)
	}
	w.now = func() time.Time { return theTime.Add(48 * time.Hour) }
	if res := w.http(t, http.MethodPut, job.DocumentPath+digestOf([]byte("zip")), "key-a", token, []byte("zip")); res.code != http.StatusForbidden {
		t.Errorf("documents of a lease that is over: %v", res)
	}
}

func TestGateway_Enrolls(t *testing.T) {
	w := newWorld(t)
	hash := digestOf([]byte("key-new"))
	res := w.http(t, http.MethodPost, job.EnrollPath, "", nil, []byte(`{"code":"code","key":"`+hash+`","model":"cpu","devices":["cpu:9"]}`))
	if res.code != http.StatusOK || !strings.Contains(res.body, `"namespace":"`+namespace+`"`) || !strings.Contains(res.body, `"tier":"checked"`) {
		t.Fatalf("%v", res)
	}
	w.up.tasks <- &workflowservice.PollActivityTaskQueueResponse{}
	if _, err := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-new")).PollActivityTaskQueue(t.Context(), pollOf(job.Queue("cpu:9"))); err != nil {
		t.Errorf("the new key: %v", err)
	}
}

func TestNew_NeedsEverything(t *testing.T) {
	if _, err := gateway.New(gateway.Options{}); err == nil {
		t.Error("a gateway without parts")
	}
	w := newWorld(t)
	o := gateway.Options{
		Temporal: workflowservice.NewWorkflowServiceClient(w.as(t, "")), Namespace: namespace, Secret: []byte("short"),
		Keys: w.keys, Blobs: w.files, Audit: w.audit, Log: discard(), Now: time.Now,
	}
	if _, err := gateway.New(o); err == nil || !strings.Contains(err.Error(), "32") {
		t.Errorf("a short secret: %v", err)
	}
}

// A slow client must not keep a server from ending.
func TestServe_EndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-a")).PollActivityTaskQueue(ctx, pollOf(job.Queue("cpu:0")))
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a poll with a deadline: %v", err)
	}
}
