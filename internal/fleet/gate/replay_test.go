package gate

import (
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/fleettest"
)

func TestReplay_KeptHistories(t *testing.T) {
	fleettest.Replay(t, func(r worker.WorkflowReplayer) {
		r.RegisterWorkflowWithOptions(Gate, workflow.RegisterOptions{Name: Name})
		r.RegisterWorkflowWithOptions(FanOut, workflow.RegisterOptions{Name: Several})
		r.RegisterWorkflowWithOptions(Change, workflow.RegisterOptions{Name: ChangeName})
	})
}
