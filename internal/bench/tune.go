package bench

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
	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/search"
	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/measure"
)

// TuneOptions say how to look for the best point of a case, beside what Options say of the
// suite, the device and the seed.
type TuneOptions struct {
	Case      string        // the case whose time counts
	Strategy  string        // empty for auto
	Evals     int           // at most so many points, those of a resumed journal included; 0 for no limit
	Budget    time.Duration // nothing goes on after it; 0 for no limit
	Resume    bool          // go on with the journal
	WarmStart []string      // journals of another device, or older ones
	Jobs      int           // builds at once; 0 for as many as the machine carries
	Journal   string        // empty for tuning/journal.jsonl in the suite's folder
}

// Tuning is what was found.
type Tuning struct {
	Header      tune.Header
	Space       *space.Space // with the parameters of the config among its own, of one value each
	Evaluations []tune.Evaluation
	Resumed     int             // of them, from the journal
	Default     tune.Evaluation // the first of all
	Best        tune.Evaluation
	Unchecked   string // why results were not looked at; empty when they were
	End         string // why it ended: "evaluations", "budget", "space" or "interrupted"
	Seconds     float64
	Journal     string
}

// The ways a search ends.
const (
	EndEvaluations = "evaluations"
	EndBudget      = "budget"
	EndSpace       = "space"
	EndInterrupted = "interrupted"
)

// Tune looks for the values of a benchmark's tunables that make a case fastest. What it
// finds is a candidate: whether it is really faster is for a run to prove. With an error
// comes what was found until then, and the journal has it.
func Tune(ctx context.Context, o Options, what TuneOptions) (found *Tuning, err error) {
	o = o.filled()
	t := &tuner{run: &run{Options: o}, TuneOptions: what, began: o.Now()}
	if t.Dir, err = filepath.Abs(t.Dir); err != nil {
		return nil, fmt.Errorf("find the suite's folder: %w", err)
	}
	if t.Journal == "" {
		t.Journal = filepath.Join(t.Dir, "tuning", "journal.jsonl")
	}
	t.results = o.Out
	t.Out = t.Journal // logs lie beside it
	if t.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, time.Now().Add(t.Budget), errBudget)
		defer cancel()
	}
	if err := t.chooseCase(); err != nil {
		return nil, &UsageError{err}
	}
	defer func() { err = errors.Join(err, t.cleanUp(ctx)) }()
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	err = t.search(ctx)
	return t.found(ctx, err)
}

// errBudget ends what is under way when the time is over.
var errBudget = errors.New("the budget is spent")

// tuner is one search on its way.
type tuner struct {
	*run
	TuneOptions
	results string // where records of this suite go, which are no sources

	target    suite.Case
	benchmark suite.Benchmark
	usual     suite.Variant // of the default point
	space     *space.Space
	strategy  search.Strategy
	journal   *tune.Journal
	header    tune.Header
	race      tune.Race
	judge     *tuneJudge // nil where nobody says what is right
	unchecked string

	list    []tune.Evaluation
	resumed int
	best    *tune.Evaluation
	began   time.Time
	end     string

	sources *build.Rooms
	rooms   chan *build.Room
	quiet   sync.RWMutex // on the CPU nothing is built while something is measured
}

// chooseCase finds the case, and whether it can be tuned.
func (t *tuner) chooseCase() error {
	if t.Suite.NeedsHarness() {
		return errors.New("the suite leaves its configs to the harness: give the benchmark a matrix, so that its points are known before anything is built")
	}
	if trust := t.trust(); trust != measure.Trusted {
		return fmt.Errorf("a search runs the suite's own harness, and trust is %s: tune your own code, with trust: trusted", trust)
	}
	if t.plain() {
		return errors.New("a search needs a harness that speaks pawl's protocol: a command that prints times chooses by itself what to measure")
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
		return errors.New("no benchmark of the suite has anything to tune: write tune for one, with the parameters to try")
	case len(matching) == 0:
		return fmt.Errorf("no case matches %q; these can be tuned: %s", t.Case, strings.Join(tunable, ", "))
	case len(matching) > 1:
		return fmt.Errorf("%d cases match %q, and one is tuned at a time: choose one of %s", len(matching), t.Case, strings.Join(matching, ", "))
	case !slices.Contains(tunable, t.target.Name()):
		return fmt.Errorf("benchmark %q has nothing to tune; these can be: %s", t.target.Benchmark, strings.Join(tunable, ", "))
	}
	t.benchmark = t.Options.benchmark(t.target.Benchmark)
	t.race = tune.NewRace(min(t.target.Samples, mostSamples))
	var err error
	t.usual, err = t.Suite.VariantFor(suite.Candidate, t.benchmark.Complete(t.target.Params))
	return err
}

