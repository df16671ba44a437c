package discover

import (
	"regexp"
	"testing"
	"testing/fstest"
)

// onlyOurs are the characters of the commands that we make: letters, the safe ones
// of names, and those that stand in our own words.
var onlyOurs = regexp.MustCompile(`^[A-Za-z0-9_.,+@=/ -]*( && |'\^\$')?[A-Za-z0-9_.,+@=/ -]*$`)

// Whatever the files of a repository hold, looking ends, every suite is valid, and
// nothing of the files reaches a shell but plain names.
func FuzzLook(f *testing.F) {
	f.Add("harness: harness.c\n\tcc -o $@ $<", "add_executable(x harness.c)", "build x: cc harness.c", harnessC)
	f.Add("%: %.c", "set(S harness.c)\nadd_executable(x ${S})", "", "#include <benchmark/benchmark.h>")
	f.Add("A=$(A:.c=.o)\n$(A): ${B", "project(x)\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/../..)", "build $x: y z", "#include \"pawl.h\"\npawl_main()")
	f.Add("a;b: harness.c", "add_executable($(id) harness.c)", "build `id`: cc harness.c", "#include <nvbench/nvbench.cuh>")
	f.Add("CFLAGS = -O2 $(shell id)", "option(BENCH \"b\" OFF)", "", "int main() { clock_gettime(); printf(\"n %d: %f ms\\n\"); }")
	f.Add("", "", "", "@triton.testing.perf_report(Benchmark(['N'], [2**i for i in range(9)], 'p', ['a'], [], '', {}))\ndef b(N, p): do_bench(f)\nb.run()")
	f.Add("", "", "", "tune_params['x'] = [1, 2]\ntune_kernel('k')\n@triton.autotune(configs=[Config({'B': b}) for b in [1, 2]])\ndef k(): pass\ntimeit.repeat('x')")
	f.Fuzz(func(t *testing.T, makefile, cmake, ninja, source string) {
		fsys := fstest.MapFS{
			"Makefile": {Data: []byte(makefile)}, "CMakeLists.txt": {Data: []byte(cmake)}, "build.ninja": {Data: []byte(ninja)},
			"harness.c": {Data: []byte(source)}, "sub/bench.cu": {Data: []byte(source)}, "sub/harness.py": {Data: []byte(source)},
			"a_test.go": {Data: []byte(source)}, "sub/test_a.py": {Data: []byte(source)}, "Cargo.toml": {Data: []byte(source)},
		}
		survey, err := Scan(fsys)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range survey.Sightings {
			if _, err := Compose("s", x, nil); err != nil {
				t.Errorf("%s: %v", x.Source, err)
			}
			for _, words := range append([]string{x.Build.Command, x.Harness.Command, x.Harness.Output}, x.Build.Outputs...) {
				if !onlyOurs.MatchString(words) {
					t.Errorf("%s: %q would reach a shell", x.Source, words)
				}
			}
		}
		if x, err := survey.Choose("", nil); err == nil {
			if _, err := Compose("s", x, nil); err != nil {
				t.Errorf("%s: %v", x.Source, err)
			}
		}
		_ = survey.Explain()
	})
}
