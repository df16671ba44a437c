package doctor

import (
	"context"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/setup"
)

// profiler tells where NVIDIA's kernel profiler is. It is often installed and not
// on the search path.
func profiler(_ context.Context, e *exam) []Finding {
	if len(e.cards()) == 0 {
		return nil
	}
	switch at, onPath := setup.FindProfiler(e.Root, e.search(nil)); {
	case onPath:
		return []Finding{ok("ncu", "%s", at)}
	case at != "":
		return []Finding{ok("ncu", "%s, not on the search path", at).mend("export PATH=%s:$PATH", filepath.Dir(at))}
	default:
		return []Finding{note("ncu", "not found: only profiles need it").mend("install Nsight Compute, which comes with the CUDA toolkit")}
	}
}
