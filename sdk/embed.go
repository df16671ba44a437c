// Package sdk holds the files that users put beside their harness, so that the pawl
// command can write them where they are missing. It must not know anything of Go:
// what the files do is said in themselves.
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

// Newer returns the version of the file here if a harness was made with another one and names it as
// it does in the protocol, "pawl.h 1.0.0". It also returns the command that writes the file. Both are
// empty if the versions agree, or if the harness was made with something else.
func Newer(says string) (now, command string) {
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
