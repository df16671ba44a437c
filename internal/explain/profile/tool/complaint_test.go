package tool

import (
	"strings"
	"testing"
)

// The messages are those that ncu 2022.3 and 2024.1 and nsys 2022.4 print; the ones
// that need a GPU are from their binaries or from NVIDIA's documentation.
func TestExplained(t *testing.T) {
	for _, test := range []struct{ printed, why, fix string }{
		{
			"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n==WARNING== No kernels were profiled.\n",
			"does not let this user", "sudo",
		},
		{"==ERROR== The user does not have permission to access NVIDIA GPU Performance Counters on the target vGPU device 0.", "does not let this user", "virtual GPU"},
		{"==PROF== Connected\n==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like DCGM) is concurrently collecting profiling data.", "another program is using the GPU's counters", "dcgmi profile --pause"},
		{"==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock. Please check that this process has write permissions on this file.", "lock file belongs to another user", "TMPDIR"},
		{"==ERROR== Cannot lock GPU clock frequencies on MIG! Try locking the clocks externally", "MIG slice", "device: {clocks: base}"},
		{"==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer --list-chips option.", "does not support the GPU", "newest"},
		{"==ERROR== Profiling is not supported on device 0 as it uses the Windows Subsystem for Linux (WSL).", "Windows Subsystem", "on Linux"},
		{"==ERROR== Confidential computing mode detected on device 0. Nsight Compute cannot run in a secure confidential computing environment.", "confidential", "another machine"},
		{"==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on path?).\n==ERROR== The application returned an error code (1).", "libcuda.so.1 is missing", "LD_LIBRARY_PATH"},
		{"==ERROR== Driver could not be loaded.", "no NVIDIA driver", "--gpus all"},
		{"==ERROR== './h' does not exist or is not an executable. Please make sure to specify the absolute path", "does not exist", "build it"},
		{"==ERROR== Unable to write to file x.ncu-rep. Please verify this file is not locked, and writable.", "cannot be written", "space"},
		{"[libprotobuf ERROR message_lite.cc]\n==ERROR== Failed to load report file 'x.ncu-rep'.", "a newer one wrote it", "the version of ncu that wrote it"},
		{"==ERROR== Could not open report file 'nope.ncu-rep'.", "does not exist", "again"},
		{"unrecognised option '--config-file'\n\nUse --help for further details.", "does not support an option", "2022.3"},
		{"==ERROR== the argument for option '--clock-control' is invalid. Use --help for further details.", "the value of an option", "2022.3"},
		{"the argument for option '--clock-control' is invalid\n\nUse --help for further details.", "the value of an option", "2022.3"},
		{"==WARNING== No metrics to collect found in sections.\n==WARNING== No kernels were profiled.", "set of metrics", "--set full"},
		{"==ERROR== The application returned an error code (3).\n==WARNING== No kernels were profiled.", "failed under the profiler", "without"},
		{"==WARNING== No kernels were profiled.", "no kernel that matches the selection ran", "profile.kernel"},
		{"Importer error status: The importer binary and its dependencies were not found.", "host part is missing", "nsight-systems-target"},
		{"SKIPPED: x.sqlite does not contain GPU trace data.", "no kernel", "this GPU"},
		{"==ERROR== \x1b[31mRed\x07 and \xff broken.", "[31mRed and \ufffd broken.", ""},
		{"==ERROR== Something of next year.\n==ERROR== And more.", "Something of next year.", ""},
	} {
		why, fix, found := findComplaint(test.printed)
		if !found || !strings.Contains(why, test.why) || !strings.Contains(fix, test.fix) {
			t.Errorf("%q\n got %q, %q\nwant %q, %q", test.printed, why, fix, test.why, test.fix)
		}
	}
	if why, _, found := findComplaint("==PROF== Connected to process 7\nhello\n"); found {
		t.Errorf("nothing is wrong, and it is explained as %q", why)
	}
}

func TestEveryComplaintCanBeHeard(t *testing.T) {
	for i, c := range complaints {
		if c.says != strings.ToLower(c.says) {
			t.Errorf("%q is looked for in lower case and never found", c.says)
		}
		for _, before := range complaints[:i] {
			if strings.Contains(c.says, before.says) {
				t.Errorf("%q is never reached: %q comes before it", c.says, before.says)
			}
		}
		if c.why == "" || c.fix == "" {
			t.Errorf("%q has no reason or no fix", c.says)
		}
	}
}
