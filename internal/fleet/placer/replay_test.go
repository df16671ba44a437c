package placer

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Histories of workflows that earlier versions ran replay: gates in flight survive an upgrade. A change that breaks
// this needs workflow.GetVersion. New histories come from TestEngine in internal/server/engine with -histories.
func TestReplay_KeptHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/history/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r := worker.NewWorkflowReplayer()
			r.RegisterWorkflowWithOptions(Placer, workflow.RegisterOptions{Name: Name})
			if err := r.ReplayWorkflowHistoryFromJSONFile(silent, file); err != nil {
				t.Error(err)
			}
		})
	}
}
