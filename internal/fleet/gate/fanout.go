package gate

import (
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"
)

// maxGate is the longest time of a gate with everything that it waits for.
const maxGate = 36 * time.Hour

// FanOut runs a gate on several models at once and returns one outcome for each, in their order.
func FanOut(ctx workflow.Context, work Work, models []string) ([]Outcome, error) {
	var parts []workflow.ChildWorkflowFuture
	for _, model := range models {
		part := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
			WorkflowID:               ID(work.Project, work.Gate, model),
			WorkflowExecutionTimeout: maxGate,
			WaitForCancellation:      true,
			ParentClosePolicy:        enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		})
		parts = append(parts, workflow.ExecuteChildWorkflow(part, Name, work, model))
	}
	var list []Outcome
	for i, part := range parts {
		out := Outcome{}
		if err := part.Get(ctx, &out); err != nil {
			out = Outcome{Model: models[i], State: Failed, Reason: Reason(err)}
			if ctx.Err() != nil {
				out.State, out.Reason = Canceled, ""
			}
		}
		list = append(list, out)
	}
	return list, ctx.Err()
}
