package preflight

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// place is a folder with files and a suite, looked at with the real compilers.
func place(t *testing.T, tool string, files map[string]string) Options {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("there is no %s here", tool)
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := suite.Load(filepath.Join(dir, "pawl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return Options{Suite: s, Dir: dir, Build: func(ctx context.Context, b suite.Build, log io.Writer) (measure.BuildFacts, error) {
		return build.Run(ctx, build.Recipe{Command: b.Command, Dir: dir, Outputs: b.Outputs, Timeout: b.Timeout}, log)
	}}
}

// only is the one answer that is not a pass.
func only(t *testing.T, o Options) Gate {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var found []Gate
	for _, g := range r.Gates {
		if g.State != Pass && g.Name != Sanitizer {
			found = append(found, g)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%+v", r.Gates)
	}
	return found[0]
}

func says(t *testing.T, g Gate, name Name, state State, texts ...string) {
	t.Helper()
	if g.Name != name || g.State != state {
		t.Errorf("%+v", g)
	}
	for _, text := range texts {
		if !strings.Contains(g.Text+"\n"+g.Fix, text) {
			t.Errorf("it does not say %q: %s\nfix: %s", text, g.Text, g.Fix)
		}
	}
}

const overflowing = `__global__ void attention(float *p) {
  __shared__ float scores[128][128 + DEEP];
  scores[threadIdx.x][threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = scores[threadIdx.x ^ 1][threadIdx.x];
}
`

func TestSharedMemoryOverflowIsStopped(t *testing.T) {
	for deep, want := range map[string][]string{
		"0":   {"64 KB of static shared memory per block, according to the compiler; the limit is 48 KB", "make it dynamic", "(up to 99 KB on sm_89)"},
		"100": {"114 KB of shared memory per block, according to the compiler; sm_89 has 99 KB", "a smaller tile"},
	} {
		o := place(t, "nvcc", map[string]string{"k.cu": overflowing, "pawl.yaml": `version: 1
build: {command: nvcc -arch=sm_89 -DDEEP=` + deep + ` -cubin k.cu -o k.cubin, outputs: [k.cubin]}
harness: {command: ./harness}
`})
		g := only(t, o)
		says(t, g, SharedMemory, Stop, want...)
		if g.Kernel != "attention" || g.Arch != "" && g.Arch != "sm_89" {
			t.Errorf("%+v", g)
		}
	}
}

// The compiler cannot see dynamic shared memory; the launch of the suite adds it.
func TestDynamicSharedMemoryIsAdded(t *testing.T) {
	o := place(t, "nvcc", map[string]string{
		"k.cu": strings.Replace(overflowing, "128][128 + DEEP", "64][64", 1),
		"pawl.yaml": `version: 1
build: {command: nvcc -arch=sm_89 -cubin k.cu -o k.cubin, outputs: [k.cubin]}
harness: {command: ./harness}
benchmarks:
  attention:
    matrix: {N: [1024]}
    preflight: {kernel: attention, dynamic: 90 * N, threads: 64}
`,
	})
	says(t, only(t, o), SharedMemory, Stop, "106 KB of shared memory per block, as compiled; sm_89 has 99 KB")
}

const spilling = `extern "C" __global__ void accumulate(const float *p, float *out, int n) {
  float a[64], s = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) a[i] = p[i * n + threadIdx.x];
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 7) % 64] + p[k];
  }
#pragma unroll
  for (int i = 0; i < 64; i++) s += a[i];
  out[threadIdx.x] = s;
}
`

func TestSpillingKernelIsStopped(t *testing.T) {
	files := func(flags, keys string) map[string]string {
		return map[string]string{"k.cu": spilling, "pawl.yaml": `version: 1
build: {command: nvcc -arch=sm_89 ` + flags + ` -cubin k.cu -o k.cubin, outputs: [k.cubin]}
harness: {command: ./harness}
benchmarks:
  acc:
    matrix: {N: [64]}
    preflight: {kernel: accumulate` + keys + `}
`}
	}
	g := only(t, place(t, "nvcc", files("-Xptxas -v -maxrregcount=32", "")))
	says(t, g, Spills, Stop, "32 registers, spilled per thread: stores", "raise or remove -maxrregcount")
	if g.Number < spillStop || g.Limit != spillStop || g.Kernel != "accumulate" || g.Benchmark != "acc" {
		t.Errorf("%+v", g)
	}
	says(t, only(t, place(t, "nvcc", files("-Xptxas -v -maxrregcount=32", ", spills: warn"))), Spills, Warn)
	says(t, only(t, place(t, "nvcc", files("-maxrregcount=32", ""))), Spills, Unknown, "compile with -Xptxas -v")
	says(t, only(t, place(t, "nvcc", files("", ", occupancy: 0.9, threads: 256"))), Occupancy, Stop, "limited by registers; the suite requires 90 %", "would allow")
	says(t, only(t, place(t, "nvcc", files("", ", occupancy: 0.5"))), Occupancy, Unknown, "preflight.threads")

	o := place(t, "nvcc", files("", ", occupancy: 0.3, threads: 256"))
	o.Target = target(t, "L4")
	r, err := Run(t.Context(), o)
	if err != nil || len(r.Kernels) != 1 || len(r.Code) != 1 || len(r.Of(Architecture)) != 1 || r.Worst() != Unknown {
		t.Errorf("%+v, %v", r, err)
	}
	says(t, r.Of(Sanitizer)[0], Sanitizer, Unknown, "L4 (sm_89) is not in this machine")
}

// What the compiler foresees is a finding; other remarks are about what was said already.
func TestRemarks(t *testing.T) {
	l := &checker{known: map[Gate]bool{}}
	l.reportRemarks(measure.Kernel{Name: "gemm", Arch: "sm_90a", Remarks: []string{
		"(C7518) Potential Performance Loss: wgmma.mma_async instructions are serialized", "Registers are spilled to local memory in function 'gemm'",
	}})
	if len(l.report.Gates) != 1 {
		t.Fatalf("%+v", l.report.Gates)
	}
	says(t, l.report.Gates[0], Remarks, Warn, "(C7518)")
}

func TestWrongArchitecture(t *testing.T) {
	o := place(t, "nvcc", map[string]string{"k.cu": spilling, "pawl.yaml": `version: 1
build: {command: nvcc -arch=sm_80 -cubin k.cu -o k.cubin, outputs: [k.cubin]}
harness: {command: ./harness}
`})
	o.Target = target(t, "sm_90")
	says(t, only(t, o), Architecture, Warn, "the build has code only for sm_80, none that runs on sm_90", "-arch=sm_90")
	o.Target = target(t, "sm_86")
	if r, err := Run(t.Context(), o); err != nil || r.Of(Architecture)[0].Text != "the build has code for sm_80, which runs on sm_86" {
		t.Errorf("%+v %v", r, err)
	}
}

// A template that is defined in one file and used in another is never compiled.
func TestMissingInstantiation(t *testing.T) {
	files := map[string]string{
		"attention.cuh": "#pragma once\ntemplate <int D>\n__global__ void attention(const float *q, float *out);\n",
		"attention.cu":  "#include \"attention.cuh\"\n\ntemplate <int D>\n__global__ void attention(const float *q, float *out) {\n  out[threadIdx.x] = q[threadIdx.x] * D;\n}\n",
		"main.cu":       "#include \"attention.cuh\"\nint main() {\n  attention<64><<<1, 32>>>(nullptr, nullptr);\n  return 0;\n}\n",
		"pawl.yaml":     "version: 1\nbuild: {command: nvcc -arch=sm_89 main.cu attention.cu -o harness, outputs: [harness]}\nharness: {command: ./harness}\n",
	}
	g := only(t, place(t, "nvcc", files))
	says(t, g, Symbols, Stop, "the link fails: undefined symbol void attention<64>(float const*, float*); it is defined in attention.cu:4",
		"in attention.cu (template __global__ void attention<64>(float const*, float*);), or include attention.cu", "one compilation unit")

	files["attention.cu"] += "template __global__ void attention<64>(const float *, float *);\n"
	r, err := Run(t.Context(), place(t, "nvcc", files))
	if err != nil || r.Worst() != Unknown || len(r.Kernels) != 1 || r.Kernels[0].Name != "attention<64>" {
		t.Errorf("with the fix: %+v, %v", r, err)
	}

	files["pawl.yaml"] += "benchmarks:\n  attention:\n    matrix: {D: [64, 128]}\n    preflight: {kernel: \"attention<${D}>\"}\n"
	says(t, only(t, place(t, "nvcc", files)), Symbols, Stop, "no kernel in the build is named attention<128>; it has attention<64>", "instantiate it")
}

// A shared library links with symbols that nothing has, and fails when it is loaded.
func TestLibraryThatCannotBeLoaded(t *testing.T) {
	files := map[string]string{
		"k.h":       "float helper(float x);\n",
		"k.c":       "#include <math.h>\n#include \"k.h\"\nvoid kernel(float *p) { p[0] = helper(sinf(p[0])); }\n",
		"helper.c":  "#include \"k.h\"\nfloat helper(float x)\n{\n  return x + 1;\n}\n",
		"pawl.yaml": "version: 1\nbuild: {command: gcc -shared -fPIC k.c -o k.so -lm, outputs: [k.so]}\nharness: {command: ./harness}\n",
	}
	says(t, only(t, place(t, "gcc", files)), Symbols, Stop, "k.so cannot be loaded: undefined symbol helper; it is defined in helper.c:2", "compile and link helper.c")

	files["pawl.yaml"] = strings.Replace(files["pawl.yaml"], "k.c", "k.c helper.c", 1)
	r, err := Run(t.Context(), place(t, "gcc", files))
	if err != nil || r.Worst() != Pass || len(r.Of(Symbols)) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A machine without the toolkit may run what was built elsewhere: that is no failure,
// and no pass.
func TestWithoutTheToolkit(t *testing.T) {
	if _, err := os.Stat("/usr/local/cuda/bin/cuobjdump"); err == nil {
		t.Skip("the toolkit is always found here")
	}
	cubin, err := os.ReadFile("../../kernel/build/cuda/testdata/small.cubin")
	if err != nil {
		t.Fatal(err)
	}
	o := place(t, "true", map[string]string{"k.cubin": string(cubin), "pawl.yaml": "version: 1\nbuild: {outputs: [k.cubin]}\nharness: {command: ./harness}\n"})
	o.Build = nil
	for _, name := range []string{"PATH", "CUDA_HOME", "CUDA_PATH"} {
		t.Setenv(name, t.TempDir())
	}
	says(t, only(t, o), BuildGate, Unknown, "cuobjdump: not found")
}

func TestBuildThatFailsOtherwise(t *testing.T) {
	o := place(t, "gcc", map[string]string{
		"k.c": "int f(void) { return nothing; }\n", "pawl.yaml": "version: 1\nbuild: {command: gcc -c k.c -o k.o, outputs: [k.o]}\nharness: {command: ./harness}\n",
	})
	says(t, only(t, o), BuildGate, Stop, "nothing", "pawl build")
}

// Here compute-sanitizer cannot load its library: that is no pass.
func TestSanitizerThatCannotRun(t *testing.T) {
	o := place(t, "compute-sanitizer", map[string]string{"pawl.yaml": "version: 1\nharness: {command: 'true'}\n"})
	l := &checker{Options: o, known: map[Gate]bool{}}
	l.Target = target(t, "L4")
	l.Target.Here = true
	l.sanitize(t.Context(), l.variants()[0])
	if len(l.report.Gates) != len(SanitizerTools) {
		t.Fatalf("%+v", l.report.Gates)
	}
	for _, g := range l.report.Gates {
		says(t, g, Sanitizer, Unknown, "cannot run here")
	}
}

// Blocks of 1024 threads leave each 64 registers, however many it asks for.
func TestSpillsOfALargeBlock(t *testing.T) {
	large := strings.Replace(spilling, "__global__ void", "__global__ void __launch_bounds__(1024)", 1)
	g := only(t, place(t, "nvcc", map[string]string{"k.cu": large, "pawl.yaml": `version: 1
build: {command: nvcc -arch=sm_89 -Xptxas -v -cubin -o k.cubin k.cu, outputs: [k.cubin]}
harness: {command: ./none}
benchmarks: {acc: {matrix: {N: [1]}, preflight: {kernel: accumulate, spills: stop, threads: 1024}}}
`}))
	says(t, g, Spills, Stop, "64 registers, spilled per thread", "1024 threads leave 64 registers for each, 512 leave 128")
}

func TestKernelsThatALibraryDoesNotShow(t *testing.T) {
	files := func(kernel string) map[string]string {
		return map[string]string{"k.c": "static void hidden(int n) { (void)n; }\nvoid shown(int n) { hidden(n); }\n", "pawl.yaml": `version: 1
trust: checked
build: {command: cc -shared -fPIC -o k.so k.c, outputs: [k.so]}
benchmarks:
  k:
    matrix: {N: [1, 2]}
    arguments: {n: {value: N}}
    launch: {file: k.so, kernel: ` + kernel + `}
`}
	}
	g := only(t, place(t, "cc", files("hidden")))
	says(t, g, Symbols, Stop, "k.so has no function with that name; it exports shown", `extern "C"`)
	r, err := Run(t.Context(), place(t, "cc", files("shown")))
	if err != nil || r.Worst() != Pass {
		t.Errorf("%+v %v", r.Gates, err)
	}
}
