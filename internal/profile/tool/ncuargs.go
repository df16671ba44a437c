package tool

import (
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/profile"
	"github.com/goatnote-inc/pawl/measure"
)

// The sets of metrics that a suite or a user can ask for.
const (
	SetFull  = "full"  // everything that ncu can tell: some forty runs of the kernel
	SetCheap = "cheap" // what a diagnosis needs most: a few runs
)

// These bound how many kernels are profiled, because each is run again for every pass:
// of a run that is marked, and of a range, which comes again with every run.
const (
	mostLaunches = 50
	mostOfRange  = 10
)

// settings are the choices that change what ncu sees. All of them are stated, because
// defaults changed from release to release.
func ncuSettings(t Target, set string) []profile.Setting {
	return []profile.Setting{
		{Name: "set", Value: set},
		{Name: "clock_control", Value: clockControl(t)},
		{Name: "cache_control", Value: cacheControl(t)},
		{Name: "replay_mode", Value: "kernel"},
	}
}

// clockControl leaves the clocks alone where pawl holds them, and where nobody can.
func clockControl(t Target) string {
	if t.Locked || slice(t.Device) {
		return "none"
	}
	return "base"
}

// slice tells whether a device is a part of a card.
func slice(id gpu.Identity) bool { return id.Parent != "" || strings.HasPrefix(id.UUID, "MIG-") }

// cacheControl lets a kernel find in the caches what it finds when it is measured.
func cacheControl(t Target) string {
	if t.Cache == measure.Cold {
		return "all"
	}
	return "none"
}

// ncuArgs is ncu's command line up to the program that it is to watch. What holds the
// options of the set is chosen by ncuSet.
func ncuArgs(p program, t Target, set []string, report, log string) []string {
	var args []string
	if p.knows("--config-file") {
		args = append(args, "--config-file", "off") // the folder under test could bring one
	}
	args = append(args,
		"--target-processes", "all", // the harness may be a script that starts another program
		"--replay-mode", "kernel",
		"--clock-control", clockControl(t),
		"--cache-control", cacheControl(t),
		"--kill", "no", // the harness has to say bye
		"--import-source", "yes",
	)
	args = append(args, set...)
	args = append(args, selection(t)...)
	return append(args, "--force-overwrite", "--export", strings.TrimSuffix(report, ".ncu-rep"), "--log-file", log)
}

// selection finds the launches that count. A harness that marks its run is exact; an
// NVTX range is what the user says; a name skips the launches of the warm-up.
func selection(t Target) []string {
	var args []string
	if t.Kernel != "" {
		args = append(args, "--kernel-name", "regex:"+t.Kernel)
	}
	switch {
	case t.Exact:
		return append(args, "--profile-from-start", "off", "--launch-count", strconv.Itoa(mostLaunches))
	case t.NVTX != "":
		return append(args, "--nvtx", "--nvtx-include", nvtxRange(t.NVTX), "--launch-skip", strconv.Itoa(t.Warmup), "--launch-count", strconv.Itoa(mostOfRange))
	default:
		return append(args, "--launch-skip", strconv.Itoa(t.Warmup), "--launch-count", "1")
	}
}

// nvtxRange makes ncu's expression of a range. A plain name means one that is pushed
// and popped, which is what people use; to ncu that is a name with a slash behind it,
// and without one it silently finds nothing. Any other expression is left alone.
func nvtxRange(name string) string {
	if strings.ContainsAny(name, `/@[]+*\`) || strings.HasPrefix(name, "regex:") {
		return name
	}
	return name + "/"
}
