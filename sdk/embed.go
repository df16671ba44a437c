// Package sdk holds the files that users put beside their harness, so that the pawl
// command can write them where they are missing. It must not know anything of Go:
// what the files do is said in themselves.
package sdk

import _ "embed"

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
