// Package tuning searches on this machine for the values of a benchmark's tunables that make a case fastest, and proves
// what it found: it measures the best points again beside the defaults. It builds, checks and measures points with
// package runner. What a point, a journal and a proof are is in package tune, and which point to try next in
// package tune/search.
package tuning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/search"
	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/measure"
)

// Options describe how to search for the best point of a case. The suite, the
// device and the seed are in runner.Options.
type Options struct {
	Case      string        // the case whose time counts
	Strategy  string        // empty for auto
	Evals     int           // max points, including those of a resumed journal; 0 for no limit
	Budget    time.Duration // everything stops after this; 0 for no limit
	Resume    bool          // continue the journal
	WarmStart []string      // journals of other devices, or older ones
	Jobs      int           // parallel builds; 0 for as many as the machine can run
	Journal   string        // empty for tuning/journal.jsonl in the suite's folder
}

// Reasons why a search ended.
const (
	EndEvaluations = "evaluations"
	EndBudget      = "budget"
	EndSpace       = "space"
	EndInterrupted = "interrupted"
)

// Search searches for the values of a benchmark's tunables that make a case fastest. The result is a
// candidate: a proof must show that it is really faster. If Search fails, it returns what it found so
// far, which is also in the journal.
func Search(ctx context.Context, o runner.Options, what Options) (found *tune.Report, err error) {
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, fmt.Errorf("cannot find the suite's folder: %w", err)
	}
	what.Journal = cmp.Or(what.Journal, filepath.Join(o.Dir, "tuning", "journal.jsonl"))
	o.Results, o.Out = o.Out, what.Journal // logs go beside the journal
	t := &tuner{Setup: runner.NewSetup(o), Options: what}
	t.startedAt = t.Now()
	if t.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.Budget, errBudget)
		defer cancel()
	}
	if err := t.chooseCase(); err != nil {
		return nil, &runner.UsageError{Err: err}
	}
	defer func() { err = errors.Join(err, t.Close(ctx)) }()
	if err := t.prepareSearch(ctx); err != nil {
		return nil, err
	}
	err = t.search(ctx)
	return t.found(ctx, err)
}

// errBudget cancels running work when the budget is spent.
var errBudget = errors.New("the budget is spent")

// tuner is the state of one search.
type tuner struct {
	*runner.Setup
	Options

	target        suite.Case
	benchmark     suite.Benchmark
	usual         suite.Variant // variant of the default point
	space         *space.Space
	strategy      search.Strategy
	searchJournal *tune.Journal
	searchHeader  tune.Header
	tunedFor      tune.Target
	race          tune.Race
	checker       *checker // nil if the suite defines no correct results
	unchecked     string

	list      []tune.Evaluation
	resumed   int
	best      *tune.Evaluation
	startedAt time.Time
	end       string

	slots        chan struct{}          // one per running build
	workspaces   chan *build.SourceCopy // nil if all points share one build
	addWorkspace func(context.Context) error
	beside       *beside      // nil if points are measured alone
	quiet        sync.RWMutex // on the CPU, nothing is built during a measurement
}

// chooseCase finds the case and checks that it can be tuned.
func (t *tuner) chooseCase() error {
	if err := t.CheckTunable(); err != nil {
		return err
	}
	var matching, tunable []string
	for _, c := range t.Suite.Cases() {
		if c.Implementation != suite.Candidate {
			continue
		}
		b := t.Suite.Benchmark(c.Benchmark)
		if b.Tune != nil {
			tunable = append(tunable, c.Name())
		}
		if t.Case == "" || c.Name() == t.Case || measure.MatchCase(t.Case, c.Name(), c.Benchmark) {
			t.target, t.benchmark = c, b
			matching = append(matching, c.Name())
		}
	}
	switch {
	case len(tunable) == 0:
		return errors.New("no benchmark in the suite has anything to tune: add tune to one, with the parameters to try")
	case len(matching) == 0:
		return fmt.Errorf("no case matches %q; these can be tuned: %s", t.Case, strings.Join(tunable, ", "))
	case len(matching) > 1:
		return fmt.Errorf("%d cases match %q, but only one can be tuned at a time: choose one of %s", len(matching), t.Case, strings.Join(matching, ", "))
	case !slices.Contains(tunable, t.target.Name()):
		return fmt.Errorf("benchmark %q has nothing to tune; these can be tuned: %s", t.target.Benchmark, strings.Join(tunable, ", "))
	}
	t.race = tune.NewRace(min(t.target.Samples, maxSamples))
	var err error
	t.usual, err = t.Suite.VariantFor(suite.Candidate, t.benchmark.Complete(t.target.Params))
	return err
}

