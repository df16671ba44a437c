package tool

import (
	"io/fs"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// FindNcu finds NVIDIA's kernel profiler: on the search path, or where installers put it. It is
// often installed but not on the path.
func FindNcu(root fs.FS, in shell.Search) (at string, onPath bool) {
	return find(root, in, "ncu", "usr/local/cuda/bin/ncu", "usr/local/cuda-*/bin/ncu", "opt/nvidia/nsight-compute/*/ncu")
}

// FindNsys finds NVIDIA's tracer.
func FindNsys(root fs.FS, in shell.Search) (at string, onPath bool) {
	return find(root, in, "nsys", "usr/local/cuda/bin/nsys", "usr/local/cuda-*/bin/nsys", "opt/nvidia/nsight-systems/*/bin/nsys")
}

// FindRocprof finds AMD's profiler.
func FindRocprof(root fs.FS, in shell.Search) (at string, onPath bool) {
	return find(root, in, "rocprofv3", "opt/rocm/bin/rocprofv3", "opt/rocm-*/bin/rocprofv3")
}

// find searches the path, then returns the newest file of the first pattern with a match.
func find(root fs.FS, in shell.Search, name string, patterns ...string) (at string, onPath bool) {
	if at, found := in.Find(name); found {
		return at, true
	}
	if at = shell.NewestMatch(root, patterns...); at == "" {
		return "", false
	}
	return "/" + at, false
}
