package gateway_test

import (
	"strings"
	"testing"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// A key that unknown code copied gives no other lease, whatever the placer offers to its device.
func TestGateway_HostOfUnknownCodeTakesOneLease(t *testing.T) {
	w := newWorld(t)
	w.keys.set("key-once", &gateway.Agent{ID: "4", Tier: tier.Unknown, Queues: []string{job.Queue("cpu:4"), job.BuildQueue("cpu:4")}})
	c := workflowservice.NewWorkflowServiceClient(w.as(t, "Bearer key-once"))
	for _, x := range []struct {
		name, lease string
		build       bool
		want        codes.Code
	}{
		{"its build", "lease-1", true, codes.OK},
		{"its measurement", "lease-1", false, codes.OK},
		{"its measurement, offered again", "lease-1", false, codes.OK},
		{"another lease", "lease-2", false, codes.PermissionDenied},
		{"the build of another lease", "lease-2", true, codes.PermissionDenied},
	} {
		l := lease()
		l.ID, l.Device, l.Tier, l.Build = x.lease, "cpu:4", tier.Unknown, x.build
		w.up.tasks <- taskOf(t, l, "raw")
		task, err := c.PollActivityTaskQueue(t.Context(), pollOf(l.Queue()))
		if status.Code(err) != x.want || (len(task.GetTaskToken()) > 0) != (x.want == codes.OK) {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
	if last := w.audit.last(); last.Agent != "4" || !strings.Contains(last.Reason, "lease-2") {
		t.Errorf("refused %+v", last)
	}
}
