package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// A host that only builds polls the queue of its tools, and no other one.
func TestGateway_BuilderPollsTheQueueOfItsTools(t *testing.T) {
	w, now := newWorld(t), theTime
	w.now = func() time.Time { return now }
	c := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-builder"))
	mine, others := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for _, x := range []struct {
		name, tools, queue string
		want               codes.Code
		soon               bool // after the one before
	}{
		{"not described", "", job.BuilderQueue(tier.Own, mine), codes.PermissionDenied, false},
		{"no digest", "mine", job.BuilderQueue(tier.Own, "mine"), codes.PermissionDenied, false},
		{"its tools", mine, job.BuilderQueue(tier.Own, mine), codes.OK, false},
		{"its tools again", mine, job.BuilderQueue(tier.Own, mine), codes.OK, true},
		{"other tools a moment later", others, job.BuilderQueue(tier.Own, others), codes.ResourceExhausted, true},
		{"other tools in the header, its queue", others, job.BuilderQueue(tier.Own, mine), codes.OK, true},
		{"other tools", mine, job.BuilderQueue(tier.Own, others), codes.PermissionDenied, false},
		{"another tier", mine, job.BuilderQueue(tier.Checked, mine), codes.PermissionDenied, false},
		{"a card", mine, job.Queue("cpu:0"), codes.PermissionDenied, false},
		{"the builds of a card", mine, job.BuildQueue("cpu:0"), codes.PermissionDenied, false},
		{"its tools after an upgrade", others, job.BuilderQueue(tier.Own, others), codes.OK, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			if !x.soon {
				now = now.Add(time.Minute)
			}
			if x.want == codes.OK {
				l := job.Lease{ID: "lease-1", Project: "kernels", Bundle: digestOf(bundle), Seconds: 60, Build: true, Host: job.Host{Tools: strings.TrimPrefix(x.queue, job.BuilderQueue(tier.Own, ""))}}
				w.up.tasks <- taskOf(t, l, "raw")
			}
			ctx := metadata.AppendToOutgoingContext(t.Context(), job.ToolsHeader, x.tools)
			_, err := c.PollActivityTaskQueue(ctx, pollOf(x.queue))
			if status.Code(err) != x.want {
				t.Errorf("%v, want %v", err, x.want)
			}
		})
	}
	if w.keys.described != 2 {
		t.Errorf("described %d times, want once for each digest", w.keys.described)
	}
}

// What was built elsewhere can be read with the lease that it was built for, and with no other one.
func TestGateway_BuildsOfALease(t *testing.T) {
	w := newWorld(t)
	builds := []byte("an archive of builds")
	w.files.kept["kernels/"+digestOf(builds)] = builds
	c := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-a"))
	get := func(l job.Lease) response {
		t.Helper()
		w.up.tasks <- taskOf(t, l, "raw")
		task, err := c.PollActivityTaskQueue(t.Context(), pollOf(l.Queue()))
		if err != nil {
			t.Fatal(err)
		}
		return w.http(t, http.MethodGet, job.BundlePath+digestOf(builds), "key-a", slices.Clone(task.GetTaskToken()), nil)
	}
	with := lease()
	with.Builds = digestOf(builds)
	if res := get(with); res.code != http.StatusOK || res.body != string(builds) {
		t.Errorf("with the lease that they are for: %v", res)
	}
	if res := get(lease()); res.code != http.StatusForbidden {
		t.Errorf("with another one: %v", res)
	}
}

// An agent repeats what is answered with 503 until its lease ends, and nothing else is done on its host until then.
func TestGateway_NoRoomForDocumentsIsFinal(t *testing.T) {
	w := newWorld(t)
	token := w.token(t, "raw")
	w.files.full = true
	if res := w.http(t, http.MethodPut, job.DocumentPath+digestOf([]byte("x")), "key-a", token, []byte("x")); res.code != http.StatusRequestEntityTooLarge {
		t.Errorf("%v", res)
	}
}
