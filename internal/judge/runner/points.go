package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Point is a point of a suite's space: a side that is built and started with values of its tunables.
type Point struct {
	Side  string
	Suite *suite.Suite // the tuned suite
}

// DefaultSide is the name of the side with the default values, in a run that measures points.
const DefaultSide = "default"

// CheckTunable returns why points of the suite's space cannot be measured; nil if they can.
func (o Options) CheckTunable() error {
	trust := o.trust()
	switch {
	case o.Suite.NeedsHarness():
		return errors.New("the suite leaves its configs to the harness: give the benchmark a matrix, so that its points are known before the build")
	case trust != measure.Trusted:
		return fmt.Errorf("a search runs the suite's own harness, but trust is %s: tune only your own code, with trust: trusted", trust)
	case o.plain():
		return errors.New("a search requires a harness that speaks pawl's protocol: a command that prints times chooses itself what to measure")
	}
	return nil
}

// pointSides returns the defaults in the user's own folder, the points, the baseline's commit, and the
// implementation that provides correct results. Points whose builds would overwrite each other get copies of
// the sources.
func (r *Setup) pointSides(ctx context.Context) ([]side, error) {
	list := []side{{name: DefaultSide, from: suite.Candidate, dir: r.Dir}}
	b := r.Suite.Benchmarks[0]
	var copies *build.SourceCopies
	if r.Suite.TunesBuild(suite.Candidate, b) { // else all sides share one build
		var err error
		candidate, _ := r.Suite.Implementation(suite.Candidate)
		place := filepath.Join(filepath.Dir(r.Out), ".proof") // exclusive: the place of the record is locked
		if copies, err = r.CopySources(ctx, place, candidate.Harness.Files); err != nil {
			return nil, err
		}
	}
	for _, p := range r.Points {
		s := side{name: p.Side, from: suite.Candidate, dir: r.Dir, suite: p.Suite}
		if copies != nil {
			folder, err := copies.New(ctx)
			if err != nil {
				return nil, err
			}
			r.AtEnd(folder.Remove)
			s.dir = folder.Dir
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
	if check := b.Check; check != nil && check.Implementation != "" {
		list = append(list, side{name: check.Implementation, from: check.Implementation, dir: r.Dir})
	}
	return list, nil
}

// CopySources prepares copies of the sources below place, for builds that would overwrite each other. Files of a killed
// run there are removed. files are globs of files that git does not track and the harness needs.
func (r *Setup) CopySources(ctx context.Context, place string, files []string) (*build.SourceCopies, error) {
	copies, err := build.NewSourceCopies(ctx, place, r.Dir, files, r.generatedFiles(side{dir: r.Dir}))
	if err == nil {
		r.AtEnd(func(context.Context) error { return copies.Remove() })
	}
	return copies, err
}

// PrepareBuilds shares the machine among builds in a number of folders. It returns how many builds can run at once.
func (r *Setup) PrepareBuilds(folders int) int {
	r.builds = newBuildPool(r, folders)
	return cap(r.builds.slots)
}

// Recipe turns a build of the suite into a recipe for the candidate in a folder, after PrepareBuilds.
func (r *Setup) Recipe(ctx context.Context, dir string, b suite.Build) (build.Recipe, error) {
	return r.recipe(ctx, side{name: suite.Candidate, from: suite.Candidate, dir: dir}, b)
}

// Start starts a harness of the candidate in a folder. It may stay silent as long as silence.
func (r *Setup) Start(ctx context.Context, dir string, h suite.Harness, silence time.Duration) (*harness.Session, error) {
	c := r.start(side{dir: dir}, h, nil)
	c.Silence = silence
	return harness.Start(ctx, c, r.hello())
}

// Reference prepares the source of the correct results of a benchmark on some configs, for the rest of the run. tensors is
// the folder in which the kernel exchanges files.
func (r *Setup) Reference(ctx context.Context, b suite.Benchmark, configs []suite.Params) (reference correctness.Reference, tensors string, err error) {
	f, err := r.searching(FuzzOptions{})
	if err != nil {
		return nil, "", err
	}
	if name := b.Check.Implementation; name != "" {
		if err := f.buildImplementation(ctx, name, b, configs, io.Discard); err != nil {
			return nil, "", &trial.SideError{Side: name, Err: err}
		}
	}
	log, err := r.openLog("oracle.log")
	if err != nil {
		return nil, "", err
	}
	return f.openReference(b, log), f.tensors, nil
}

// FuzzPoint searches for wrong results of a point where it was built.
func (r *Setup) FuzzPoint(ctx context.Context, name string, limit time.Duration) (reports []*correctness.Report, err error) {
	s := r.sides[slices.IndexFunc(r.sides, func(s side) bool { return s.name == name })]
	own := &Setup{Options: r.Options, device: r.device, lease: r.lease}
	own.Suite, own.Dir, own.Points, own.Seed = s.suite, s.dir, nil, r.random().Uint64()
	own.Emit = func(Event) {} // the result is reported at the end
	defer func() { err = errors.Join(err, own.Close(ctx)) }()
	f, err := own.searching(FuzzOptions{Time: limit})
	if err != nil {
		return nil, err
	}
	for _, v := range r.variants(s) { // already built: a second build would find files of the first
		f.builtKeys[v.Build.Key()], f.builtKeys[s.from+v.Build.Key()] = true, true
	}
	targets, err := f.plans()
	if err == nil {
		err = f.buildFor(ctx, targets)
	}
	if err == nil {
		reports, err = f.campaigns(ctx, targets)
	}
	if errors.Is(err, ErrNothingToTest) {
		err = nil
	}
	return reports, err
}

// DropPoint removes a point from the run.
func (r *Setup) DropPoint(name string) {
	r.sides = slices.DeleteFunc(r.sides, func(s side) bool { return s.name == name })
}
