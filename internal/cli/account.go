package cli

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/account"
	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/loop"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// accountant watches a run and records how much time it spends in each stage.
type accountant struct {
	mu    sync.Mutex
	clock *account.Clock
	now   func() time.Time
}

func newAccountant(now func() time.Time) *accountant {
	return &accountant{clock: account.Start(now()), now: now}
}

func (a *accountant) event(e bench.Event) {
	if stage := stageOf(e); stage != "" {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.clock.Enter(stage, a.now())
	}
}

// stageOf returns the stage that starts or continues with event e. It is empty for events
// that say nothing about the stage.
func stageOf(e bench.Event) string {
	switch e := e.(type) {
	case bench.Waiting:
		return account.Wait
	case bench.Building, bench.Built:
		return account.Build
	case bench.Staged:
		if e.Step == loop.Examining { // the step has ended: the next stage starts
			return account.Check
		}
		return account.Measure
	case bench.FuzzPlanned, bench.Fuzzing:
		return account.Check
	case bench.Ready, bench.Calibrated, bench.Measuring, bench.Confirming:
		return account.Measure
	case bench.Profiling, bench.Profiled, bench.Explained:
		return account.Profile
	default:
		return ""
	}
}

// account writes the time and cost of the run to account.json, beside the record.
func (f *runFlags) account(ctx context.Context, a *accountant, s *suite.Suite, out bench.Outcome, err error) error {
	if err != nil && exitCode(ctx, err) == exitUsage {
		return nil // nothing ran
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	doc := a.clock.Account(a.now()).Priced(s.Device.PricePerHour)
	doc.Suite = s.Name
	// A pull request is identified by its branch: a push to it is another run of the same change.
	doc.Branch = cmp.Or(f.Getenv("GITHUB_HEAD_REF"), f.Getenv("GITHUB_REF_NAME"))
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
	return writeFile(filepath.Join(f.dir, account.FileName), func(w io.Writer) error { return writeJSON(w, doc) })
}
