package doctor

import (
	"context"
	"path/filepath"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
)

// profiler reports where the vendor's kernel profiler is, and what prevents it from reading the
// counters. It is often installed but not on the search path.
func profiler(_ context.Context, e *exam) []Finding {
	if len(e.cards()) == 0 {
		return nil
	}
	var list []Finding
	if e.vendor() == gpu.AMD {
		if at, _ := tool.FindRocprof(e.Root, e.search(nil)); at != "" {
			return append(list, ok("rocprofv3", "%s", at))
		}
		return append(list, note("rocprofv3", "not found; needed only for profiles").withFix("install rocprofiler-sdk, which comes with ROCm"))
	}
	switch at, onPath := tool.FindNcu(e.Root, e.search(nil)); {
	case onPath:
		list = append(list, ok("ncu", "%s", at))
	case at != "":
		list = append(list, ok("ncu", "%s, not on the search path", at).withFix("export PATH=%s:$PATH", filepath.Dir(at)))
	default:
		list = append(list, note("ncu", "not found; needed only for profiles").withFix("install Nsight Compute, which comes with the CUDA toolkit"))
	}
	if at, _ := tool.FindNsys(e.Root, e.search(nil)); at != "" {
		list = append(list, ok("nsys", "%s", at))
	}
	if e.dev == nil || e.chosen.id.Kind != gpu.NVIDIA {
		return list
	}
	for _, o := range tool.Obstacles(e.Root, e.chosen.id) {
		list = append(list, note("counters", "%s; needed only for profiles", o.What).withFix("%s", o.Fix))
	}
	return list
}
