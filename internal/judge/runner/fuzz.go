package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// FuzzOptions describe where to search for wrong results. The suite, the device and the trust are in Options.
type FuzzOptions struct {
	Point   *correctness.Point // try only this point; nil for all
	Replay  bool               // try only what failed before
	Points  int                // max points per benchmark; 0 for all
	Time    time.Duration      // no point starts after this; 0 for no limit
	Against string             // oracle command that replaces the suite's
	DryRun  bool               // report what would be tried, and try nothing
}

// ErrNothingToTest means that no benchmark defines a correct result, or that
// nothing of what was requested could run.
var ErrNothingToTest = errors.New("nothing to test")

// CorpusDir is where failures are kept, in the folder of the suite.
const CorpusDir = ".pawl/corpus"

// Fuzz searches for wrong results of the candidate. If it fails, it also returns the reports made so far.
func Fuzz(ctx context.Context, o Options, what FuzzOptions) (reports []*correctness.Report, err error) {
	if err := o.check(); err != nil {
		return nil, &UsageError{err}
	}
	f := &fuzz{Setup: NewSetup(o), FuzzOptions: what, builtKeys: map[string]bool{}}
	if f.Dir, err = filepath.Abs(f.Dir); err != nil {
		return nil, fmt.Errorf("cannot find the suite's folder: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(ctx)) }()
	if err := f.prepareFuzz(ctx); err != nil {
		return nil, err
	}
	plans, err := f.plans()
	if err != nil || f.DryRun {
		return nil, err
	}
	if err := f.buildFor(ctx, plans); err != nil {
		return nil, err
	}
	return f.campaigns(ctx, plans)
}

// fuzz is the state of one search.
type fuzz struct {
	*Setup
	FuzzOptions
	tensors   string          // folder of the files that the processes exchange
	builtKeys map[string]bool // keys of builds, alone and with their implementation
}

// searching returns a search inside a run whose sides are built.
func (r *Setup) searching(what FuzzOptions) (*fuzz, error) {
	f := &fuzz{Setup: r, FuzzOptions: what, builtKeys: map[string]bool{}}
	for _, s := range r.sides {
		for _, v := range r.variants(s) {
			f.builtKeys[s.from+v.Build.Key()] = true
		}
	}
	maps.Copy(f.builtKeys, r.ready)
	var err error
	f.tensors, err = r.folder()
	return f, err
}

// folder makes a folder for tensors that is removed with the run.
func (r *Setup) folder() (string, error) {
	dir, err := correctness.Folder()
	if err != nil {
		return "", err
	}
	r.AtEnd(func(context.Context) error { return dir.Remove() })
	return dir.Path, nil
}

// target is a benchmark with the points to try on it.
type target struct {
	suite.Benchmark
	replay []correctness.Failure
	points []correctness.Point
}

// prepareFuzz acquires the device. If the suite does not list all cases, it asks the harness.
func (f *fuzz) prepareFuzz(ctx context.Context) (err error) {
	if !slices.ContainsFunc(f.Suite.Benchmarks, func(b suite.Benchmark) bool { return b.Check != nil || b.Discover }) {
		return fmt.Errorf("%w: no benchmark in the suite defines correct results\n  add check to one: an oracle, an implementation or an expression", ErrNothingToTest)
	}
	if f.tensors, err = f.folder(); err != nil {
		return err
	}
	if err := f.ChooseDevice(ctx); err != nil {
		return err
	}
	if f.DryRun && !f.Suite.NeedsHarness() {
		return nil
	}
	if err := f.TakeDevice(ctx); err != nil {
		return err
	}
	if !f.Suite.NeedsHarness() || f.plain() || f.checked() {
		return nil
	}
	f.sides = []side{{name: suite.Candidate, from: suite.Candidate, dir: f.Dir}}
	if err := f.build(ctx, &f.sides[0]); err != nil {
		return &trial.SideError{Side: suite.Candidate, Err: err}
	}
	_, err = f.greetHarness(ctx)
	return err
}

// plans chooses the points to try and reports their estimated time.
func (f *fuzz) plans() ([]target, error) {
	var list []target
	known := false
	measured := map[string]bool{}
	for _, c := range f.wanted() {
		measured[c.Benchmark] = true
	}
	for _, b := range f.Suite.Benchmarks {
		if b.Check == nil || len(b.Configs) == 0 {
			continue
		}
		if known = true; len(f.Names) > 0 && !measured[b.Name] { // the results of what is left out cannot have changed
			continue
		}
		t := target{Benchmark: b}
		f.choosePoints(&t)
		if len(t.points)+len(t.replay) == 0 {
			continue
		}
		if f.checked() {
			if _, _, err := f.launchOf(f.Dir, suite.Case{CaseKey: measure.CaseKey{Benchmark: b.Name}, Params: b.Configs[0].Params}); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
	switch {
	case len(list) > 0:
	case !known:
		return nil, fmt.Errorf("%w: no benchmark defines correct results", ErrNothingToTest)
	case f.Replay:
		return nil, fmt.Errorf("%w: no failure is stored in %s", ErrNothingToTest, filepath.Join(f.Dir, CorpusDir))
	case f.Point != nil:
		return nil, &UsageError{f.noSuchConfig()}
	default:
		return nil, fmt.Errorf("%w: no benchmark that defines correct results matches %q", ErrNothingToTest, f.Case)
	}
	for _, t := range list {
		f.Emit(FuzzPlanned{Benchmark: t.Name, Points: len(t.points), Replayed: len(t.replay), Seconds: t.forecast()})
	}
	return list, nil
}

// noSuchConfig returns an error that lists the parameters each benchmark has.
func (f *fuzz) noSuchConfig() error {
	var have []string
	for _, b := range f.Suite.Benchmarks {
		if b.Check == nil || len(b.Configs) == 0 {
			continue
		}
		var names []string
		for _, p := range b.Configs[0].Params {
			names = append(names, p.Name)
		}
		have = append(have, fmt.Sprintf("%s has %s", b.Name, strings.Join(names, ", ")))
	}
	which := ""
	if f.Case != "" {
		which = fmt.Sprintf(" that matches %q", f.Case)
	}
	return fmt.Errorf("no benchmark%s has exactly the parameters {%s}: %s", which, f.Point.Params, strings.Join(have, "; "))
}

func (f *fuzz) choosePoints(t *target) {
	if f.Point != nil {
		if p, ok := reorderParams(f.Point.Params, t.Configs[0].Params); ok && f.matches(t.Name, p) {
			t.points = []correctness.Point{{Params: p, Inputs: f.Point.Inputs, Seed: f.Point.Seed}}
		}
		return
	}
	failures, problems := f.corpus().Load(t.Name)
	for _, p := range problems {
		f.Emit(Fuzzing{Benchmark: t.Name, Event: correctness.Event{Warning: p.Error()}})
	}
	t.replay = slices.DeleteFunc(failures, func(x correctness.Failure) bool {
		_, ok := reorderParams(x.Params, t.Configs[0].Params)
		return !ok || !f.matches(t.Name, x.Params)
	})
	if f.Replay {
		return
	}
	space := correctness.SpaceOf(t.Check)
	space.Configs = slices.DeleteFunc(slices.Clone(space.Configs), func(c suite.Config) bool { return !f.matches(t.Name, c.Params) })
	if whole, _ := path.Match(f.Case, t.Name); f.Case != "" && !whole { // the glob names configs: try no others
		space.Jitter, space.Edges = nil, nil
	}
	space.Most = f.Points
	t.points = space.Points(f.Seed, correctness.Cost(t.Arguments))
}

func (f *fuzz) matches(benchmark string, p suite.Params) bool {
	return f.Case == "" || measure.MatchCase(f.Case, measure.CaseKey{Benchmark: benchmark, Config: suite.ConfigName(p)}.Name(), benchmark)
}

func (f *fuzz) corpus() *correctness.Corpus {
	return &correctness.Corpus{Dir: filepath.Join(f.Dir, CorpusDir)}
}

// reorderParams puts parameters into the order of the benchmark. It returns false if the names differ.
func reorderParams(p, like suite.Params) (suite.Params, bool) {
	out := make(suite.Params, len(like))
	for i, l := range like {
		v, ok := p.Get(l.Name)
		if !ok || len(p) != len(like) {
			return nil, false
		}
		out[i] = suite.Param{Name: l.Name, Value: v}
	}
	return out, true
}

// Rates of a modest core, for the forecast: inputs made, written, read and compared, and operations
// computed by kernel and oracle together.
const (
	fuzzBytesPerSecond = 60e6
	fuzzFlopsPerSecond = 8e9
)

// forecast estimates how long the points of a target take, in seconds, from their size.
func (t target) forecast() float64 {
	cost := correctness.Cost(t.Arguments)
	sum := 1.0
	for _, p := range t.points {
		sum += 2*cost(p.Params)/fuzzBytesPerSecond + t.Flops(p.Params)/fuzzFlopsPerSecond
	}
	return sum
}

// buildFor builds the candidate and the implementation that provides the correct results, if any.
func (f *fuzz) buildFor(ctx context.Context, targets []target) error {
	log, err := f.log("fuzz.build.log")
	if err != nil {
		return err
	}
	defer log.Close()
	for _, t := range targets {
		names := []string{suite.Candidate}
		if t.Check.Implementation != "" && f.Against == "" {
			names = append(names, t.Check.Implementation)
		}
		var params []suite.Params
		for _, p := range t.points {
			params = append(params, p.Params)
		}
		for _, x := range t.replay {
			params = append(params, x.Params)
		}
		for _, name := range names {
			if err := f.buildImplementation(ctx, name, t.Benchmark, params, log); err != nil {
				return &trial.SideError{Side: name, Err: err}
			}
		}
	}
	return nil
}

// buildImplementation builds an implementation of a benchmark for some configs.
func (f *fuzz) buildImplementation(ctx context.Context, name string, b suite.Benchmark, configs []suite.Params, log io.Writer) error {
	s := side{name: name, from: name, dir: f.Dir}
	if name != suite.Candidate {
		s = f.referenceSide(b)
		s.name, s.from = name, name
	}
	for _, p := range configs {
		v, err := f.suiteOf(s).VariantFor(name, b.Complete(p))
		if err != nil {
			return err
		}
		key := v.Build.Key()
		if !f.builtKeys[key] { // implementations with the same command share a build
			if err := f.buildVariant(ctx, &s, v.Build, log); err != nil {
				return err
			}
		}
		f.builtKeys[key], f.builtKeys[name+key] = true, true
	}
	return nil
}

// campaigns tries the targets one by one.
func (f *fuzz) campaigns(ctx context.Context, targets []target) ([]*correctness.Report, error) {
	log, err := f.log("fuzz.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	began := f.Now()
	var reports []*correctness.Report
	for _, t := range targets {
		left := f.Time
		if f.Time > 0 {
			if left -= f.Now().Sub(began); left <= 0 {
				f.Emit(Fuzzing{Benchmark: t.Name, Event: correctness.Event{Warning: fmt.Sprintf("the time limit of %v is reached: %s was not tried", f.Time, t.Name)}})
				continue
			}
		}
		report, err := f.campaign(ctx, t, left, log)
		if report != nil {
			reports = append(reports, report)
		}
		if err != nil {
			return reports, err
		}
	}
	if !slices.ContainsFunc(reports, (*correctness.Report).Tested) {
		return reports, fmt.Errorf("%w: none of the points could run%s", ErrNothingToTest, firstReason(reports))
	}
	return reports, nil
}

func firstReason(reports []*correctness.Report) string {
	for _, r := range reports {
		for _, x := range r.Results {
			if x.Reason != "" {
				return fmt.Sprintf("\n  %s/%s: %s", r.Benchmark, suite.ConfigName(x.Params), x.Reason)
			}
		}
	}
	return ""
}

func (f *fuzz) campaign(ctx context.Context, t target, left time.Duration, log io.Writer) (*correctness.Report, error) {
	subject := f.harnessed(side{dir: f.Dir}, f.tensors, suite.Candidate, t.Benchmark, log)
	if f.checked() {
		subject = f.launched(t.Benchmark, log)
	}
	reference, end := f.reference(t.Benchmark, log)
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		// How the processes end does not matter: all results are in.
		_, _ = subject.close(after), end(after)
	}()
	plan := correctness.Plan{
		Benchmark: t.Name, Arguments: t.Arguments, Replay: t.replay, Points: t.points,
		Tolerance: t.Check.Tolerance, Deterministic: t.Check.Deterministic,
		Seed: f.Seed, Dir: f.tensors, Corpus: f.corpus(), Time: left, Version: f.Version, Now: f.Now,
	}
	if f.Point != nil { // an explicitly requested point is tried as is, not minimized
		plan.Corpus, plan.Shrink = nil, correctness.Budget{Evaluations: 0, Time: time.Second}
	}
	return correctness.Run(ctx, plan, subject, reference, func(e correctness.Event) { f.Emit(Fuzzing{Benchmark: t.Name, Event: e}) })
}
