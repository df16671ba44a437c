package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

func (d *driver) readLedger(ctx context.Context) error {
	if d.Ledger == nil {
		return nil
	}
	state, err := d.Ledger.Read(ctx)
	d.baselines = state.Baselines
	return err
}

// BaselineCommit returns a function that returns the commit that is the baseline of most cases on a device model.
// Cases whose baseline is another commit are compared with its stored sessions.
func BaselineCommit(baselines ratchet.Baselines) func(gpu.Identity) string {
	return func(id gpu.Identity) string {
		count := map[string]int{}
		best := ""
		for _, b := range baselines.All() {
			if b.Testbed.Device != id.Name || b.Commit == "" {
				continue
			}
			count[b.Commit]++
			if best == "" || count[b.Commit] > count[best] {
				best = b.Commit
			}
		}
		return best
	}
}

// evidence turns a record into evidence for the loop.
func (d *driver) evidence(run *measure.Run, over bool) loop.Looked {
	if d.Ledger == nil {
		return loop.Looked{Change: change(run, suite.Base, suite.Candidate), Over: over}
	}
	return baselineComparer{d.Plan.Policy, d.baselines}.looked(run, over)
}

// confirmation returns the path of the record of fresh rounds.
func (d *driver) confirmation() string { return filepath.Join(filepath.Dir(d.Out), "confirm.json") }

// removeConfirmation removes the fresh rounds of an earlier run, which readers of the folder
// would mistake for those of this run.
func (d *driver) removeConfirmation() error {
	for _, path := range []string{d.confirmation(), d.confirmation() + ".zst"} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove the last run's results: %w", err)
		}
	}
	return nil
}

// confirm measures fresh rounds of the cases that gained, against the same base, into a separate record.
func (d *driver) confirm(ctx context.Context, a loop.Confirm) (loop.Outcome, error) {
	o := d.Options
	o.Emit(Confirming{Cases: a.Cases})
	o.Names, o.Rounds = a.Cases, a.Rounds
	o.Out = d.confirmation()
	o.Seed, o.ForceMeasure = d.Seed+1, true
	o.Baseline = BaselineCommit(d.baselines)
	res, err := Run(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return loop.Failed{Why: "cannot confirm the gain: " + err.Error()}, nil
	}
	if d.confirmed, err = measure.Load(res.Path); err != nil {
		return nil, err
	}
	return loop.Confirmed{Gain: d.evidence(d.confirmed, true).Gain}, nil
}

// keep writes to the ledger, unless another job does. Append computes the
// entries again after a concurrent write.
func (d *driver) keep(ctx context.Context) (loop.Outcome, error) {
	k := LedgerUpdate{Policy: d.Plan.Policy, Run: d.Run, Confirmed: d.confirmed, Time: d.Now()}
	if d.ReadOnly {
		return loop.Finished{}, nil
	}
	kept, err := d.Ledger.Append(ctx, func(s ledger.State) ([]ratchet.Entry, error) {
		list, _, err := k.Entries(s.Baselines)
		return list, err
	})
	d.Kept = kept
	if err != nil {
		return loop.Failed{Why: fmt.Sprintf("cannot write the ledger: %v", err)}, nil
	}
	return loop.Finished{}, nil
}
