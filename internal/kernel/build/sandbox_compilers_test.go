package build

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// What a recipe makes on the way has its place in the sandbox too.
func TestSandboxRecipe(t *testing.T) {
	s := sandbox(t)
	if _, err := exec.LookPath("nvcc"); err != nil {
		t.Skip(err)
	}
	dir := sources(t, map[string]string{
		"a.cu": "__global__ void k(float *x) { x[threadIdx.x] *= 2; }\nvoid go() { k<<<1, 32>>>(nullptr); }\n",
		"b.cu": "void go();\nint main() { go(); }\n",
	})
	r, err := Compose(suite.Build{Recipe: "nvcc", Sources: []string{"*.cu"}, Target: "program", Arch: []string{"sm_80"}, Timeout: 5 * time.Minute}, Location{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r.Sandbox = s
	facts, err := Run(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(facts.Outputs) != 1 || facts.Outputs[0].Path != "program" {
		t.Errorf("it made %v", facts.Outputs)
	}
}

// The compilers that kernels are built with work in the sandbox, on the examples.
func TestSandboxBuilds(t *testing.T) {
	s := sandbox(t)
	repo := t.TempDir()
	for _, folder := range []string{"examples/matmul-c", "examples/attention-cuda", "examples/reduce-opencl", "sdk/cpp"} {
		if err := os.CopyFS(filepath.Join(repo, folder), os.DirFS(filepath.Join("../../..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(repo, "cmake"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".gitignore":           "harness\nbuild/\n",
		"cmake/CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(kernels C)\nadd_executable(harness main.c)\n",
		"cmake/main.c":         "int main(void) { return 0; }\n",
	} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commitAll(t, repo)
	for name, test := range map[string]struct {
		dir, command, output string
		tools                []string
		runs                 bool // what was built can be run here
	}{
		"gcc":    {"examples/matmul-c", "make harness", "harness", []string{"cc", "make"}, false},
		"ccache": {"examples/matmul-c", "make harness CC='ccache cc'", "harness", []string{"cc", "make", "ccache"}, false},
		"opencl": {"examples/reduce-opencl", "make harness", "harness", []string{"cc", "make", "clinfo"}, false},
		"nvcc":   {"examples/attention-cuda", "make harness NVCCFLAGS=-O1", "harness", []string{"nvcc", "make"}, false},
		"cmake":  {"cmake", "cmake -G Ninja -B build -S . && cmake --build build", "build/harness", []string{"cmake", "ninja", "cc"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, tool := range test.tools {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skip(err)
				}
			}
			var log bytes.Buffer
			r := Recipe{Command: test.command, Dir: filepath.Join(repo, test.dir), Outputs: []string{test.output}, Timeout: 5 * time.Minute, Sandbox: s}
			facts, err := Run(t.Context(), r, &log)
			if err != nil {
				t.Fatalf("%v\n%s", err, log.String())
			}
			if len(facts.Outputs) != 1 {
				t.Errorf("it made %v", facts.Outputs)
			}
			if test.runs {
				if err := exec.Command(filepath.Join(r.Dir, test.output)).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
