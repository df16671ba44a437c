package runner

import (
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
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/search"
	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/measure"
)

// TuneOptions describe how to search for the best point of a case. The suite, the
// device and the seed are in Options.
type TuneOptions struct {
	Case      string        // the case whose time counts
	Strategy  string        // empty for auto
	Evals     int           // max points, including those of a resumed journal; 0 for no limit
	Budget    time.Duration // everything stops after this; 0 for no limit
	Resume    bool          // continue the journal
	WarmStart []string      // journals of other devices, or older ones
	Jobs      int           // parallel builds; 0 for as many as the machine can run
	Journal   string        // empty for tuning/journal.jsonl in the suite's folder
}

// SearchResult is the result of a search.
type SearchResult struct {
	Header      tune.Header
	Space       *space.Space // includes the parameters of the config, with one value each
	Evaluations []tune.Evaluation
	Resumed     int             // number of evaluations from a resumed journal
	Default     tune.Evaluation // the first evaluation
	Best        tune.Evaluation
	Unchecked   string // why results were not checked; empty when they were
	End         string // why it ended: "evaluations", "budget", "space" or "interrupted"
	Seconds     float64
	Journal     string
}

// Reasons why a search ended.
const (
	EndEvaluations = "evaluations"
	EndBudget      = "budget"
	EndSpace       = "space"
	EndInterrupted = "interrupted"
)

// Tune searches for the values of a benchmark's tunables that make a case fastest. The result is a
// candidate: a run must prove that it is really faster. If Tune fails, it returns what it found so
// far, which is also in the journal.
func Tune(ctx context.Context, o Options, what TuneOptions) (found *SearchResult, err error) {
	o = o.withDefaults()
	t := &tuner{run: &run{Options: o}, TuneOptions: what, startedAt: o.Now()}
	if t.Dir, err = filepath.Abs(t.Dir); err != nil {
		return nil, fmt.Errorf("cannot find the suite's folder: %w", err)
	}
	if t.Journal == "" {
		t.Journal = filepath.Join(t.Dir, "tuning", "journal.jsonl")
	}
	t.results = o.Out
	t.Out = t.Journal // logs go beside the journal
	if t.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, time.Now().Add(t.Budget), errBudget)
		defer cancel()
	}
	if err := t.chooseCase(); err != nil {
		return nil, &UsageError{err}
	}
	defer func() { err = errors.Join(err, t.cleanUp(ctx)) }()
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
	*run
	TuneOptions
	results string // where records of this suite go; they are not sources

	target        suite.Case
	benchmark     suite.Benchmark
	usual         suite.Variant // variant of the default point
	space         *space.Space
	strategy      search.Strategy
	searchJournal *tune.Journal
	searchHeader  tune.Header
	race          tune.Race
	judge         *tuneJudge // nil if the suite defines no correct results
	unchecked     string

	list      []tune.Evaluation
	resumed   int
	best      *tune.Evaluation
	startedAt time.Time
	end       string

	sources    *build.SourceCopies
	workspaces chan *build.SourceCopy
	quiet      sync.RWMutex // on the CPU, nothing is built during a measurement
}

