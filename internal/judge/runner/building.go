package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// buildAll builds the sides. Sides in different folders are built in parallel, as far as the
// machine allows; sides in the same folder are built in order.
func (r *Setup) buildAll(ctx context.Context, sides []side) error {
	lanes := map[string][]int{}
	for i, s := range sides {
		lanes[s.dir] = append(lanes[s.dir], i)
	}
	r.builds = newBuildPool(r, len(lanes))
	if r.BuildsOnly && !r.allKept(ctx, sides) {
		return ErrBuilt
	}
	if err := r.startHandover(ctx); err != nil {
		return err
	}
	emit := r.Emit
	defer func() { r.Emit = emit }()
	var mu sync.Mutex
	r.Emit = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		emit(e)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(sides))
	var wg sync.WaitGroup
	for dir, lane := range lanes {
		wg.Go(func() {
			if errs[lane[0]] = emptyPrefix(dir); errs[lane[0]] != nil {
				return
			}
			for _, i := range lane {
				if errs[i] = r.build(ctx, &sides[i]); errs[i] != nil && sides[i].name == suite.Candidate {
					stop() // without a candidate there is nothing to measure
				}
			}
			if last := lane[len(lane)-1]; errs[last] == nil {
				errs[last] = ignorePrefix(dir)
			}
		})
	}
	wg.Wait()
	for i := range sides { // the candidate is the first
		s := &sides[i]
		switch err := errs[i]; {
		case err != nil && s.name == BaselineSide && ctx.Err() == nil:
			r.without(s.impl.Commit, err)
			s.name = ""
		case err != nil:
			return &trial.SideError{Side: s.name, Err: err}
		}
	}
	return nil
}

// build builds every variant of a side and records its files, toolchain and digests.
func (r *Setup) build(ctx context.Context, s *side) error {
	log, err := r.log(s.name + ".build.log")
	if err != nil {
		return err
	}
	defer log.Close()
	s.impl.Name = s.name
	var commands, files []string
	var recipes []build.Recipe
	done := map[string]bool{}
	for _, v := range r.toBuild(*s) {
		recipe, err := r.recipe(ctx, *s, v.Build)
		if err != nil {
			return err
		}
		commands = append(commands, recipe.Command, v.Harness.Command)
		files = append(files, v.Harness.Files...)
		if !done[v.Build.Key()] {
			done[v.Build.Key()] = true
			recipes = append(recipes, recipe)
		}
	}
	if err := r.buildRecipes(ctx, s, recipes, log); err != nil {
		return err
	}
	for _, c := range commands {
		files = append(files, build.Programs(s.dir, c)...)
	}
	if s.impl.Harness.Files, err = build.Digests(s.dir, files); err != nil {
		return err
	}
	s.impl.Harness.Command = commands[1]
	s.impl.Toolchain = build.Toolchain(ctx, s.dir, commands...)
	s.impl.Recipe = digestOf(cmp.Or(s.own, r.suiteOf(*s)).Recipe(s.from, r.suiteOf(*s)))
	r.combine(s)
	return nil
}

// combine computes the digest of a side. A result that an earlier run of a plain command left is not part of it, though the
// command line may name it.
func (r *Setup) combine(s *side) {
	var starts []string
	for _, v := range r.toBuild(*s) {
		starts = append(starts, fmt.Sprintf("%q %q", v.Harness.Command, suite.Variables(v.Harness.Env)))
		s.impl.Harness.Files = slices.DeleteFunc(s.impl.Harness.Files, func(f measure.FileDigest) bool {
			result, _ := path.Match(path.Clean(v.Harness.Output), filepath.ToSlash(f.Path))
			return result
		})
	}
	s.impl.Digest = build.Combine(r.suiteOf(*s).Digest, s.impl, starts)
}

// buildVariant builds one variant of a side.
func (r *Setup) buildVariant(ctx context.Context, s *side, b suite.Build, log io.Writer) error {
	recipe, err := r.recipe(ctx, *s, b)
	if err != nil {
		return err
	}
	return r.buildRecipes(ctx, s, []build.Recipe{recipe}, log)
}

