package submit

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// How much a stage spends.
var (
	quickLooks = []int{2, 4}
	fuzzTime   = map[Stage]time.Duration{Smoke: time.Second, Quick: time.Second, Full: 10 * time.Second}
)

// quickSamples is the share of the suite's samples that a quick race takes, and minSamples its min number. A round
// costs warm-up and pawl's own clock in any case, so fewer samples would save little and lose precision.
const (
	quickSamples = 2
	minSamples   = 10
)

// worthRounds is the gain from which on a candidate is measured until its lead is certain, or until there are no more
// rounds. A gate may pass a change as soon as it is certainly not slower; a search must not take a true gain for noise.
const worthRounds = 0.02

// hopeless is how much slower than the best so far a candidate is that is not worth more rounds.
const hopeless = 0.05

// judge takes the candidate through its stages.
func (j *job) judge(ctx context.Context) error {
	o := j.options()
	if j.Stage == Compile {
		return j.compile(ctx)
	}
	gate := runner.Gate{
		Options: o, Fuzz: min(fuzzTime[j.Stage], j.budget/4), Report: func(runner.Outcome) error { return nil },
		Plan: loop.Plan{CheckOnly: j.Stage == Smoke, Preflight: j.Stage == Full},
	}
	gate.Plan.Check = slices.ContainsFunc(j.suite.Benchmarks, func(b suite.Benchmark) bool { return b.Check != nil })
	leader, _ := best(j.before)
	var gaveUp float64
	if j.Stage == Quick {
		short := *j.suite
		short.Measure.Rounds = quickLooks
		gate.Suite, gate.Brief, gate.Samples = &short, true, max(minSamples, short.Measure.Samples/quickSamples)
		if leader.Commit != "" && leader.Commit != j.attempt.Commit {
			gate.Baseline = func(gpu.Identity) string { return leader.Commit }
		}
		gate.GiveUp = func(seen *measure.Run) bool {
			slower, sure := slowerThanBest(seen)
			if sure && slower > hopeless {
				gaveUp = slower
			}
			return gaveUp > 0
		}
	}
	gate.Plan.Policy = gate.Suite.JudgePolicy()
	gate.Plan.Policy.MoveGain = min(gate.Plan.Policy.MoveGain, worthRounds)
	out, err := runner.RunGate(ctx, gate)
	if err := j.conclude(ctx, out, err); err != nil {
		return err
	}
	if gaveUp > 0 && j.answer.Status == Measured {
		name := "attempt " + leader.ID
		if leader.ID == baseID {
			name = "the base"
			if j.answer.Verdict != string(ratchet.Regression) {
				j.answer.placed(Behind)
			}
		}
		j.answer.Reason = "ended early: slower than " + name
	}
	return nil
}

func (j *job) options() runner.Options {
	return runner.Options{
		Suite: j.suite, Dir: j.dir(), Path: j.Suite, Base: j.Base, Seed: runner.RandomSeed(), Budget: j.clock.left() * 4 / 5,
		Out: filepath.Join(j.attempt.dir, runFolder, "current.json"), Wait: j.Wait, LockDir: j.LockDir, Version: j.Version,
		Owner: "pawl submit", Trust: j.Trust, Emit: j.clock.event, Now: j.Now,
	}
}

// compile builds the candidate and no more.
func (j *job) compile(ctx context.Context) (err error) {
	release, err := j.holdCPU(ctx, j.suite, j.clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return j.buildOnly(ctx)
}

// buildOnly builds the candidate, for a caller that holds the CPU if it is the device.
func (j *job) buildOnly(ctx context.Context) error {
	o := j.options()
	o.Base = ""
	if err := os.MkdirAll(filepath.Dir(o.Out), 0o755); err != nil {
		return err
	}
	_, err := runner.BuildOnly(ctx, o)
	if errors.Is(context.Cause(ctx), errTimeUp) {
		j.timeUp()
		return nil
	}
	side, broke := errors.AsType[*trial.SideError](err)
	switch {
	case err == nil:
		j.answer.Status = Compiled
	case broke && side.Side == suite.Candidate && j.buildFailed(err):
		return nil
	}
	return err
}

// holdCPU waits for the CPU if it is the device to measure on: a build must not run while it is measured.
func (g *Grant) holdCPU(ctx context.Context, s *suite.Suite, c *clock) (release func() error, err error) {
	none := func() error { return nil }
	inventory, err := device.List(ctx, device.Options{})
	if err != nil {
		return none, err
	}
	d, err := inventory.Select(s.Device.Kind, s.Device.Select)
	if err != nil || d.Identity().Kind != gpu.CPU {
		return none, err
	}
	lease, err := device.Acquire(ctx, d, device.LockOptions{
		Dir: g.LockDir, Owner: "pawl submit", Wait: g.Wait, Now: g.Now, OnWait: func(device.Holder) { c.event(runner.Waiting{}) },
	})
	c.work()
	if err != nil {
		return none, err
	}
	return func() error { return lease.Release(context.WithoutCancel(ctx)) }, nil
}

// buildFailed fills the answer if err is a failed build of the candidate.
func (j *job) buildFailed(err error) bool {
	e, ok := errors.AsType[*build.Error](err)
	if !ok {
		return false
	}
	j.answer.Status, j.answer.Reason, j.answer.Detail = CompileError, "the build failed", e.Reason
	log, _ := disk.ReadRegular(filepath.Join(j.attempt.dir, runFolder, "logs", "candidate.build.log"), 64<<20)
	for _, d := range build.Errors(string(log), maxListed) {
		j.answer.Errors = append(j.answer.Errors, BuildError{File: j.inTree(d.File), Line: d.Line, Column: d.Column, Message: d.Message})
	}
	if len(j.answer.Errors) == 0 {
		j.answer.Errors = []BuildError{{Message: lastLine(e.Output)}}
	}
	return true
}

// inTree returns a path without the folder of the candidate's tree, which means nothing to its author.
func (j *job) inTree(name string) string {
	if rel, err := filepath.Rel(j.dir(), name); err == nil && filepath.IsAbs(name) && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return name
}

// slowerThanBest returns how much slower the candidate is than the best so far, or than the base if the best was
// not measured, as a share. It is sure if every round agrees.
func slowerThanBest(seen *measure.Run) (share float64, sure bool) {
	side := suite.Base
	if slices.ContainsFunc(seen.Cases, func(c measure.Case) bool { return c.Implementation == runner.BaselineSide && len(c.Rounds) > 0 }) {
		side = runner.BaselineSide
	}
	rounds := meanRounds(ratchet.Gather([]*measure.Run{seen}, []*measure.Run{seen}, side, suite.Candidate))
	if len(rounds) == 0 {
		return 0, false
	}
	return math.Expm1(stats.Mean(rounds)), slices.Min(rounds) > math.Log1p(hopeless/2)
}

// meanRounds returns the logarithm of the candidate's time over the other side's for each round, as its mean over the
// gated cases.
func meanRounds(evidence []ratchet.Evidence) []float64 {
	var rounds []float64
	cases := 0
	for _, e := range evidence {
		ratios := e.LogRatios()
		if !e.Gate || e.Case.Metric != "" || len(ratios) == 0 {
			continue
		}
		cases++
		for i, r := range ratios {
			if i == len(rounds) {
				rounds = append(rounds, 0)
			}
			rounds[i] += r
		}
	}
	for i := range rounds {
		rounds[i] /= float64(cases)
	}
	return rounds
}
