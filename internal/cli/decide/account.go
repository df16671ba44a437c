package decide

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// stageTimer watches a run and records how much time it spends in each stage.
type stageTimer struct {
	mu    sync.Mutex
	clock *cost.Clock
	now   func() time.Time
}

func newAccountant(now func() time.Time) *stageTimer {
	return &stageTimer{clock: cost.Start(now()), now: now}
}

func (a *stageTimer) event(e runner.Event) {
	if stage := stageOf(e); stage != "" {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.clock.Enter(stage, a.now())
	}
}

// stageOf returns the stage that starts or continues with event e. It is empty for events
// that say nothing about the stage.
func stageOf(e runner.Event) string {
	switch e := e.(type) {
	case runner.Waiting:
		return cost.Wait
	case runner.Building, runner.Built:
		return cost.Build
	case runner.Staged:
		if e.Step == loop.Examining { // the step has ended: the next stage starts
			return cost.Check
		}
		return cost.Measure
	case runner.FuzzPlanned, runner.Fuzzing:
		return cost.Check
	case runner.Ready, runner.Calibrated, runner.Measuring, runner.Confirming:
		return cost.Measure
	case runner.Judged, runner.Profiling, runner.Profiled, runner.Explained:
		return cost.Profile
	default:
		return ""
	}
}

// writeAccount writes the time and cost of the run to account.json, beside the record.
func (f *runFlags) writeAccount(ctx context.Context, a *stageTimer, s *suite.Suite, out runner.Outcome, err error) error {
	if err != nil && env.ExitCode(ctx, err) == command.ExitUsage {
		return nil // nothing ran
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	doc := a.clock.Account(a.now()).Priced(s.Device.PricePerHour)
	doc.Suite = s.Name
	// A pull request is identified by its branch: a push to it is another run of the same change.
	if _, job, err := f.CurrentJob(); err == nil {
		doc.Branch = job.Branch
	}
	if err == nil {
		doc.Verdict = out.State.Verdict()
	}
	if run := out.Run; run != nil {
		doc.Run, doc.Device = run.ID, run.Device.Name
		for _, im := range run.Implementations {
			if im.Name == measure.Candidate {
				doc.Commit = im.Commit
			}
		}
	}
	return env.WriteFile(filepath.Join(f.dir, cost.FileName), func(w io.Writer) error { return command.WriteJSON(w, doc) })
}
