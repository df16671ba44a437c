package tool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

func TestChoose(t *testing.T) {
	l4 := Target{Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", Driver: "550.54"}, Runtime: "CUDA 12.4"}
	host := Target{Device: gpu.Identity{Kind: gpu.CPU, Name: "AMD EPYC"}}
	pocl := Target{Device: gpu.Identity{Kind: gpu.CPU, Name: "AMD EPYC"}, Runtime: "OpenCL 3.0 PoCL 3.1"}
	onCard := l4
	onCard.Runtime, onCard.Prepare.Launch = "", &harness.Launch{Kind: "opencl"}
	amd := Target{Device: gpu.Identity{Kind: gpu.AMD, Name: "MI300X"}}
	arc := Target{Device: gpu.Identity{Kind: "intel", Name: "Arc"}}

	const ncu, nsys = "opt/nvidia/nsight-compute/2024.1.1/ncu", "opt/nvidia/nsight-systems/2024.2.1/bin/nsys"
	files := func(list ...string) fstest.MapFS {
		fsys := fstest.MapFS{}
		for _, f := range list {
			fsys[f] = &fstest.MapFile{}
		}
		return fsys
	}
	closed := files(ncu, nsys)
	closed["proc/driver/nvidia/params"] = &fstest.MapFile{Data: []byte("RmProfilingAdminOnly: 1\n")}
	noCounters, noValgrind := errors.New("this machine gives no hardware counters"), errors.New("there is no valgrind here")

	for _, test := range []struct {
		name            string
		t               Target
		want            string
		root            fstest.MapFS
		perf, callgrind error
		chosen          string
		why             []string // of the choice, or of the error where nothing is chosen
	}{
		{"a GPU", l4, "", files(ncu, nsys), nil, nil, "ncu", nil},
		{"a GPU, said so", l4, Auto, files(ncu), nil, nil, "ncu", nil},
		{"counters are closed", l4, Auto, closed, nil, nil, "nsys", []string{"nsys instead of ncu", "RmProfilingAdminOnly", "sudo"}},
		{"only the tracer is there", l4, Auto, files(nsys), nil, nil, "nsys", []string{"ncu is not installed", "pawl doctor --fix"}},
		{"no tool of NVIDIA's", l4, Auto, files(), nil, nil, "", []string{"ncu is not installed", "nsys is not installed"}},
		{"the host", host, Auto, files(), nil, nil, "perf", nil},
		{"a virtual machine", host, Auto, files(), noCounters, nil, "callgrind", []string{"callgrind instead of perf: this machine gives no hardware counters"}},
		{"nothing on the host", host, Auto, files(), noCounters, noValgrind, "", []string{"no hardware counters", "no valgrind"}},
		{"OpenCL on the host", pocl, Auto, files(), noCounters, noValgrind, "opencl", nil},
		{"OpenCL on a card", onCard, Auto, files(ncu, nsys), nil, nil, "opencl", nil},
		{"a card without a tool", arc, Auto, files(ncu, nsys), nil, nil, "", []string{"pawl has no profiler for Arc"}},
		{"a card of AMD", amd, Auto, files("opt/rocm-7.1.0/bin/rocprofv3"), nil, nil, "rocprofv3", nil},
		{"a card of AMD without ROCm", amd, Auto, files(ncu, nsys), nil, nil, "", []string{"rocprofv3 is not installed", "comes with ROCm"}},
		{"NVIDIA's tool for AMD", amd, "ncu", files(ncu), nil, nil, "", []string{"it cannot profile kernels of MI300X"}},

		{"asked for, and there", l4, "nsys", files(ncu, nsys), nil, nil, "nsys", nil},
		{"asked for, and closed", l4, "ncu", closed, nil, nil, "", []string{"RmProfilingAdminOnly", "sudo"}},
		{"asked for on the host", host, "ncu", files(ncu), nil, nil, "", []string{"it cannot profile kernels of the host", "use one of: perf, callgrind, auto"}},
		{"asked for OpenCL", onCard, "ncu", files(ncu), nil, nil, "", []string{"it cannot profile kernels of OpenCL"}},
		{"no such tool", host, "gprof", files(), nil, nil, "", []string{"unknown tool", "known: ncu, nsys, rocprofv3, perf, callgrind, opencl"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := machine{
				nvidia: NcuOptions{Root: test.root, Path: "/nowhere"},
				perf:   func(context.Context) error { return test.perf }, callgrind: func() error { return test.callgrind },
			}
			name, why, err := m.choose(t.Context(), test.t, test.want)
			if err != nil {
				name, why = "", err.Error()
			}
			if name != test.chosen || (why == "") != (len(test.why) == 0) {
				t.Errorf("chosen %q, because %q (%v); want %q", name, why, err, test.chosen)
			}
			for _, part := range test.why {
				if !strings.Contains(why, part) {
					t.Errorf("it says %q, want %q in it", why, part)
				}
			}
		})
	}
}

// Here something can always be said, whatever is installed.
func TestChooseHere(t *testing.T) {
	name, why, err := Choose(t.Context(), Target{Device: gpu.Identity{Kind: gpu.CPU, Name: "host"}}, Auto)
	if err == nil && name != "perf" && (name != "callgrind" || why == "") {
		t.Errorf("chosen %q, because %q", name, why)
	}
	if err != nil && !strings.Contains(err.Error(), "perf or callgrind") {
		t.Error(err)
	}
}
