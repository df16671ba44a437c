package doctor

import (
	"context"
	"io/fs"
	"path/filepath"
)

// profiler tells where NVIDIA's kernel profiler is. It is often installed and not
// on the search path.
func profiler(_ context.Context, e *exam) []Finding {
	if len(e.cards()) == 0 {
		return nil
	}
	if at, found := e.search(nil).find("ncu"); found {
		return []Finding{ok("ncu", "%s", at)}
	}
	for _, pattern := range []string{"usr/local/cuda/bin/ncu", "usr/local/cuda-*/bin/ncu", "opt/nvidia/nsight-compute/*/ncu"} {
		if at, _ := fs.Glob(e.sys, pattern); len(at) > 0 { // it fails only on a bad pattern
			newest := at[len(at)-1]
			return []Finding{ok("ncu", "/%s, not on the search path", newest).mend("export PATH=/%s:$PATH", filepath.Dir(newest))}
		}
	}
	return []Finding{note("ncu", "not found: only profiles need it").mend("install Nsight Compute, which comes with the CUDA toolkit")}
}
