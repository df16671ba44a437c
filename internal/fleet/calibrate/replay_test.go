package calibrate

import (
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
)

func TestReplay_KeptHistories(t *testing.T) {
	fleettest.Replay(t, func(r worker.WorkflowReplayer) {
		r.RegisterWorkflowWithOptions(Calibrate, workflow.RegisterOptions{Name: Name})
		r.RegisterWorkflowWithOptions(Schedule, workflow.RegisterOptions{Name: Scheduler})
	})
}
