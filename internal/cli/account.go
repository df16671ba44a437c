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

// accountant watches a run and notes how long it is in which stage.
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

// stageOf is the stage that an event tells to be under way; empty for events that say
// nothing of it.
func stageOf(e bench.Event) string {
	switch e := e.(type) {
	case bench.Waiting:
		return account.Wait
	case bench.Building, bench.Built:
		return account.Build
	case bench.Staged:
		if e.Step == loop.Examining { // it is over: what follows it begins
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

// account writes what the run took beside what it found.
func (f *runFlags) account(ctx context.Context, a *accountant, s *suite.Suite, out bench.Outcome, err error) error {
	if err != nil && exitCode(ctx, err) == exitUsage {
		return nil // nothing was done
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	doc := a.clock.Account(a.now()).Priced(s.Device.PricePerHour)
	doc.Suite = s.Name
	// A pull request is known by its branch: a push to it is another run of the same change.
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
