package build

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// files makes a folder.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bare is a PATH without a compiler cache, so that command lines do not depend on
// the machine.
func bare(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{"PATH": t.TempDir()}
}

func TestCompose(t *testing.T) {
	dir := files(t, map[string]string{"a.cu": "", "k/b.cu": "", "k/c.cu": "", "it's.cu": ""})
	for name, c := range map[string]struct {
		spec suite.Build
		arch string
		want string // the command; * stands for the scratch folder
	}{
		"command":       {suite.Build{Command: "make harness"}, "sm_89", "make harness"},
		"cubin":         {suite.Build{Recipe: "nvcc", Sources: []string{"a.cu"}, Target: "a.cubin"}, "sm_89", "nvcc -cubin -O3 -arch=sm_89 -Xptxas -v -o a.cubin a.cu"},
		"ptx":           {suite.Build{Recipe: "nvcc", Sources: []string{"a.cu"}, Target: "a.ptx", Flags: "-O2"}, "sm_89", "nvcc -ptx -arch=sm_89  -O2 -o a.ptx a.cu"},
		"fatbin of two": {suite.Build{Recipe: "nvcc", Sources: []string{"a.cu"}, Target: "a.fatbin", Arch: []string{"sm_80", "sm_90a"}}, "sm_89", "nvcc -fatbin -O3 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -Xptxas -v -o a.fatbin a.cu"},
		"program": {
			suite.Build{Recipe: "nvcc", Sources: []string{"a.cu"}, Target: "h", Link: "-lcublas", Arch: []string{"auto"}},
			"sm_75",
			"mkdir -p * && rm -f */*.o */failed || exit\nnvcc -O3 -arch=sm_75 -Xptxas -v -c a.cu -o */0.o || exit\nnvcc -arch=sm_75 -o h */0.o -lcublas",
		},
		"library": {
			suite.Build{Recipe: "nvcc", Sources: []string{"it's.cu"}, Target: "h.so"},
			"sm_75",
			"mkdir -p * && rm -f */*.o */failed || exit\nnvcc -O3 -arch=sm_75 -Xptxas -v -Xcompiler -fPIC -c 'it'\\''s.cu' -o */0.o || exit\nnvcc -arch=sm_75 -shared -o h.so */0.o",
		},
		"cmake": {
			suite.Build{Recipe: "cmake", Target: "h", Flags: "-DTILE=8", Arch: []string{"sm_80", "sm_89"}},
			"",
			`cmake -S . -B build --no-warn-unused-cli -DCMAKE_BUILD_TYPE=Release '-DCMAKE_CUDA_ARCHITECTURES=80;89' -DTILE=8 && cmake --build build --target h -j "$PAWL_JOBS"`,
		},
		"cmake without a device": {suite.Build{Recipe: "cmake", Folder: "out"}, "", `cmake -S . -B out --no-warn-unused-cli -DCMAKE_BUILD_TYPE=Release && cmake --build out -j "$PAWL_JOBS"`},
		"make":                   {suite.Build{Recipe: "make", Target: "h", Flags: "TILE=8"}, "sm_89", `make -j"$PAWL_JOBS" h ARCH=sm_89 TILE=8`},
		"make without a device":  {suite.Build{Recipe: "make"}, "", `make -j"$PAWL_JOBS"`},
	} {
		c.spec.Env = bare(t)
		r, err := Compose(c.spec, Location{Dir: dir, Arch: c.arch})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := r.Command
		if strings.HasPrefix(r.Scratch, scratchRoot) {
			got = strings.ReplaceAll(got, r.Scratch, "*")
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestComposeRefuses(t *testing.T) {
	dir := files(t, map[string]string{"a.cu": "", "b.cu": ""})
	for want, spec := range map[string]suite.Build{
		`unknown recipe "ninja"`:                 {Recipe: "ninja"},
		"no NVIDIA GPU here":                     {Recipe: "nvcc", Sources: []string{"a.cu"}, Target: "h"},
		`no file matches "z*.cu"`:                {Recipe: "nvcc", Sources: []string{"z*.cu"}, Target: "h"},
		"built from one source":                  {Recipe: "nvcc", Sources: []string{"*.cu"}, Target: "h.cubin", Arch: []string{"sm_80"}},
		"one architecture":                       {Recipe: "nvcc", Sources: []string{"a.cu"}, Target: "h.ptx", Arch: []string{"sm_80", "sm_90"}},
		"ends in .so":                            {Recipe: "torch", Sources: []string{"a.cu"}, Target: "h"},
		"one source folder":                      {Recipe: "cmake", Sources: []string{"a", "b"}},
		"must be a folder inside the suite":      {Recipe: "cmake", Folder: "../b"},
		"relative to the suite":                  {Recipe: "nvcc", Sources: []string{"/etc/*.cu"}, Target: "h", Arch: []string{"sm_80"}},
		"only one architecture, which it passes": {Recipe: "make", Arch: []string{"sm_80", "sm_90"}},
		"needs sources and a ta":                 {Recipe: "nvcc", Target: "h"},
	} {
		spec.Env = bare(t)
		_, err := Compose(spec, Location{Dir: dir})
		if e, ok := errors.AsType[*SpecError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v (%v), want %q", err, e, want)
		}
	}
}

// A build with other flags never finds the objects of this one.
func TestScratchIsOfOneBuild(t *testing.T) {
	dir := files(t, map[string]string{"a.cu": ""})
	seen := map[string]bool{}
	for _, spec := range []suite.Build{{Flags: "-DT=1"}, {Flags: "-DT=2"}, {Flags: "-DT=1", Arch: []string{"sm_80"}}, {Flags: "-DT=1", Target: "other"}} {
		spec.Recipe, spec.Sources, spec.Env = "nvcc", []string{"a.cu"}, bare(t)
		if spec.Target == "" {
			spec.Target = "h"
		}
		r, err := Compose(spec, Location{Dir: dir, Arch: "sm_89"})
		if err != nil || seen[r.Scratch] || r.Scratch == "" {
			t.Errorf("%+v: scratch %q, %v", spec, r.Scratch, err)
		}
		seen[r.Scratch] = true
	}
}

func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
}

// compose and build with the compiler cache of the test alone.
func buildSpec(t *testing.T, dir string, spec suite.Build, arch string) (Result, error) {
	t.Helper()
	t.Setenv("CCACHE_DIR", filepath.Join(dir, ".ccache"))
	r, err := Compose(spec, Location{Dir: dir, Arch: arch})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	return Make(t.Context(), r, &log)
}

const kernels = `extern "C" __global__ void scale(float *x, float a) { x[threadIdx.x] *= a; }
#ifdef MAIN
int helper(void);
int main(void) { return helper(); }
#endif
`

func TestNvcc(t *testing.T) {
	if testing.Short() {
		t.Skip("nvcc is slow")
	}
	needs(t, "nvcc")
	dir := files(t, map[string]string{
		"k.cu": kernels, "h.cu": "int helper(void) { return 0; }\n", "bad.cu": "__global__ void f(float *x) {\n\tx[0] = undefined_fn(1);\n}\n",
		"big.cu": "__global__ void f(float *x) { __shared__ float s[20000]; s[threadIdx.x] = x[0]; __syncthreads(); x[0] = s[1]; }\n",
	})
	for name, spec := range map[string]suite.Build{
		"program": {Sources: []string{"[kh].cu"}, Target: "prog", Flags: "-DMAIN", Jobs: 2},
		"cubin":   {Sources: []string{"k.cu"}, Target: "k.cubin"},
		"library": {Sources: []string{"k.cu"}, Target: "k.so"},
	} {
		spec.Recipe = "nvcc"
		res, err := buildSpec(t, dir, spec, "sm_80")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(res.Log, "'scale' for 'sm_80'") {
			t.Errorf("%s: ptxas told nothing of the kernel:\n%s", name, res.Log)
		}
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "prog")).CombinedOutput(); err != nil {
		t.Errorf("the program does not run: %v %s", err, out)
	}

	_, err := buildSpec(t, dir, suite.Build{Recipe: "nvcc", Sources: []string{"h.cu", "bad.cu"}, Target: "p", Jobs: 2}, "sm_80")
	e, ok := errors.AsType[*Error](err)
	if !ok || e.First == nil || e.First.Where() != "bad.cu:2" || !strings.Contains(err.Error(), "    2 |  x[0] = undefined_fn(1);") {
		t.Errorf("%v", err)
	}
	_, err = buildSpec(t, dir, suite.Build{Recipe: "nvcc", Sources: []string{"big.cu"}, Target: "big.cubin"}, "sm_80")
	if err == nil || !strings.Contains(err.Error(), "too much shared data") || !strings.Contains(err.Error(), "fix: the kernel declares 0x13880 bytes") {
		t.Errorf("%v", err)
	}
	_, err = buildSpec(t, dir, suite.Build{Recipe: "nvcc", Sources: []string{"k.cu"}, Target: "k2.cubin"}, "sm_999")
	if err == nil || !strings.Contains(err.Error(), "fix: this CUDA toolkit does not support sm_999") {
		t.Errorf("%v", err)
	}
}

const cmakeLists = `cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES C)
add_executable(prog main.c part.c)
target_compile_definitions(prog PRIVATE TILE=${TILE})
`

func TestCMake(t *testing.T) {
	needs(t, "cmake", "cc")
	dir := files(t, map[string]string{
		"CMakeLists.txt": cmakeLists, "main.c": "int part(void);\nint main(void) { return part(); }\n", "part.c": "int part(void) { return TILE; }\n",
	})
	res, err := buildSpec(t, dir, suite.Build{Recipe: "cmake", Target: "prog", Flags: "-DTILE=7", Outputs: []string{"build/prog"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	err = exec.CommandContext(t.Context(), filepath.Join(dir, "build", "prog")).Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
		t.Errorf("the program: %v", err)
	}
	if _, err := exec.LookPath("ccache"); err == nil && res.Ccache.Misses != 2 {
		t.Errorf("ccache did %+v, want 2 misses", res.Ccache)
	}
	_, err = buildSpec(t, dir, suite.Build{Recipe: "cmake", Target: "prog", Flags: "-DTILE=x+", Outputs: []string{"build/prog"}}, "")
	if e, ok := errors.AsType[*Error](err); !ok || e.First == nil || filepath.Base(e.First.File) != "part.c" || !strings.Contains(err.Error(), "| int part(void) { return TILE; }") {
		t.Errorf("%v", err)
	}
	_, err = buildSpec(t, dir, suite.Build{Recipe: "cmake", Sources: []string{"nowhere"}, Outputs: []string{"build/prog"}}, "")
	if e, ok := errors.AsType[*Error](err); !ok || e.First == nil {
		t.Errorf("%v", err)
	}
}

// A Makefile that uses $(CC) gets the compiler cache, one that names its compiler
// keeps it.
func TestMakeAndCcache(t *testing.T) {
	needs(t, "make", "cc", "ccache")
	for makefile, want := range map[string]int{
		"p: m.o\n\t$(CC) -o $@ m.o\nm.o: m.c\n\t$(CC) -c -o $@ m.c\n":          1,
		"CC = cc\np: m.o\n\t$(CC) -o $@ m.o\nm.o: m.c\n\t$(CC) -c -o $@ m.c\n": 0,
	} {
		dir := files(t, map[string]string{"Makefile": makefile, "m.c": "int main(void) { return 0; }\n"})
		res, err := buildSpec(t, dir, suite.Build{Recipe: "make", Target: "p", Outputs: []string{"p"}}, "")
		if err != nil {
			t.Fatal(err)
		}
		if res.Ccache.Misses != want {
			t.Errorf("ccache did %+v for\n%s", res.Ccache, makefile)
		}
	}
}

const extension = `#include <torch/extension.h>
torch::Tensor twice(torch::Tensor x) { return x * 2; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
`

// pythonWithTorch finds an interpreter with torch and the headers for extensions.
func pythonWithTorch(t *testing.T) string {
	t.Helper()
	const includes = `import importlib.util, os, sysconfig
found = importlib.util.find_spec("torch") # importing it takes seconds
assert found and os.path.exists(os.path.join(os.path.dirname(found.origin), "include", "torch", "extension.h"))
from torch.utils import cpp_extension
print(" ".join("-I" + p for p in cpp_extension.include_paths() + [sysconfig.get_paths()["include"]]))`
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		out, err := exec.CommandContext(t.Context(), python, "-c", includes).Output()
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "c++", append(strings.Fields(string(out)), "-std=c++17", "-E", "-x", "c++", "-")...)
		cmd.Stdin = strings.NewReader("#include <torch/extension.h>\n")
		if cmd.Run() == nil {
			return python
		}
	}
	t.Skip("no python3 here has torch with its headers")
	return ""
}

func TestTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("torch is slow")
	}
	needs(t, "ninja", "c++")
	python := pythonWithTorch(t)
	dir := files(t, map[string]string{"ext.cpp": extension})
	res, err := buildSpec(t, dir, suite.Build{Recipe: "torch", Sources: []string{"ext.cpp"}, Target: "ext.so", Env: map[string]string{"PYTHON": python}}, "")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", "import torch, ext; assert ext.twice(torch.ones(2)).sum() == 4")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the extension does not load: %v\n%s", err, out)
	}
	t.Logf("built in %.0f s, ccache %+v", res.Facts.Seconds, res.Ccache)
}

func TestCapability(t *testing.T) {
	for arch, want := range map[string]string{"sm_89": "8.9", "sm_90a": "9.0a", "sm_120": "12.0", "odd": "odd"} {
		if got := capability(arch); got != want {
			t.Errorf("%s is %s, want %s", arch, got, want)
		}
	}
}
