package runner

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/codediff"
)

// Profiling starts when caches, clocks and lazy loading have settled. More runs
// would only make the slow tools slower.
const (
	profileWarmup    = 3
	profileTimeout   = 10 * time.Minute
	tracedRuns       = 20 // runs that a trace records
	maxCodeFunctions = 40 // max functions whose instructions are counted
)

// unconfined returns the command of a side for a profiler, which needs rights that isolated sides lack.
func (p *profiling) unconfined(s side, h suite.Harness, log io.Writer) harness.Command {
	c := p.start(s, h, log)
	c.Confine = nil
	return c
}

// target describes a side of a case for the tools.
func (p *profiling) target(s side, name string) (tool.Target, error) {
	t := tool.Target{
		Plain: p.plain(), Hello: p.hello(), Warmup: profileWarmup,
		Device: p.Device(), Locked: p.lease.Clocks().Mode != gpu.ClocksFree,
		Exact: p.welcome.Has(harness.FeatureProfile), Runtime: p.welcome.Device.Runtime,
		Dir: p.dir, Stem: Stem(name, s.name), Timeout: profileTimeout,
	}
	log := p.logs[s.name]
	if t.Plain {
		t.Command = p.unconfined(s, p.variants(s)[0].Harness, log)
		return t, nil
	}
	c, ok := p.caseOf(s.name, name)
	if !ok {
		return t, fmt.Errorf("%s has no case %s", s.name, name)
	}
	for _, v := range p.variants(s) {
		if slices.ContainsFunc(v.Cases, func(x suite.Case) bool { return x.Name() == name }) {
			t.Command = p.unconfined(s, p.harnessFor(v.Harness, c), log)
		}
	}
	t.Cache = cmp.Or(c.Key.Cache, measure.Hot)
	t.Prepare = harness.Prepare{
		Benchmark: c.Key.Benchmark, Implementation: c.Implementation, Params: c.Params,
		Cache: t.Cache, Timer: c.Timer, Seed: p.Seed, Bytes: c.Bytes, Arguments: c.Arguments, Launch: c.Launch,
	}
	asked := p.profileConfig(name)
	t.Kernel, t.NVTX = asked.Kernel, asked.NVTX
	if c.Launch != nil && t.Kernel == "" {
		t.Kernel = "^" + regexp.QuoteMeta(c.Launch.Kernel) + "$"
	}
	return t, nil
}

// caseOf finds a case of a side by its name.
func (p *profiling) caseOf(side, name string) (trial.Case, bool) {
	i := slices.IndexFunc(p.cases[side], func(c trial.Case) bool { return c.Key.Name() == name })
	if i < 0 {
		return trial.Case{}, false
	}
	return p.cases[side][i], true
}

// profileConfig returns what the suite asks to profile in a case.
func (p *profiling) profileConfig(name string) suite.Profile {
	c, _ := p.caseOf(suite.Candidate, name)
	params, _ := paramsOf(p.Options, c)
	return p.Suite.Benchmark(c.Key.Benchmark).Profile(params)
}

// runTool runs the chosen tool.
func (p *profiling) runTool(ctx context.Context, name, set string, t tool.Target) (tool.Result, error) {
	switch name {
	case "ncu":
		return tool.Ncu(ctx, tool.NcuOptions{Set: set, LockDir: p.LockDir, Wait: p.Wait}, t)
	case "nsys":
		return tool.Nsys(ctx, tool.TraceOptions{Runs: tracedRuns}, t)
	case "rocprofv3":
		return tool.Rocprof(ctx, tool.TraceOptions{Runs: tracedRuns}, t)
	case "perf":
		return tool.Perf(ctx, tool.PerfOptions{}, t)
	case "opencl":
		return tool.OpenCL(ctx, t)
	default:
		return tool.Callgrind(ctx, t)
	}
}

// code returns what is known of a side's code without running it: all kernels, and the functions
// that ran or differ between the sides.
func (p *profiling) code(ctx context.Context, s side, seen *profile.Profile) profile.Code {
	facts := s.impl.Build
	names := map[string]bool{}
	for _, l := range seen.Launches {
		names[l.Kernel] = true
	}
	if len(p.sides) > 1 {
		c := codediff.Compare(p.sides[1].impl.Build.Code, p.sides[0].impl.Build.Code)
		for _, list := range [][]string{c.Changed, c.New, c.Removed} {
			for _, n := range list {
				names[n] = true
			}
		}
	}
	code := profile.Code{Kernels: facts.Kernels}
	for _, k := range facts.Kernels {
		names[k.Name] = true
	}
	var wanted []string
	for _, d := range facts.Code {
		if names[d.Kernel] && len(wanted) < maxCodeFunctions {
			wanted = append(wanted, d.Kernel)
		}
	}
	if len(wanted) == 0 { // an empty list would mean all functions
		return code
	}
	var files []string
	for _, f := range facts.Outputs {
		files = append(files, filepath.Join(s.dir, f.Path))
	}
	code.Functions, _ = codeid.Mixes(ctx, files, wanted) // without a disassembler the list is empty
	return code
}

// clocks compares the measured time with a trace, which is a clock that the harness does not control.
func (p *profiling) clocks(s side, name string, trace *profile.Profile) string {
	median := medianOf(p.Last, name, s)
	// A trace of rocprofv3 has every kernel of the process, so only a named one can be compared.
	named := trace.Tool.Name == "rocprofv3" && p.profileConfig(name).Kernel != ""
	if trace.Tool.Name != "nsys" && !named || median == 0 {
		return ""
	}
	c, err := tool.CompareClocks(measure.Samples{median}, trace, tracedRuns)
	if err != nil {
		return err.Error()
	}
	return s.name + ": " + c.Sentence
}
