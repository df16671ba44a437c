package tool

import (
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// complaint is a known error message of a tool with our explanation.
type complaint struct {
	says string // part of the message, in lower case, that is the same in all releases
	why  string
	fix  string
}

// complaints of ncu and nsys; if one run prints several, the more specific one comes first.
var complaints = []complaint{
	{
		"err_nvgpuctrperm", "the driver does not let this user read the GPU's counters",
		"run pawl profile with sudo (in a container: with --cap-add=SYS_ADMIN); run `pawl doctor` to see how to allow every user",
	},
	{
		"does not have permission to access nvidia gpu performance counters", "the driver does not let this user read the GPU's counters",
		"run pawl profile with sudo (in a container: with --cap-add=SYS_ADMIN); on a virtual GPU the host must allow it; run `pawl doctor` for details",
	},
	{
		"driver resource was unavailable", "another program is using the GPU's counters, most often DCGM",
		"run dcgmi profile --pause, and dcgmi profile --resume afterwards; or stop dcgm-exporter and other profilers",
	},
	{
		"lock file", "ncu's own lock file belongs to another user",
		"remove it, or set TMPDIR to your own folder while no other user is profiling",
	},
	{
		"cannot lock gpu clock frequencies on mig", "ncu cannot lock the clocks of a MIG slice",
		"lock them for the whole card and set it in the suite: device: {clocks: base}",
	},
	{"confidential computing", "the GPU is in confidential computing mode, which does not allow profiling", "profile on another machine"},
	{"windows subsystem for linux", "this GPU cannot be profiled from the Windows Subsystem for Linux", "profile on Linux, or on Windows itself"},
	{"err_nvcmpgpu", "mining cards cannot be profiled", "profile on another card"},
	{"active sli group", "a GPU in an SLI group cannot be profiled", "remove it from the group"},
	{"profiling is not supported on", "this version of ncu does not support the GPU", "install the newest Nsight Compute, or an older one for an old GPU; ncu --list-chips lists what it supports"},
	{"failed to connect to the cuda driver", "no NVIDIA driver found: libcuda.so.1 is missing, or is the stub that compilers link with", "install the driver, and remove the stub's folder from LD_LIBRARY_PATH"},
	{"driver could not be loaded", "no NVIDIA driver found, or it has no device", "install the driver; in a container: docker run --gpus all"},
	{"driver is not compatible", "the driver and this version of ncu are not compatible", "update the older of the two"},
	{"failed to access the following", "the GPU has none of the requested metrics", "profile with --set full, and report this problem"},
	{"does not exist or is not an executable", "the program does not exist or is not executable", "build it first, and check harness.command in the suite"},
	{"unable to write to file", "the report cannot be written", "check that you can write to the results folder and that its disk has space"},
	{"failed to save the report", "the report cannot be written", "check that you can write to the results folder and that its disk has space"},
	{"could not open report file", "the report does not exist", "profile again"},
	{"failed to load report file", "this version of ncu cannot read the report: a newer one wrote it, or it is damaged", "read it with the version of ncu that wrote it, or a newer one"},
	{"unrecognised option", "this version of ncu does not support an option", "install release 2022.3 or later"},
	{"is invalid. use --help", "this version of ncu does not support the value of an option", "install release 2022.3 or later"},
	{"for option", "this version of ncu does not support the value of an option", "install release 2022.3 or later"},
	{"no metrics to collect", "this version of ncu does not know the set of metrics", "profile with --set full"},
	{"out of memory", "ncu does not have enough memory to save the kernel's data before it runs the kernel again", "profile a smaller config"},
	{"unknown error on device", "the driver provides no counters and gives no reason", "check dmesg for NVRM messages, and whether another profiler is running"},
	{"importer binary and its dependencies were not found", "nsys cannot turn its trace into a report: its host part is missing", "install nsight-systems, not only nsight-systems-target"},
	{"does not contain gpu trace data", "the trace has no kernel", "check that the harness runs on this GPU"},
	{"does not contain cuda kernel data", "the trace has no kernel", "check that the harness runs on this GPU"},
	{"the application returned an error code", programFailed, "run the same command without the profiler: it must exit with 0"},
	{"no kernels were profiled", noKernel, "check profile.kernel and profile.nvtx of the benchmark"},
}

// Consequences of a program that fails by itself; its own message is more useful.
const (
	programFailed = "the program failed under the profiler"
	noKernel      = "no kernel that matches the selection ran"
)

// findComplaint returns the most specific known complaint in a tool's output, or else the tool's own first error.
func findComplaint(printed string) (why, fix string, found bool) {
	lower := strings.ToLower(printed)
	for _, c := range complaints {
		if strings.Contains(lower, c.says) {
			return c.why, c.fix, true
		}
	}
	if own := marked(printed, "==ERROR=="); len(own) > 0 {
		return own[0], "", true
	}
	return "", "", false
}

// marked lists the lines that start with one of ncu's marks, each once, up to maxMarked.
func marked(printed, mark string) []string {
	var list []string
	seen := map[string]bool{}
	for line := range strings.Lines(printed) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
		if text = strings.TrimSpace(text); !ok || text == "" || seen[text] || len(list) == maxMarked {
			continue
		}
		seen[text] = true
		list = append(list, words.SanitizeTo(text, 300))
	}
	return list
}

// maxMarked is the max number of messages of one kind.
const maxMarked = 20
