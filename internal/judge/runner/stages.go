package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/preflight"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// errStopped ends a run whose candidate is not worth measuring. The loop's state has the reason.
var errStopped = errors.New("a step before measuring stopped the run")

// runPreStages runs the steps between building and measuring that the loop asks for.
func (d *driver) runPreStages(ctx context.Context, r *Setup) error {
	if err := d.apply(loop.Built{Stage: builtStage(r.sides)}); err != nil {
		return err
	}
	for {
		var stage loop.Stage
		var err error
		switch loop.Next(d.State).(type) {
		case loop.Preflight:
			stage, err = d.preflight(ctx, r)
		case loop.Check:
			stage, err = d.check(ctx, r)
		case loop.Measure:
			return nil
		default:
			return errStopped
		}
		if err == nil {
			err = d.apply(loop.Staged{Stage: stage})
		}
		if err != nil {
			return err
		}
		d.Emit(Staged{stage})
	}
}

func builtStage(sides []side) loop.Stage {
	s := loop.Stage{Step: loop.Building, Answer: loop.Pass}
	seconds, built, kept, taken := 0.0, 0, 0, 0
	for _, side := range sides {
		switch {
		case side.impl.Build.Command == "":
		case side.impl.Build.Elsewhere:
			taken++
		case side.impl.Build.Cached:
			kept++
		default:
			built++
			seconds += side.impl.Build.Seconds
		}
	}
	if built+kept+taken == 0 {
		s.Answer, s.Line = loop.Skipped, "nothing to build"
		return s
	}
	var parts []string
	if built > 0 {
		parts = append(parts, fmt.Sprintf("%d built in %.1f s", built, seconds))
	}
	if kept > 0 {
		parts = append(parts, fmt.Sprintf("%d from the cache", kept))
	}
	if taken > 0 {
		parts = append(parts, fmt.Sprintf("%d from another machine with equal tools", taken))
	}
	s.Line = strings.Join(parts, ", ")
	return s
}

// preflight runs static checks on the build.
func (d *driver) preflight(ctx context.Context, r *Setup) (loop.Stage, error) {
	target, err := preflight.TargetDevice(r.Device())
	if err != nil {
		target = preflight.Target{} // a GPU newer than the tables: checks without a target still run
	}
	last, _ := measure.Load(r.Out) // optional: without a record some checks are skipped
	log, _ := os.ReadFile(filepath.Join(filepath.Dir(r.Out), "logs", "candidate.build.log"))
	report, err := preflight.Run(ctx, preflight.Options{
		Suite: r.Suite, Dir: r.Dir, Case: r.Case, Target: target, UUID: r.Device().UUID, Log: string(log), Last: last,
	})
	if err != nil {
		return loop.Stage{}, fmt.Errorf("preflight: %w", err)
	}
	return preflightStage(report), nil
}

func preflightStage(r preflight.Report) loop.Stage {
	s := loop.Stage{Step: loop.Examining, Answer: loop.Pass}
	passed := 0
	for _, g := range r.Gates {
		text := fmt.Sprintf("%s: %s: %s", g.Name, g.Subject(), g.Text)
		if g.Fix != "" {
			text += "; " + g.Fix
		}
		switch g.State {
		case preflight.Pass:
			passed++
		case preflight.Warn, preflight.Stop:
			s.Detail = append(s.Detail, text)
		case preflight.Unknown:
		}
	}
	switch r.Worst() {
	case preflight.Stop:
		s.Answer = loop.Stop
	case preflight.Warn:
		s.Answer = loop.Warn
	case preflight.Pass, preflight.Unknown:
	}
	s.Line = fmt.Sprintf("%d of %d gates pass", passed, len(r.Gates))
	if len(r.Gates) == 1 {
		s.Line = fmt.Sprintf("%d of 1 gate passes", passed)
	}
	if passed == 0 && len(s.Detail) == 0 {
		s.Answer, s.Line = loop.Skipped, "nothing to check before the run"
	}
	return s
}

// check searches for wrong results, within the time that a run allows for it.
func (d *driver) check(ctx context.Context, r *Setup) (stage loop.Stage, err error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return stage, fmt.Errorf("cannot find the suite's folder: %w", err)
	}
	own := &Setup{Options: r.Options, device: r.device, lease: r.lease, sides: r.sides, sites: maps.Clone(r.sites), ready: r.ready}
	own.Dir, own.Seed = dir, r.random().Uint64()
	defer func() { err = errors.Join(err, own.Close(ctx)) }()
	f, err := own.searching(FuzzOptions{Time: d.Fuzz})
	if err != nil {
		return stage, err
	}
	targets, err := f.plans()
	if err == nil {
		var reports []*correctness.Report
		reports, err = f.campaigns(ctx, targets)
		stage = fuzzStage(reports, f.Seed, r.trust())
	}
	if errors.Is(err, ErrNothingToTest) {
		return loop.Stage{Step: loop.Checking, Answer: loop.Skipped, Line: err.Error()}, nil
	}
	return stage, err
}

func fuzzStage(reports []*correctness.Report, seed uint64, trust measure.Trust) loop.Stage {
	s := loop.Stage{Step: loop.Checking, Answer: loop.Pass}
	passed, failed, untried := 0, 0, 0
	var took time.Duration
	for _, r := range reports {
		passed, failed, untried, took = passed+r.Passed, failed+r.Failed, untried+r.Untried, took+r.Took
		for _, x := range r.Found {
			s.Detail = append(s.Detail, fmt.Sprintf("%s/%s: %s", r.Benchmark, suite.ConfigName(x.Smallest.Params), x.Smallest.Reason))
		}
	}
	s.Line = fmt.Sprintf("%d of %d correct in %.0f s (seed %d)", passed, passed+failed, took.Seconds(), seed)
	if untried > 0 {
		s.Line += fmt.Sprintf(", %d more not tried within the time limit", untried)
	}
	if failed > 0 {
		s.Answer = loop.Stop
		again := "pawl fuzz --replay"
		if trust != measure.Trusted {
			again += " --trust " + string(trust)
		}
		s.Detail = append(s.Detail, again+" reproduces it")
	}
	return s
}
