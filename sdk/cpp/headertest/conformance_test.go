package headertest_test

import (
	"testing"

	"github.com/goatnote-inc/pawl/sdk/conformance"
)

var strict = []string{"-Wall", "-Wextra", "-Wpedantic", "-Werror"}

// The header must be clean wherever a user puts it: -Werror is common.
func TestCompilesWithoutWarnings(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang-15", "g++", "clang++-15"} {
		standards := []string{"c99", "c11", "c17", "gnu99"}
		language := "c"
		if compiler == "g++" || compiler == "clang++-15" {
			standards, language = []string{"c++11", "c++17", "c++20"}, "c++"
		}
		for _, standard := range standards {
			t.Run(compiler+"/"+standard, func(t *testing.T) {
				t.Parallel()
				build(t, compiler, "../conformance.c", append(strict, "-x"+language, "-std="+standard, "-O1")...)
			})
		}
	}
}

// Without optimisation nothing is folded away: what pawl.h needs must be in libc.
func TestNeedsNoLibrary(t *testing.T) {
	t.Parallel()
	build(t, "gcc", "../conformance.c")
}

func TestConformance(t *testing.T) {
	for name, flags := range map[string][]string{
		"sanitized":     sanitized,
		"C++":           {"-xc++", "-O2", "-lstdc++"},
		"no exceptions": {"-xc++", "-O2", "-fno-exceptions", "-lstdc++"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.Test(t, harness(build(t, "gcc", "../conformance.c", flags...)))
		})
	}
	t.Run("CUDA on the virtual GPU", func(t *testing.T) {
		t.Parallel()
		conformance.Test(t, harness(build(t, "../../virtualgpu/nvcc", "../conformance.c", "-O2"), "VGPU_CLOCK=real"))
	})
	t.Run("OpenCL", func(t *testing.T) {
		t.Parallel()
		conformance.Test(t, harness(buildOpenCL(t, "../conformance.c", "-DPAWL_OPENCL"), openCLEnv(t)...))
	})
}
