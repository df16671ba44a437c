package profile_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

func TestRocprof(t *testing.T) {
	shape := profile.Facts{
		"launches": 1, "registers": 128, "registers_scalar": 48, "shared_bytes": 16384, "stack_bytes": 0,
		"block_size": 256, "grid_size": 2048, "threads": 524288, "time_ns": 100_000, "occupancy_pct": 37.25,
	}
	with := func(more profile.Facts) profile.Facts {
		all := maps.Clone(shape)
		maps.Copy(all, more)
		return all
	}
	for _, c := range []struct {
		file, page, chip string
		launches         int
		want             profile.Facts // of the first launch
	}{
		{"counter_collection.csv", "counter_collection", "", 2, with(profile.Facts{
			"pipe_valu_pct": 61.5, "sm_pct": 61.5, "lds_conflict_pct": 12.5, "dram_read_bytes": 256 << 20, "dram_write_bytes": 128 << 20, "dram_bytes": 384 << 20,
			"dram_bytes_per_s": 384 << 20 * 1e4,
		})},
		{"results.json", "json", "gfx942", 1, shape},
	} {
		t.Run(c.file, func(t *testing.T) {
			p := open(t, "testdata/rocprof/"+c.file)
			if p.Tool.Name != "rocprofv3" || p.Tool.Page != c.page || len(p.Launches) != c.launches {
				t.Fatalf("%+v, %d launches", p.Tool, len(p.Launches))
			}
			if l := p.Launches[0]; l.Kernel != "gemm(float*, float*)" || l.CC != c.chip {
				t.Errorf("kernel %q on %q", l.Kernel, l.CC)
			}
			if diff := cmp.Diff(c.want, p.Launches[0].Facts(), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(p, again(t, p), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
	// The counters of the units of a chip add up.
	for _, m := range open(t, "testdata/rocprof/results.json").Launches[0].Metrics {
		if m.Name == "SQ_WAVES" && *m.Value != 128 {
			t.Errorf("SQ_WAVES is %v", *m.Value)
		}
	}
}

func TestRocprof_IsRefused(t *testing.T) {
	const header = "Kernel_Name,Dispatch_Id,Counter_Name,Counter_Value\n"
	var many strings.Builder
	many.WriteString(header)
	for i := range 600 {
		many.WriteString("k,1,counter" + strings.Repeat("x", i) + ",1\n")
	}
	for name, c := range map[string]struct{ in, want string }{
		"no launch":          {header, "no launch"},
		"too many counters":  {many.String(), "more than 500 counters"},
		"JSON of no process": {`{"rocprofiler-sdk-tool": []}`, "no launch"},
		"JSON of no kernel":  {`{"rocprofiler-sdk-tool": [{"agents": []}]}`, "no launch"},
		"JSON cut short":     {`{"rocprofiler-sdk-tool": [`, "cannot read the JSON of rocprofv3"},
	} {
		if _, err := profile.Read(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Counters are added to the launches of their kernel. Times stay those of the trace.
func TestAddCounters(t *testing.T) {
	trace := open(t, "testdata/traces/kernel_trace.csv")
	counted := &profile.Profile{}
	for _, v := range []float64{40, 60} {
		counted.Launches = append(counted.Launches, profile.Launch{Kernel: trace.Launches[0].Kernel, CC: "gfx942", Metrics: []profile.Metric{
			{Name: "OccupancyPercent", Value: &v}, {Name: "time_ns", Unit: "ns", Value: new(1e9)},
		}})
	}
	counted.Launches = append(counted.Launches, profile.Launch{Kernel: "another", Metrics: []profile.Metric{{Name: "L2CacheHit", Value: new(1.0)}}})
	profile.AddCounters(trace, counted)
	for i, ns := range []float64{2500, 2400} {
		l := trace.Launches[i]
		facts := l.Facts()
		if _, other := facts["l2_hit_pct"]; facts["occupancy_pct"] != 50 || facts["time_ns"] != ns || other || l.CC != "gfx942" {
			t.Errorf("launch %d: %v", i, facts)
		}
		for _, m := range l.Metrics {
			if m.Name == "OccupancyPercent" && (*m.Low != 40 || *m.High != 60) {
				t.Errorf("from %v to %v", *m.Low, *m.High)
			}
		}
	}
}

func TestDropWarmup(t *testing.T) {
	p := &profile.Profile{}
	for i := range 10 { // five runs of two launches
		p.Launches = append(p.Launches, profile.Launch{ID: i, Kernel: []string{"a", "b"}[i%2]})
	}
	if err := profile.DropWarmup(p, 3, 3); err == nil || len(p.Launches) != 10 {
		t.Errorf("six runs: %v, %d launches", err, len(p.Launches))
	}
	if err := profile.DropWarmup(p, 3, 2); err != nil || len(p.Launches) != 4 || p.Launches[0].ID != 6 {
		t.Errorf("five runs: %v, %v", err, p.Launches)
	}
}
