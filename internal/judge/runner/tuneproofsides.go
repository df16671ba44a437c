package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// errNoFinalist ends a proof in which every finalist gave wrong results.
var errNoFinalist = errors.New("no finalist gives correct results")

// sides returns the defaults in the user's own folder, the finalists, and the baseline's commit.
// The finalists get copies of the sources if their builds would overwrite each other.
func (p *prover) sides(ctx context.Context, r *run) ([]side, error) {
	list := []side{{name: DefaultSide, from: suite.Candidate, dir: r.Dir}}
	copies, err := p.copies(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, f := range p.proof.Finalists {
		if f.ResultError != "" {
			continue
		}
		s := side{name: f.Side, from: suite.Candidate, dir: r.Dir, suite: p.suites[f.Side]}
		if copies != nil {
			room, err := copies.New(ctx)
			if err != nil {
				return nil, err
			}
			r.atEnd(room.Remove)
			s.dir = room.Dir
		}
		list = append(list, s)
	}
	if baseline, ok := r.baseline(ctx, ""); ok {
		if err := r.setSideSuite(&baseline); err != nil {
			r.without(baseline.impl.Commit, err)
		} else {
			list = append(list, baseline)
		}
	}
	if check := p.benchmark.Check; check != nil && check.Implementation != "" {
		list = append(list, side{name: check.Implementation, from: check.Implementation, dir: r.Dir})
	}
	return list, nil
}

// copies makes a folder for the finalists' sources; nil if no tunable affects the build.
func (p *prover) copies(ctx context.Context, r *run) (*build.SourceCopies, error) {
	if !r.Suite.TunesBuild(suite.Candidate, p.benchmark) {
		return nil, nil // all sides share one build
	}
	leave := r.generatedFiles(side{dir: r.Dir})
	if results := within(r.Dir, filepath.Dir(p.out)); p.out != "" && results != "" {
		leave = append(leave, results)
	}
	candidate, _ := r.Suite.Implementation(suite.Candidate)
	place := filepath.Join(filepath.Dir(r.Out), ".proof") // exclusive: the place of the record is locked
	copies, err := build.NewSourceCopies(ctx, place, r.Dir, candidate.Harness.Files, leave)
	if err != nil {
		return nil, err
	}
	r.atEnd(func(context.Context) error { return copies.Remove() })
	return copies, nil
}

// ready runs between building and measuring: it checks results and sets the rest of the budget.
func (p *prover) ready(ctx context.Context, r *run) error {
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
func (p *prover) check(ctx context.Context, r *run) error {
	if p.benchmark.Check == nil || p.Fuzz <= 0 {
		return nil
	}
	var right []side
	for _, s := range r.sides {
		f := p.finalist(&trial.SideError{Side: s.name})
		if f == nil || f.Checked > 0 { // already checked, before another one failed
			right = append(right, s)
			continue
		}
		if err := p.checkOne(ctx, r, s, f); err != nil {
			return err
		}
		r.Emit(ProofChecked{Side: s.name, Point: f.Point, Checked: f.Checked, Wrong: f.ResultError})
		if f.ResultError == "" {
			right = append(right, s)
		}
	}
	if r.sides = right; p.left() == 0 {
		return errNoFinalist
	}
	return nil
}

// checkOne searches for wrong results of a finalist where it was built.
func (p *prover) checkOne(ctx context.Context, r *run, s side, finalist *tune.Finalist) (err error) {
	own := &run{Options: r.Options, device: r.device, lease: r.lease}
	own.Suite, own.Dir, own.lineup, own.Seed = s.suite, s.dir, nil, r.random().Uint64()
	own.Emit = func(Event) {} // the result is reported at the end
	defer func() { err = errors.Join(err, own.cleanUp(ctx)) }()
	f, err := own.searching(FuzzOptions{Time: p.Fuzz})
	if err != nil {
		return err
	}
	for _, v := range r.variants(s) { // already built: a second build would find files of the first
		f.builtKeys[v.Build.Key()], f.builtKeys[s.from+v.Build.Key()] = true, true
	}
	targets, err := f.plans()
	if err == nil {
		err = f.buildFor(ctx, targets)
	}
	if err != nil && !errors.Is(err, ErrNothingToTest) {
		return err
	}
	reports, err := f.campaigns(ctx, targets)
	for _, report := range reports {
		finalist.Checked += report.Passed + report.Failed
		for _, x := range report.Found {
			if finalist.ResultError == "" {
				finalist.ResultError = oneLine(fmt.Sprintf("%s/%s: %s", report.Benchmark, suite.ConfigName(x.Smallest.Params), x.Smallest.Reason))
			}
		}
	}
	if errors.Is(err, ErrNothingToTest) {
		return nil
	}
	return err
}
