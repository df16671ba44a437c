// Package sdk embeds the files that users put next to their harness, so that the pawl command can write
// them. The files are independent of Go and document themselves.
package sdk

import (
	_ "embed"
	"regexp"
	"strings"
)

// Header is pawl.h, for harnesses in C, C++, CUDA, HIP and OpenCL.
//
//go:embed cpp/pawl.h
var Header []byte

// Oracle is pawl_oracle.py, for oracles in Python.
//
//go:embed python/pawl_oracle.py
var Oracle []byte

// Python is pawl_harness.py, for harnesses in Python.
//
//go:embed python/pawl_harness.py
var Python []byte

// Recorder is pawl_perf/record.py. As sitecustomize.py in a folder of PYTHONPATH it writes the samples that a
// Python program measures to a file beside the one that PAWL_SAMPLES names, with ".python" at the end of its name.
//
//go:embed python/pawl_perf/record.py
var Recorder []byte

// Submit is pawl_submit.py, which judges candidates from Python.
//
//go:embed python/pawl_submit.py
var Submit []byte

// Evaluator is pawl_evaluator.py, which judges candidates for loops such as OpenEvolve.
//
//go:embed python/pawl_evaluator.py
var Evaluator []byte

// KernelBench is pawl_kernelbench.py, for problems in the form of KernelBench.
//
//go:embed python/pawl_kernelbench.py
var KernelBench []byte

// Outdated returns the version of the embedded file, and the command that writes it, if the harness uses
// another version. says is the name and version that the harness reports in the protocol, "pawl.h 1.0.0".
// Both results are empty if the versions are equal, or if the harness uses something else.
func Outdated(says string) (now, command string) {
	name, was, _ := strings.Cut(says, " ")
	var file []byte
	switch name {
	case "pawl.h":
		file, command = Header, "pawl sdk c"
	case "pawl_harness.py":
		file, command = Python, "pawl sdk python"
	default:
		return "", ""
	}
	version := regexp.MustCompile(`(?m)^(?:#define PAWL_VERSION|__version__ =) "(.+)"$`)
	if now = string(version.FindSubmatch(file)[1]); now == was {
		return "", ""
	}
	return now, command
}
