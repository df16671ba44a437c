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

// find searches the path, then returns the last file of the first pattern with a match, which is the newest.
func find(root fs.FS, in shell.Search, name string, patterns ...string) (at string, onPath bool) {
	if at, found := in.Find(name); found {
		return at, true
	}
	for _, pattern := range patterns {
		if found, _ := fs.Glob(root, pattern); len(found) > 0 { // fails only on a bad pattern
			return "/" + found[len(found)-1], false
		}
	}
	return "", false
}