// toBuild returns the variants of a side to build: all of them, or only those of the requested cases.
func (r *Setup) toBuild(s side) []suite.Variant {
	all := r.variants(s)
	if !r.onlyWantedCases {
		return all
	}
	var list []suite.Variant
	for _, v := range all {
		if len(v.Cases) == 0 || slices.ContainsFunc(v.Cases, func(c suite.Case) bool { return r.wants(c.Name(), c.Benchmark) }) {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return all
	}
	return list
}

// recipe turns a build of the suite into a recipe for this side on this machine.
func (r *Setup) recipe(ctx context.Context, s side, b suite.Build) (build.Recipe, error) {
	if r.builds == nil {
		r.PrepareBuilds(1)
	}
	recipe, err := build.Compose(b, build.Location{Dir: s.dir, Arch: r.arch()})
	if err != nil || recipe.Command == "" {
		return recipe, err
	}
	// The base is sandboxed too, so that both are built alike.
	if recipe.Sandbox, err = build.Confine(ctx, b.Sandbox, r.trust(), os.Getenv); err != nil {
		return recipe, err
	}
	if recipe.Jobs == 0 {
		recipe.Jobs = r.builds.jobs
	}
	if b.Cache {
		recipe.Cache = r.builds.cache
	}
	recipe.Ignore = r.generatedFiles(s)
	if recipe.Sandbox == nil { // of a sandboxed build only the outputs are kept
		prefix, err := s.prefix()
		if err != nil {
			return recipe, err
		}
		if recipe.Env = append(recipe.Env, PrefixVariable+"="+prefix); strings.Contains(recipe.Command, PrefixVariable) {
			recipe.Cache = nil // a cached build restores its outputs, not what it installed
		}
	}
	return recipe, nil
}

// generatedFiles returns the files in the folder of a side that are created by pawl or by a build of its
// suite. They are not sources of any build.
func (r *Setup) generatedFiles(s side) []string {
	list := []string{".pawl"}
	for _, record := range []string{r.Out, r.Results} {
		if folder := within(s.dir, filepath.Dir(record)); record != "" && folder != "" {
			list = append(list, folder)
		}
	}
	for _, v := range r.suiteOf(s).Variants() {
		list = append(list, v.Build.Outputs...)
		switch v.Build.Recipe {
		case "nvcc", "torch":
			list = append(list, v.Build.Target)
		case "cmake":
			list = append(list, cmp.Or(v.Build.Folder, build.DefaultFolder))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// within returns the path of folder relative to dir, or "" if folder is not below dir.
// Either may be absolute or relative.
func within(dir, folder string) string {
	from, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	to, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(from, to)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// arch returns the architecture to compile for; empty when it is unknown.
func (r *Setup) arch() string {
	if r.Arch != "" {
		return r.Arch
	}
	if r.device == nil || r.Device().Kind != gpu.NVIDIA {
		return ""
	}
	if cc := r.Device().ComputeCapability; cc != "" {
		return "sm_" + strings.ReplaceAll(cc, ".", "")
	}
	return ""
}

// buildRecipes builds the recipes of a side: in parallel if each has its own
// scratch folder, else one after the other.
func (r *Setup) buildRecipes(ctx context.Context, s *side, recipes []build.Recipe, log io.Writer) error {
	places := map[string]bool{"": true}
	apart := len(recipes) > 1
	for _, x := range recipes {
		apart = apart && !places[x.Scratch]
		places[x.Scratch] = true
	}
	kept := ""
	if f, ok := log.(*os.File); ok {
		kept = f.Name()
	}
	results, errs := make([]build.Result, len(recipes)), make([]error, len(recipes))
	if apart {
		var wg sync.WaitGroup
		for i, recipe := range recipes {
			wg.Go(func() { results[i], errs[i] = r.buildOne(ctx, s.name, recipe, io.Discard) })
		}
		wg.Wait()
	} else {
		for i, recipe := range recipes {
			if results[i], errs[i] = r.buildOne(ctx, s.name, recipe, log); errs[i] != nil {
				break
			}
		}
	}
	for i, recipe := range recipes {
		res := results[i]
		if apart { // parallel builds would interleave their logs
			fmt.Fprintf(log, "# %s\n%s", recipe.Name(), res.Log)
		}
		if err := errs[i]; err != nil {
			if e, ok := errors.AsType[*build.Error](err); ok {
				e.Log = kept
			}
			return err
		}
		s.addBuild(res.Facts)
	}
	return nil
}

// addBuild adds the facts of a build to its side.
func (s *side) addBuild(facts measure.BuildFacts) {
	all := &s.impl.Build
	if all.Command == "" {
		all.Command, all.Cached, all.Sandboxed = facts.Command, facts.Cached, facts.Sandboxed
	}
	all.Cached = all.Cached && facts.Cached
	all.Sandboxed = all.Sandboxed && facts.Sandboxed
	all.Elsewhere = all.Elsewhere || facts.Elsewhere
	all.Seconds += facts.Seconds
	for _, o := range facts.Outputs {
		if !slices.Contains(all.Outputs, o) {
			all.Outputs = append(all.Outputs, o)
		}
	}
}
