package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

const gemm = "void gemm<64, 32>(float const*, float*)"

func TestTraces(t *testing.T) {
	for _, c := range []struct {
		file, tool string
		kernels    []string
		facts      []profile.Facts
	}{
		{
			"cuda_gpu_trace.csv", "nsys",
			[]string{gemm, gemm, "reduce(float*)"},
			[]profile.Facts{
				{"time_ns": 1500, "gap_ns": 500, "launches": 2, "registers": 168, "block_size": 256, "grid_size": 2048, "threads": 524288},
				{"time_ns": 1400, "gap_ns": 500, "launches": 2, "registers": 168, "block_size": 256, "grid_size": 2048, "threads": 524288},
				// On another stream, while the one before still ran.
				{"time_ns": 100, "gap_ns": 0, "launches": 1, "registers": 16, "block_size": 32, "grid_size": 1, "threads": 32},
			},
		},
		{
			"cuda_gpu_kern_sum.csv", "nsys",
			[]string{gemm, "reduce(float*)"},
			[]profile.Facts{{"time_ns": 1400, "launches": 2}, {"time_ns": 100, "launches": 1}},
		},
		{
			"gpukernsum.csv", "nsys",
			[]string{gemm},
			[]profile.Facts{{"time_ns": 1400, "launches": 2, "block_size": 256, "grid_size": 2048, "threads": 524288}},
		},
		{
			"kernel_trace.csv", "rocprofv3",
			[]string{"gemm(float*, float*)", "gemm(float*, float*)"},
			[]profile.Facts{
				// The grid is 1000 threads wide: four blocks.
				{"time_ns": 2500, "launches": 2, "registers": 96, "registers_scalar": 32, "shared_bytes": 16384, "stack_bytes": 0, "block_size": 256, "grid_size": 128, "threads": 32768},
				{"time_ns": 2400, "gap_ns": 500, "launches": 2, "registers": 96, "registers_scalar": 32, "shared_bytes": 16384, "stack_bytes": 0, "block_size": 256, "grid_size": 128, "threads": 32768},
			},
		},
	} {
		t.Run(c.file, func(t *testing.T) {
			p := open(t, "testdata/traces/"+c.file)
			if p.Tool.Name != c.tool {
				t.Errorf("tool %q, want %q", p.Tool.Name, c.tool)
			}
			var kernels []string
			var facts []profile.Facts
			for _, l := range p.Launches {
				kernels, facts = append(kernels, l.Kernel), append(facts, l.Facts())
			}
			if diff := cmp.Diff(c.kernels, kernels); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.facts, facts, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Error(diff)
			}
			if main, ok := p.Main(); !ok || main.Kernel != c.kernels[0] {
				t.Errorf("the launch that counts is %q", main.Kernel)
			}
			if diff := cmp.Diff(p, again(t, p), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTracesThatAreRefused(t *testing.T) {
	const header = "Start (ns),Duration (ns),CorrId,Device,Name\n"
	for _, c := range []struct{ name, in, want string }{
		{"no launch", header, "no launch"},
		{"a time that is none", header + "soon,5,1,0,k\n", `line 1: Start is "soon"`},
		{"before time", header + "5,-5,1,0,k\n", "is not a time"},
		{"a unit of something else", "Start (%),Duration (ns),CorrId,Device,Name\n1,2,3,0,k\n", "is not a time"},
		{"nothing at all", "\n\n", "the file is empty"},
		{"columns twice", "Start (ns),Start (us),Duration (ns),CorrId,Device,Name\n1,2,3,4,0,k\n", "twice"},
	} {
		_, err := profile.Read(strings.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
