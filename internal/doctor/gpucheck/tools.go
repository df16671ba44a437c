package gpucheck

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/measure"
)

const (
	maxProfilerDifference = 3e3 // ns
	tracedRuns            = 20
	toolTimeout           = 2 * time.Minute
)

// target is the usual kernel, for a profiler.
func (e *exam) target(stem string) tool.Target {
	return tool.Target{
		Command: harness.Command{Line: launch.Command(e.launcher), Role: harness.Launcher, Dir: e.dir, Env: e.Env, Silence: toolTimeout},
		Hello:   harness.Hello{Pawl: e.Version, Device: harness.HelloDevice{Kind: gpu.NVIDIA, UUID: e.id.UUID}},
		Prepare: harness.Prepare{
			Benchmark: spin, Cache: measure.Hot, Timer: measure.TimerDevice, Seed: 1, Arguments: kernelArguments(blockThreads, spinNS),
			Launch: &harness.Launch{Kind: launch.CUDA, File: e.kernels(), Kernel: spin, Grid: [3]int{1, 1, 1}, Block: [3]int{blockThreads, 1, 1}},
		},
		Exact: true, Device: e.id, Cache: measure.Hot, Dir: e.dir, Stem: stem, Timeout: toolTimeout,
	}
}

// againstNsys compares event times with a trace of the same kernel.
func againstNsys(ctx context.Context, e *exam) (State, string) {
	r, err := tool.Nsys(ctx, tool.TraceOptions{Runs: tracedRuns}, e.target("nsys"))
	if err != nil {
		return notRun("%v", err)
	}
	m, _, err := e.take(ctx, spin, nil, tracedRuns)
	if err != nil {
		return failed("%v", err)
	}
	return compareTrace(m.Samples, r.Profile, tracedRuns)
}

func compareTrace(samples measure.Samples, trace *profile.Profile, runs int) (State, string) {
	c, err := tool.CompareClocks(samples, trace, runs)
	if err != nil {
		return failed("%v", err)
	}
	return decide(math.Abs(c.Harness-c.Trace) <= maxProfilerDifference, "%.2f us by events, %.2f us by nsys", c.Harness/1e3, c.Trace/1e3)
}

// profilers runs ncu and nsys on a planted kernel. compute-sanitizer is not tried yet.
func profilers(ctx context.Context, e *exam) (State, string) {
	ncu, err := tool.Ncu(ctx, tool.NcuOptions{Set: tool.SetCheap, LockDir: e.Locks.Dir}, e.target("ncu"))
	if err != nil {
		return notRun("%v", err)
	}
	nsys, err := tool.Nsys(ctx, tool.TraceOptions{Runs: tracedRuns}, e.target("nsys-planted"))
	if err != nil {
		return notRun("%v", err)
	}
	return seen(spin, ncu.Profile, nsys.Profile)
}

// seen reports whether every profile has the kernel.
func seen(kernel string, profiles ...*profile.Profile) (State, string) {
	var with, without []string
	for _, p := range profiles {
		has := slices.ContainsFunc(p.Launches, func(l profile.Launch) bool { return strings.Contains(l.Kernel, kernel) })
		if has {
			with = append(with, p.Tool.Name)
		} else {
			without = append(without, p.Tool.Name)
		}
	}
	if len(without) > 0 {
		return failed("%s is not seen by %s", kernel, strings.Join(without, ", "))
	}
	return passed("seen by %s; compute-sanitizer is not tried yet", strings.Join(with, " and "))
}