// chooseCase finds the case and checks that it can be tuned.
func (t *tuner) chooseCase() error {
	if t.Suite.NeedsHarness() {
		return errors.New("the suite leaves its configs to the harness: give the benchmark a matrix, so that its points are known before the build")
	}
	if trust := t.trust(); trust != measure.Trusted {
		return fmt.Errorf("a search runs the suite's own harness, but trust is %s: tune only your own code, with trust: trusted", trust)
	}
	if t.plain() {
		return errors.New("a search requires a harness that speaks pawl's protocol: a command that prints times chooses itself what to measure")
	}
	var matching, tunable []string
	for _, c := range t.Suite.Cases() {
		if c.Implementation != suite.Candidate {
			continue
		}
		if t.Options.benchmark(c.Benchmark).Tune != nil {
			tunable = append(tunable, c.Name())
		}
		if t.Case == "" || c.Name() == t.Case || measure.MatchCase(t.Case, c.Name(), c.Benchmark) {
			t.target = c
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
	t.benchmark = t.Options.benchmark(t.target.Benchmark)
	t.race = tune.NewRace(min(t.target.Samples, maxSamples))
	var err error
	t.usual, err = t.Suite.VariantFor(suite.Candidate, t.benchmark.Complete(t.target.Params))
	return err
}

// prepareSearch acquires the device and the journal, and creates the strategy.
func (t *tuner) prepareSearch(ctx context.Context) error {
	if err := t.chooseDevice(ctx); err != nil {
		return err
	}
	if err := t.takeDevice(ctx); err != nil {
		return err
	}
	if err := t.openSpace(); err != nil {
		return err
	}
	if err := t.openJournal(ctx); err != nil {
		return err
	}
	if err := t.openStrategy(); err != nil {
		return err
	}
	if err := t.openJudge(ctx); err != nil {
		return err
	}
	return t.openWorkspaces(ctx)
}

func (t *tuner) openJournal(ctx context.Context) (err error) {
	t.searchHeader.Case, t.searchHeader.Suite, t.searchHeader.Device = t.target.Name(), t.Suite.Digest, t.device.Identity()
	t.searchHeader.Timer, t.searchHeader.Strategy, t.searchHeader.Seed, t.searchHeader.Pawl = string(t.target.Timer), t.Strategy, t.Seed, t.Version
	if repo, err := build.Open(ctx, t.Dir); err == nil {
		t.searchHeader.Commit, t.searchHeader.Dirty, _ = repo.Head(ctx) // a repository without a commit has none
	}
	switch {
	case t.Resume && tune.Exists(t.Journal):
		t.searchJournal, t.list, err = tune.Resume(t.Journal, t.searchHeader)
		if e, ok := errors.AsType[*tune.MismatchError](err); ok {
			return &UsageError{e}
		}
	default:
		if tune.Exists(t.Journal) {
			if err := os.Rename(t.Journal, previous(t.Journal)); err != nil {
				return fmt.Errorf("cannot move the last journal aside: %w", err)
			}
		}
		t.searchJournal, err = tune.Create(t.Journal, t.searchHeader)
	}
	if err != nil {
		return err
	}
	t.resumed = len(t.list)
	t.atEnd(func(context.Context) error { return t.searchJournal.Close() })
	return nil
}

// openWorkspaces makes separate folders for builds that would overwrite each other. If no tunable
// affects the build, there is one build, in the suite's own folder.
func (t *tuner) openWorkspaces(ctx context.Context) error {
	jobs := t.Jobs
	if jobs <= 0 {
		jobs = min(maxBuildsAhead, build.Capacity(t.usual.Build.Memory))
	}
	t.builds = newBuildPool(t.run, jobs)
	if !t.Suite.TunesBuild(suite.Candidate, t.benchmark) {
		t.workspaces = make(chan *build.SourceCopy, 1)
		return nil
	}
	leave := t.generatedFiles(side{dir: t.Dir})
	if results := within(t.Dir, filepath.Dir(t.results)); t.results != "" && results != "" {
		leave = append(leave, results)
	}
	var err error
	// The journal's lock makes this folder exclusive; files of a killed search are removed.
	place := filepath.Join(filepath.Dir(t.Journal), ".rooms")
	if t.sources, err = build.NewSourceCopies(ctx, place, t.Dir, t.usual.Harness.Files, leave); err != nil {
		return err
	}
	t.atEnd(func(context.Context) error { return t.sources.Remove() })
	t.workspaces = make(chan *build.SourceCopy, jobs+1) // one more than the parallel builds: the one being measured
	for range cap(t.workspaces) {
		room, err := t.sources.New(ctx)
		if err != nil {
			return err
		}
		t.atEnd(room.Remove)
		t.workspaces <- room
	}
	return nil
}

// variant returns what a tuned suite builds and starts for the case.
func (t *tuner) variant(s *suite.Suite) (suite.Variant, error) {
	return s.VariantFor(suite.Candidate, s.Benchmarks[0].Complete(t.target.Params))
}

// found returns the result of the search, also after an error.
func (t *tuner) found(ctx context.Context, err error) (*SearchResult, error) {
	f := &SearchResult{
		Header: t.searchHeader, Space: t.space, Evaluations: t.list, Resumed: t.resumed, Unchecked: t.unchecked,
		End: t.end, Seconds: t.Now().Sub(t.startedAt).Seconds(), Journal: t.Journal,
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
		err = &UsageError{fmt.Errorf("the budget of %v was spent before the default was measured: increase it", t.Budget)}
	case cause != nil:
		f.End = EndInterrupted
		if err == nil {
			err = cause
		}
	}
	return f, err
}

// onCPU reports whether builds and measurements would compete for the CPU.
func (t *tuner) onCPU() bool { return t.device.Identity().Kind == gpu.CPU }