// begin takes the device and the journal, and makes the strategy.
func (t *tuner) begin(ctx context.Context) error {
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
	return t.openRooms(ctx)
}

func (t *tuner) openJournal(ctx context.Context) (err error) {
	t.header.Case, t.header.Suite, t.header.Device = t.target.Name(), t.Suite.Digest, t.device.Identity()
	t.header.Timer, t.header.Strategy, t.header.Seed, t.header.Pawl = string(t.target.Timer), t.Strategy, t.Seed, t.Version
	if repo, err := build.Open(ctx, t.Dir); err == nil {
		t.header.Commit, t.header.Dirty, _ = repo.Head(ctx) // a repository without a commit has none
	}
	switch {
	case t.Resume && tune.Exists(t.Journal):
		t.journal, t.list, err = tune.Resume(t.Journal, t.header)
		if e, ok := errors.AsType[*tune.OtherError](err); ok {
			return &UsageError{e}
		}
	default:
		if tune.Exists(t.Journal) {
			if err := os.Rename(t.Journal, previous(t.Journal)); err != nil {
				return fmt.Errorf("move the last journal aside: %w", err)
			}
		}
		t.journal, err = tune.Create(t.Journal, t.header)
	}
	if err != nil {
		return err
	}
	t.resumed = len(t.list)
	t.atEnd(func(context.Context) error { return t.journal.Close() })
	return nil
}

// openRooms makes places for builds that would overwrite each other. Where no tunable
// stands in the build there is one build, in the suite's own folder, as ever.
func (t *tuner) openRooms(ctx context.Context) error {
	jobs := t.Jobs
	if jobs <= 0 {
		jobs = min(mostAhead, build.Capacity(t.usual.Build.Memory))
	}
	t.workshop = newWorkshop(t.run, jobs)
	if !t.Suite.TunesBuild(suite.Candidate, t.benchmark) {
		t.rooms = make(chan *build.Room, 1)
		return nil
	}
	leave := t.makes(side{dir: t.Dir})
	if results := within(t.Dir, filepath.Dir(t.results)); t.results != "" && results != "" {
		leave = append(leave, results)
	}
	var err error
	// The journal's lock keeps this folder ours; what a killed search left there goes.
	place := filepath.Join(filepath.Dir(t.Journal), ".rooms")
	if t.sources, err = build.NewRooms(ctx, place, t.Dir, t.usual.Harness.Files, leave); err != nil {
		return err
	}
	t.atEnd(func(context.Context) error { return t.sources.Remove() })
	t.rooms = make(chan *build.Room, jobs+1) // one more than is built in: the one that is measured
	for range cap(t.rooms) {
		room, err := t.sources.Room(ctx)
		if err != nil {
			return err
		}
		t.atEnd(room.Remove)
		t.rooms <- room
	}
	return nil
}

// variant is what a tuned suite builds and starts for the case.
func (t *tuner) variant(s *suite.Suite) (suite.Variant, error) {
	return s.VariantFor(suite.Candidate, s.Benchmarks[0].Complete(t.target.Params))
}

// found is what there is to tell, also after an error.
func (t *tuner) found(ctx context.Context, err error) (*Tuning, error) {
	f := &Tuning{
		Header: t.header, Space: t.space, Evaluations: t.list, Resumed: t.resumed, Unchecked: t.unchecked,
		End: t.end, Seconds: t.Now().Sub(t.began).Seconds(), Journal: t.Journal,
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
		err = &UsageError{fmt.Errorf("the budget of %v was spent before the default was measured: give it more", t.Budget)}
	case cause != nil:
		f.End = EndInterrupted
		if err == nil {
			err = cause
		}
	}
	return f, err
}

// onCPU tells whether builds and measurements would take each other's time.
func (t *tuner) onCPU() bool { return t.device.Identity().Kind == gpu.CPU }
