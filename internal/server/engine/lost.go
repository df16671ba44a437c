package engine

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

const (
	// A gate is recorded before its workflow starts, in the same request. Its client sends the request again if it got no answer.
	unstartedAfter = 5 * time.Minute
	silentAfter    = 25 * time.Hour // a gate waits for a device for up to 24 hours
)

// EndLost ends gates that were recorded and have no running workflow, with a reason. The start of the workflow was lost, or it
// was ended from outside before it could record that. Such a gate would wait for ever.
func (e *Engine) EndLost(ctx context.Context, now time.Time) error {
	list, err := e.o.Fleet.Silent(ctx, now.Add(-unstartedAfter), now.Add(-silentAfter))
	if err != nil {
		return err
	}
	for _, p := range list {
		runs, err := e.runs(ctx, p)
		if err != nil {
			return err
		}
		if runs {
			continue
		}
		if err := e.o.Fleet.EndSilent(ctx, p, "its workflow does not exist or has ended: start a new gate"); err != nil {
			return err
		}
		e.o.Log.WarnContext(ctx, "ended a gate without a workflow", "project", p.Project, "gate", p.Gate, "model", p.Model)
	}
	return nil
}

// runs reports whether the workflow of a gate runs.
func (e *Engine) runs(ctx context.Context, p fleetstore.Silent) (bool, error) {
	d, err := e.client.DescribeWorkflowExecution(ctx, gate.ID(p.Project, p.Gate), "")
	if isNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot look for the workflow of gate %s: %w", p.Gate, err)
	}
	return d.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}
