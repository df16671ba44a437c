package tuning

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/affected"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// TargetOf returns what the values of a suite's tunables are tuned for if they are tuned now, on a device.
func TargetOf(ctx context.Context, s *suite.Suite, dir string, device gpu.Identity) tune.Target {
	t := tune.Target{Device: device.Name, Driver: device.Driver}
	var commands []string
	for _, v := range s.VariantsOf(suite.Candidate) {
		commands = append(commands, v.Build.Command, v.Harness.Command)
		if recipe, err := build.Compose(v.Build, build.Location{Dir: dir}); err == nil {
			commands = append(commands, recipe.Tools...)
		}
	}
	for _, tool := range build.Toolchain(ctx, dir, commands...) {
		if !slices.Contains([]string{"cmake", "ninja", "ccache", "cargo"}, tool.Name) { // they choose no instructions
			t.Compiler = append(t.Compiler, tool.Name+": "+tool.Version)
		}
	}
	if repo, err := build.Open(ctx, dir); err == nil {
		t.Commit, _, _ = repo.Head(ctx) // a repository without a commit has none
		t.Kernel = kernelDigest(ctx, s, dir)
	}
	return t
}

// sourceSuffixes are those of files that contain kernels.
var sourceSuffixes = []string{
	".cu", ".cuh", ".hip", ".cl", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inc", ".inl", ".ptx", ".s", ".py", ".rs", ".go", ".jl", ".mlir", ".metal",
}

// maxSources bounds the files of a kernel. A folder with more of them contains much that is not the kernel.
const maxSources = 1000

// kernelDigest returns the digest of the sources in the folder of a suite; empty if they are unknown. The files that
// define the measurement are not part of the kernel, and neither are those of pawl's SDK.
func kernelDigest(ctx context.Context, s *suite.Suite, dir string) string {
	tracked, err := build.TrackedFiles(ctx, dir)
	if err != nil {
		return ""
	}
	var sources []string
	for _, file := range tracked {
		name := path.Base(file)
		if slices.Contains(sourceSuffixes, strings.ToLower(path.Ext(name))) && !slices.Contains([]string{"pawl.h", "pawl_harness.py", "pawl_oracle.py"}, name) &&
			!slices.ContainsFunc(s.Definition, func(glob string) bool { return affected.Match(glob, file) }) {
			sources = append(sources, file)
		}
	}
	if len(sources) == 0 || len(sources) > maxSources {
		return ""
	}
	digests, err := build.Digests(dir, sources)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	for _, d := range digests {
		fmt.Fprintf(sum, "%q %s\n", d.Path, d.Digest)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// StaleValues is a benchmark whose values were tuned for something else.
type StaleValues struct {
	Benchmark, Case string
	Why             []string // in words
}

// Stale returns the benchmarks of a suite in dir whose defaults are tuned values that were tuned for something else than
// what device and dir have now. Defaults that were never tuned, or were changed since, are not stale.
func Stale(ctx context.Context, s *suite.Suite, dir string, device gpu.Identity) ([]StaleValues, error) {
	tuned, err := tune.LoadTuned(dir)
	if err != nil || len(tuned.Benchmarks) == 0 {
		return nil, err
	}
	now := TargetOf(ctx, s, dir, device)
	var list []StaleValues
	for _, b := range s.Benchmarks {
		was, ok := tuned.Benchmarks[b.Name]
		if !ok || b.Tune == nil || tune.Key(was.Values) != tune.Key(b.Tune.Defaults()) {
			continue
		}
		if why := was.For.Differs(now); len(why) > 0 {
			list = append(list, StaleValues{b.Name, caseOf(s, b.Name, was.Case), why})
		}
	}
	return list, nil
}

// caseOf returns a case of a benchmark to tune: the named one if the suite still has it.
func caseOf(s *suite.Suite, benchmark, name string) string {
	found := benchmark
	for _, c := range s.Cases() {
		if c.Name() == name {
			return name
		}
		if c.Benchmark == benchmark && found == benchmark {
			found = c.Name()
		}
	}
	return found
}