// prepareSearch acquires the device and the journal, and creates the strategy.
func (t *tuner) prepareSearch(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		t.ChooseDevice, t.TakeDevice, t.openSpace, t.openJournal, t.openStrategy, t.openChecker, t.openWorkspaces,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (t *tuner) openJournal(ctx context.Context) (err error) {
	t.searchHeader.Case, t.searchHeader.Suite, t.searchHeader.Device = t.target.Name(), t.Suite.Digest, t.Device()
	t.tunedFor = TargetOf(ctx, t.Suite, t.Dir, t.Device())
	t.searchHeader.Timer, t.searchHeader.Strategy, t.searchHeader.Seed, t.searchHeader.Pawl = string(t.target.Timer), t.Strategy, t.Seed, t.Version
	if repo, err := build.Open(ctx, t.Dir); err == nil {
		t.searchHeader.Commit, t.searchHeader.Dirty, _ = repo.Head(ctx) // a repository without a commit has none
	}
	switch {
	case t.Resume && tune.Exists(t.Journal):
		t.searchJournal, t.list, err = tune.Resume(t.Journal, t.searchHeader)
		if e, ok := errors.AsType[*tune.MismatchError](err); ok {
			return &runner.UsageError{Err: e}
		}
	default:
		if tune.Exists(t.Journal) {
			dir, name := filepath.Split(t.Journal)
			if err := os.Rename(t.Journal, filepath.Join(dir, "previous-"+name)); err != nil {
				return fmt.Errorf("cannot move the last journal aside: %w", err)
			}
		}
		t.searchJournal, err = tune.Create(t.Journal, t.searchHeader)
	}
	if err != nil {
		return err
	}
	t.resumed = len(t.list)
	t.AtEnd(func(context.Context) error { return t.searchJournal.Close() })
	return nil
}

// openWorkspaces makes separate folders for builds that would overwrite each other. If no tunable
// affects the build, there is one build, in the suite's own folder.
func (t *tuner) openWorkspaces(ctx context.Context) error {
	jobs := t.Jobs
	if jobs <= 0 {
		jobs = min(maxBuildsAhead, build.Capacity(t.usual.Build.Memory))
	}
	t.slots = make(chan struct{}, t.PrepareBuilds(jobs))
	if !t.Suite.TunesBuild(suite.Candidate, t.benchmark) {
		return nil
	}
	// The journal's lock makes this folder exclusive.
	copies, err := t.CopySources(ctx, filepath.Join(filepath.Dir(t.Journal), ".rooms"), t.usual.Harness.Files)
	if err != nil {
		return err
	}
	t.workspaces = make(chan *build.SourceCopy, jobs+1) // one more than the parallel builds: the one being measured
	t.addWorkspace = func(ctx context.Context) error {
		folder, err := copies.New(ctx)
		if err != nil {
			return err
		}
		t.AtEnd(folder.Remove)
		t.workspaces <- folder
		return nil
	}
	for range cap(t.workspaces) {
		if err := t.addWorkspace(ctx); err != nil {
			return err
		}
	}
	return nil
}

// variant returns what a tuned suite builds and starts for the case.
func (t *tuner) variant(s *suite.Suite) (suite.Variant, error) {
	return s.VariantFor(suite.Candidate, s.Benchmarks[0].Complete(t.target.Params))
}

// found returns the result of the search, also after an error.
func (t *tuner) found(ctx context.Context, err error) (*tune.Report, error) {
	candidate, _ := t.Suite.Implementation(suite.Candidate)
	f := &tune.Report{
		Header: t.searchHeader, Target: t.tunedFor, Created: t.Now().UTC(), Evaluations: t.list, Complete: t.space.Complete(), Resumed: t.resumed, Unchecked: t.unchecked,
		End: t.end, Seconds: t.Now().Sub(t.startedAt).Seconds(), Price: t.Suite.Device.PricePerHour, Journal: t.Journal, Build: candidate.Build.String(),
	}
	if len(t.list) > 0 {
		f.Default = t.list[0]
	}
	if t.best != nil {
		f.Best = *t.best
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errBudget) && len(t.list) > 0:
		f.End, err = EndBudget, nil
	case errors.Is(cause, errBudget):
		err = &runner.UsageError{Err: fmt.Errorf("the budget of %v was spent before the default was measured: increase it", t.Budget)}
	case cause != nil:
		f.End = EndInterrupted
		if err == nil {
			err = cause
		}
	}
	return f, err
}

// onCPU reports whether builds and measurements would compete for the CPU.
func (t *tuner) onCPU() bool { return t.Device().Kind == gpu.CPU }

// Events of a search and its proof.
type (
	// Ready reports what will be searched, before any time is spent.
	Ready struct {
		Case      string
		Device    gpu.Identity
		Strategy  string
		Points    int
		Complete  bool   // Points counts the whole space, not a sample of it
		Resumed   int    // evaluations from the journal
		Unchecked string // why results are not checked; empty when they are
		Jobs      int    // parallel builds
	}
	// Evaluated reports one more evaluated point.
	Evaluated struct {
		Evaluation     tune.Evaluation
		Default, Best  tune.Evaluation
		Done, Of       int // points; Of is 0 if only the budget ends the search
		Failed, Pruned int
		Elapsed        time.Duration
		Left           time.Duration // rest of the budget; 0 without one
	}
	// ProofChecked reports the check of a finalist's results before it is measured.
	ProofChecked struct {
		Side    string
		Point   map[string]any
		Checked int
		Wrong   string // what is wrong; empty if nothing is
	}
)
