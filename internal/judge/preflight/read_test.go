package preflight

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLink(t *testing.T) {
	text := "/usr/bin/ld: /tmp/x.o: in function `main':\n" +
		"x.cudafe1.cpp:(.text+0x86): undefined reference to `void k<3>(float*)'\n" +
		"/usr/bin/ld: x.cudafe1.cpp:(.text+0x90): undefined reference to `other(int)'\n" +
		"x.cudafe1.cpp:(.text+0x99): undefined reference to `void k<3>(float*)'\n" +
		"collect2: error: ld returned 1 exit status\n" +
		"ld.lld: error: undefined symbol: ns::f(int, char const*)\n>>> referenced by a.o:(main)\n" +
		"nvlink error   : Undefined reference to '_Z5otheri' in '/tmp/a.o'\n" +
		"ptxas fatal   : Unresolved extern function '_Z4farfi'\n" +
		"ImportError: /x/ext.so: undefined symbol: _ZN2at4_ops3addE\n" +
		"./x: symbol lookup error: ./x: undefined symbol: cudaMalloc (fatal)\n"
	want := []Unresolved{
		{"void k<3>(float*)", false},
		{"other(int)", false},
		{"ns::f(int, char const*)", false},
		{"_Z5otheri", true},
		{"_Z4farfi", true},
		{"_ZN2at4_ops3addE", false},
		{"cudaMalloc", false},
	}
	if diff := cmp.Diff(want, ReadLink(text)); diff != "" {
		t.Error(diff)
	}
}

func TestLinkFix(t *testing.T) {
	at := location{file: "attention.cu", line: 12, defined: true}
	for _, c := range []struct {
		name   string
		found  location
		device bool
		want   string
	}{
		{"void attention<64>(float const*)", at, false, "in attention.cu (template __global__ void attention<64>(float const*);), or include attention.cu"},
		{"void attention<64>(float const*)", location{}, false, "where it is defined (template __global__ void attention<64>(float const*);), or put the kernel and its call in one compilation unit"},
		{"far(float)", at, true, "-rdc=true"},
		{"run(int)", at, false, "compile and link attention.cu"},
		{"cudaMalloc", location{}, false, "-lcudart"},
		{"cuLaunchKernel", location{}, false, "-lcuda"},
		{"cublasLtMatmul", location{}, false, "-lcublasLt"},
		{"c10::Error::Error()", location{}, false, "_GLIBCXX_USE_CXX11_ABI"},
		{"sinf", location{}, false, "-lm"},
		{"mystery", location{}, false, "-lNAME"},
	} {
		if got := linkFix(c.name, c.found, c.device); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestReadSanitizer(t *testing.T) {
	for name, c := range map[string]struct {
		tool, text string
		err        error
		state      State
		number     float64
		says       string
	}{
		"memcheck": {
			tool: "memcheck", text: `========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at 0x160 in demo.cu:6:edge(float *, int)
=========     by thread (3,0,0) in block (7,0,0)
=========     Address 0x7f2e00001000 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========
========= Program hit unspecified launch failure (error 719) on CUDA API call to cudaDeviceSynchronize.
========= ERROR SUMMARY: 2 errors
`, state: Stop, number: 2, says: "memcheck found 2 errors, the first: Invalid __global__ write of size 4 bytes at 0x160 in demo.cu:6:edge(float *, int)",
		},
		"racecheck": {
			tool: "racecheck", text: `========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at 0x120 in race.cu:18:sum(int *, int *)
=========     and Read access at 0x1b0 in race.cu:20:sum(int *, int *) [508 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
`, state: Stop, number: 1, says: "Race reported between Write access at 0x120 in race.cu:18",
		},
		"initcheck": {
			tool: "initcheck", text: "========= COMPUTE-SANITIZER\n========= Uninitialized __global__ memory read of size 4 bytes\n=========     at 0x70 in init.cu:9:add(float *)\n========= ERROR SUMMARY: 1 error\n",
			state: Stop, number: 1, says: "Uninitialized __global__ memory read",
		},
		"nothing": {tool: "memcheck", text: "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", state: Pass, says: "memcheck found nothing"},
		"no race": {tool: "racecheck", text: "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", state: Pass, says: "racecheck found nothing"},
		"no library": {
			tool: "memcheck", text: "Unable to find injection library libsanitizer-collection.so\n", err: errors.New("it exited with code 13"),
			state: Unknown, says: "cannot run here: Unable to find injection library",
		},
		"cut off":            {tool: "memcheck", text: "========= COMPUTE-SANITIZER\n", err: errors.New("killed"), state: Unknown, says: "it ended without a summary: killed"},
		"the harness failed": {tool: "memcheck", text: "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", err: errors.New("no such config"), state: Unknown, says: "the harness failed under it: no such config"},
		"empty":              {tool: "memcheck", state: Unknown, says: "cannot run here"},
	} {
		t.Run(name, func(t *testing.T) {
			g := sanitizerGate(Gate{Name: Sanitizer, Kernel: c.tool}, ReadSanitizer(c.text), c.err)
			if g.State != c.state || g.Number != c.number || !strings.Contains(g.Text, c.says) || g.State == Stop && g.Fix == "" {
				t.Errorf("%+v", g)
			}
		})
	}
}

func FuzzReadLink(f *testing.F) {
	f.Add("x.cpp:(.text+0x86): undefined reference to `void k<3>(float*)'\nnvlink error   : Undefined reference to '_Z5otheri' in 'a.o'\n")
	f.Add("ld.lld: error: undefined symbol: f\nptxas fatal   : Unresolved extern function 'g'\nx: undefined symbol: h (fatal)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, u := range ReadLink(text) {
			if u.Symbol == "" {
				t.Errorf("%+v", u)
			}
			_ = linkFix(u.Symbol, location{}, u.Device)
			_ = base(u.Symbol)
		}
	})
}

func FuzzReadSanitizer(f *testing.F) {
	f.Add("========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 4 bytes\n=========     at 0x160 in demo.cu:6:edge(float *)\n========= ERROR SUMMARY: 2 errors\n")
	f.Add("========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\nUnable to find injection library x\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := ReadSanitizer(text)
		if g := sanitizerGate(Gate{}, s, nil); g.State == Pass && !strings.Contains(text, "SUMMARY") {
			t.Errorf("a pass without a summary: %q", text)
		}
	})
}
