package tuning

import (
	"context"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// errNoFinalist ends a proof in which every finalist gave wrong results.
var errNoFinalist = errors.New("no finalist gives correct results")

// ready runs between building and measuring: it checks results and sets the rest of the budget.
func (p *prover) ready(ctx context.Context, r *runner.Setup) error {
	if err := p.check(ctx, r); err != nil {
		return err
	}
	if p.ProofOptions.Budget > 0 {
		r.Budget = max(1, p.ProofOptions.Budget-p.Now().Sub(p.startedAt))
	}
	return nil
}

// check searches for wrong results of the finalists before they are measured, on all sizes that the
// suite tries; the search checked only two. Wrong finalists leave the run.
func (p *prover) check(ctx context.Context, r *runner.Setup) error {
	if p.benchmark.Check == nil || p.Fuzz <= 0 {
		return nil
	}
	for i := range p.proof.Finalists {
		f := &p.proof.Finalists[i]
		if f.ResultError != "" || f.Checked > 0 { // already checked, before another one failed
			continue
		}
		reports, err := r.FuzzPoint(ctx, f.Side, p.Fuzz)
		for _, report := range reports {
			f.Checked += report.Passed + report.Failed
			for _, x := range report.Found {
				if f.ResultError == "" {
					f.ResultError = oneLine(fmt.Sprintf("%s/%s: %s", report.Benchmark, suite.ConfigName(x.Smallest.Params), x.Smallest.Reason))
				}
			}
		}
		if err != nil {
			return err
		}
		r.Emit(ProofChecked{Side: f.Side, Point: f.Point, Checked: f.Checked, Wrong: f.ResultError})
		if f.ResultError != "" {
			r.DropPoint(f.Side)
		}
	}
	if p.left() == 0 {
		return errNoFinalist
	}
	return nil
}
