package tool

import (
	"strings"
	"unicode"
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
		"run pawl profile with sudo, in a container with --cap-add=SYS_ADMIN; pawl doctor tells how to let every user",
	},
	{
		"does not have permission to access nvidia gpu performance counters", "the driver does not let this user read the GPU's counters",
		"run pawl profile with sudo, in a container with --cap-add=SYS_ADMIN; on a virtual GPU its host has to allow it; pawl doctor tells more",
	},
	{
		"driver resource was unavailable", "another program holds the GPU's counters, most often DCGM",
		"dcgmi profile --pause, and afterwards dcgmi profile --resume; or stop dcgm-exporter and other profilers",
	},
	{
		"lock file", "ncu's own lock file belongs to another user",
		"remove it, or set TMPDIR to a folder of your own when nobody else profiles",
	},
	{
		"cannot lock gpu clock frequencies on mig", "ncu cannot hold the clocks of a MIG slice",
		"hold them for the whole card and say so in the suite: device: {clocks: base}",
	},
	{"confidential computing", "the GPU is in confidential computing mode, in which nothing can be profiled", "profile on another machine"},
	{"windows subsystem for linux", "this GPU cannot be profiled from the Windows Subsystem for Linux", "profile on Linux, or under Windows itself"},
	{"err_nvcmpgpu", "mining cards cannot be profiled", "profile on another card"},
	{"active sli group", "a GPU of an SLI group cannot be profiled", "take it out of the group"},
	{"profiling is not supported on", "this ncu does not know the GPU", "install the newest Nsight Compute, or for old GPUs an older one: ncu --list-chips"},
	{"failed to connect to the cuda driver", "there is no NVIDIA driver here: libcuda.so.1 is missing, or is the stub that compilers link with", "install the driver, and take the stub's folder out of LD_LIBRARY_PATH"},
	{"driver could not be loaded", "there is no NVIDIA driver here, or it has no device", "install the driver; in a container: docker run --gpus all"},
	{"driver is not compatible", "the driver and this ncu do not fit together", "update the older of the two"},
	{"failed to access the following", "the GPU has none of the metrics that were asked for", "profile with --set full, and report this"},
	{"does not exist or is not an executable", "the program is not there", "build it first, and check harness.command in the suite"},
	{"unable to write to file", "the report cannot be written", "check that the results folder is yours and has space"},
	{"failed to save the report", "the report cannot be written", "check that the results folder is yours and has space"},
	{"could not open report file", "the report is not there", "profile again"},
	{"failed to load report file", "this ncu cannot read the report: a newer one wrote it, or it is damaged", "read it with the ncu that wrote it, or a newer one"},
	{"unrecognised option", "this ncu does not know an option", "install a release of 2022.3 or later"},
	{"is invalid. use --help", "this ncu does not know a value of an option", "install a release of 2022.3 or later"},
	{"for option", "this ncu does not know a value of an option", "install a release of 2022.3 or later"},
	{"no metrics to collect", "this ncu does not know the set of metrics", "profile with --set full"},
	{"out of memory", "ncu has no memory to save the kernel's data before it runs it again", "profile a smaller config"},
	{"unknown error on device", "the driver gives no counters and says no reason", "see what dmesg says of NVRM, and whether another profiler runs"},
	{"importer binary and its dependencies were not found", "nsys cannot turn its trace into a report: its host part is missing", "install nsight-systems and not only nsight-systems-target"},
	{"does not contain gpu trace data", "the trace has no kernel", "does the harness run on this GPU?"},
	{"does not contain cuda kernel data", "the trace has no kernel", "does the harness run on this GPU?"},
	{"the application returned an error code", programFailed, "run it without: the same command must end with 0"},
	{"no kernels were profiled", noKernel, "check profile.kernel and profile.nvtx of the benchmark"},
}

// Consequences of a program that fails by itself; its own message is more useful.
const (
	programFailed = "the program failed under the profiler"
	noKernel      = "no kernel ran that fits the selection"
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
		list = append(list, printable(text))
	}
	return list
}

// printable removes control characters from a message and limits its length.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text[:min(len(text), 300)])
}

// maxMarked is the max number of messages of one kind.
const maxMarked = 20
