package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// BuildOptions are the options of every run that builds.
type BuildOptions struct {
	NoCache bool   // build everything, ignoring the cache
	Arch    string // architecture to build for, "sm_89"; empty for the device's
	// BuildsOnly ends a run after its builds with ErrBuilt, for a later run that finds them in the cache. If the cache cannot
	// keep one of them, or one cannot be put into Builds, nothing is built.
	BuildsOnly bool
	// Builds is a folder of builds in the sandbox, for machines with equal tools; empty for none. With BuildsOnly they are
	// put there, otherwise taken from there.
	Builds string
}

// ErrBuilt ends a run that only builds.
var ErrBuilt = errors.New("only the builds were wanted")

// onlyBuild builds the sides and returns ErrBuilt. Like a run, it waits for its turn if the CPU is the device.
// For another machine it needs no device.
func (r *Setup) onlyBuild(ctx context.Context) error {
	if err := r.ChooseDevice(ctx); err != nil && (r.Builds == "" || ctx.Err() != nil) {
		return err
	}
	if r.device != nil && r.Device().Kind == gpu.CPU {
		if err := r.TakeDevice(ctx); err != nil {
			return err
		}
	}
	return cmp.Or(r.prepare(ctx), ErrBuilt)
}

// startHandover connects the cache with the folder of builds.
func (r *Setup) startHandover(ctx context.Context) error {
	if r.Builds == "" || r.builds.cache == nil {
		return nil
	}
	h, err := build.NewHandover(ctx, r.Builds, r.Dir)
	if err != nil {
		return err
	}
	if r.BuildsOnly {
		r.filled = h
		return h.Fill(ctx, r.builds.cache)
	}
	if err := h.Use(ctx, r.builds.cache); err != nil {
		if ctx.Err() != nil {
			return err
		}
		r.Notice(device.Notice{Code: "builds.unused", Message: fmt.Sprintf("the builds in %s are not used: %v", r.Builds, err)})
	}
	return nil
}

// endHandover is called when everything is built.
func (r *Setup) endHandover(ctx context.Context) error {
	if r.filled == nil {
		return nil
	}
	return r.filled.Finish(ctx)
}

// allKept reports whether the cache can keep all builds of the sides, and hand them over if that is wanted.
func (r *Setup) allKept(ctx context.Context, sides []side) bool {
	for _, s := range sides {
		for _, v := range r.toBuild(s) {
			recipe, err := r.recipe(ctx, s, v.Build)
			if err == nil && recipe.Command != "" && (recipe.Cache == nil || len(recipe.Outputs) == 0 || r.Builds != "" && recipe.Sandbox == nil) {
				return false
			}
		}
	}
	return true
}

// buildPool is the state that the builds of a run share.
type buildPool struct {
	slots chan struct{} // one per running build
	jobs  int           // compiler jobs per build, unless the suite sets them
	cache *build.Cache  // nil for none

	mu     sync.Mutex
	builds []Build
	done   map[string]build.Result // results of this run's builds, by folder and recipe
}

func newBuildPool(r *Setup, lanes int) *buildPool {
	candidate, _ := r.Suite.Implementation(suite.Candidate)
	capacity := build.Capacity(candidate.Build.Memory)
	w := &buildPool{slots: make(chan struct{}, capacity), jobs: max(1, capacity/max(lanes, 1)), done: map[string]build.Result{}}
	if !r.NoCache {
		w.cache, _ = build.DefaultCache() // nil without a home directory
	}
	return w
}

// Build is the result of one build.
type Build struct {
	Side    string               `json:"side"`
	What    string               `json:"what"`
	Cached  bool                 `json:"cached"`
	Seconds float64              `json:"seconds"`
	Outputs []measure.FileDigest `json:"outputs"`
	Ccache  build.Ccache         `json:"ccache"`
	Key     string               `json:"key,omitempty"`
	Note    string               `json:"note,omitempty"`
	Log     string               `json:"log,omitempty"`
}

