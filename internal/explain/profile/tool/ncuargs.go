package tool

import (
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/measure"
)

// Sets of metrics that a suite or a user can choose.
const (
	SetFull  = "full"  // everything that ncu can measure: about forty runs of the kernel
	SetCheap = "cheap" // the most important for a diagnosis: a few runs
)

// Max numbers of profiled kernels, because each runs again for every pass: in a marked run, and in
// a range, which repeats with every run.
const (
	maxLaunches      = 50
	maxRangeLaunches = 10
)

// ncuSettings returns the options that change what ncu measures. All of them are explicit, because
// defaults changed between releases.
func ncuSettings(t Target, set string) []profile.Setting {
	return []profile.Setting{
		{Name: "set", Value: set},
		{Name: "clock_control", Value: clockControl(t)},
		{Name: "cache_control", Value: cacheControl(t)},
		{Name: "replay_mode", Value: "kernel"},
	}
}

// clockControl leaves the clocks alone if pawl holds them or if nothing can.
func clockControl(t Target) string {
	if t.Locked || isMIGSlice(t.Device) {
		return "none"
	}
	return "base"
}

// isMIGSlice reports whether a device is a part of a card.
func isMIGSlice(id gpu.Identity) bool { return id.Parent != "" || strings.HasPrefix(id.UUID, "MIG-") }

// cacheControl gives a kernel the same cache state as when it is measured.
func cacheControl(t Target) string {
	if t.Cache == measure.Cold {
		return "all"
	}
	return "none"
}

// ncuArgs returns ncu's command line up to the profiled program. set holds the options chosen by ncuSet.
func ncuArgs(p program, t Target, set []string, report, log string) []string {
	var args []string
	if p.supports("--config-file") {
		args = append(args, "--config-file", "off") // the folder under test could contain one
	}
	args = append(args,
		"--target-processes", "all", // the harness may be a script that starts another program
		"--replay-mode", "kernel",
		"--clock-control", clockControl(t),
		"--cache-control", cacheControl(t),
		"--kill", "no", // the harness must be able to say bye
		"--import-source", "yes",
	)
	args = append(args, set...)
	args = append(args, selection(t)...)
	return append(args, "--force-overwrite", "--export", strings.TrimSuffix(report, ".ncu-rep"), "--log-file", log)
}

// selection returns the options that select the launches that count. A harness that marks its run
// is exact; an NVTX range comes from the user; otherwise warm-up launches are skipped by count.
func selection(t Target) []string {
	var args []string
	if t.Kernel != "" {
		args = append(args, "--kernel-name", "regex:"+t.Kernel)
	}
	switch {
	case t.Exact:
		return append(args, "--profile-from-start", "off", "--launch-count", strconv.Itoa(maxLaunches))
	case t.NVTX != "":
		return append(args, "--nvtx", "--nvtx-include", nvtxRange(t.NVTX), "--launch-skip", strconv.Itoa(t.Warmup), "--launch-count", strconv.Itoa(maxRangeLaunches))
	default:
		return append(args, "--launch-skip", strconv.Itoa(t.Warmup), "--launch-count", "1")
	}
}

// nvtxRange returns ncu's expression for a range. A plain name means a push/pop range, which
// is the usual kind. ncu wants a slash after its name, and silently finds nothing without
// it. Any other expression is unchanged.
func nvtxRange(name string) string {
	if strings.ContainsAny(name, `/@[]+*\`) || strings.HasPrefix(name, "regex:") {
		return name
	}
	return name + "/"
}