// buildOne builds as soon as a slot is free. It reuses what another side in the same folder has
// already built: a reference often uses the candidate's build to run another kernel.
func (r *Setup) buildOne(ctx context.Context, side string, recipe build.Recipe, log io.Writer) (build.Result, error) {
	if res, ok := r.builds.recall(recipe); ok {
		return res, nil
	}
	select {
	case r.builds.slots <- struct{}{}:
		defer func() { <-r.builds.slots }()
	case <-ctx.Done():
		return build.Result{}, fmt.Errorf("build %q was not started: %w", recipe.Name(), context.Cause(ctx))
	}
	if recipe.Command != "" {
		r.Emit(Building{Side: side, Command: recipe.Name()})
	}
	res, err := build.Make(ctx, recipe, log)
	if err == nil && recipe.Command != "" {
		r.Emit(Built{Side: side, Seconds: res.Facts.Seconds, Cached: res.Cached})
		r.builds.remember(recipe, res, Build{
			Side: side, What: recipe.Name(), Cached: res.Cached, Seconds: res.Facts.Seconds, Outputs: res.Facts.Outputs,
			Ccache: res.Ccache, Key: res.Key, Note: res.Note, Log: filepath.Join(filepath.Dir(r.Out), "logs", side+".build.log"),
		})
	}
	return res, err
}

func (w *buildPool) recall(recipe build.Recipe) (build.Result, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	res, ok := w.done[workKey(recipe)]
	return res, ok
}

// remember keeps the result of a build until another build makes the same files.
func (w *buildPool) remember(recipe build.Recipe, res build.Result, b Build) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.builds = append(w.builds, b)
	maps.DeleteFunc(w.done, func(key string, other build.Result) bool {
		dir, _, _ := strings.Cut(key, "\x00")
		return dir == recipe.Dir && slices.ContainsFunc(other.Facts.Outputs, func(o measure.FileDigest) bool {
			return slices.ContainsFunc(res.Facts.Outputs, func(n measure.FileDigest) bool { return n.Path == o.Path })
		})
	})
	if len(recipe.Outputs) > 0 {
		w.done[workKey(recipe)] = res
	}
}

func workKey(r build.Recipe) string {
	return r.Dir + "\x00" + fmt.Sprintf("%q %q %q", r.Command, r.Env, r.Outputs)
}

// BuildOnly builds what a run would build, and measures nothing. If it fails, it
// also returns the builds that finished.
func BuildOnly(ctx context.Context, o Options) (builds []Build, err error) {
	r := NewSetup(o)
	r.onlyWantedCases = true
	if err := o.check(); err != nil {
		return nil, &UsageError{err}
	}
	defer func() { err = errors.Join(r.explainBase(err), r.Close(ctx)) }()
	if err := o.checkCase(); err != nil {
		return nil, err
	}
	if o.Arch == "" { // a build needs no device, but one that is present sets the architecture
		if err := r.ChooseDevice(ctx); err != nil && ctx.Err() != nil {
			return nil, err
		}
	}
	err = r.prepare(ctx)
	if r.builds != nil {
		builds = r.builds.builds
		slices.SortStableFunc(builds, func(a, b Build) int { return order(a.Side) - order(b.Side) })
	}
	return builds, err
}

// order sorts the candidate first, then the base.
func order(side string) int {
	switch side {
	case suite.Candidate:
		return 0
	case suite.Base:
		return 1
	default:
		return 2
	}
}

// Builder returns a function that builds single variants of the candidate, with the same recipe and
// cache as a run, to inspect them before they run.
func Builder(o Options) func(ctx context.Context, b suite.Build, log io.Writer) (measure.BuildFacts, error) {
	r := NewSetup(o)
	return func(ctx context.Context, b suite.Build, log io.Writer) (measure.BuildFacts, error) {
		recipe, err := r.Recipe(ctx, o.Dir, b)
		if err != nil {
			return measure.BuildFacts{}, err
		}
		res, err := r.buildOne(ctx, suite.Candidate, recipe, log)
		return res.Facts, err
	}
}
