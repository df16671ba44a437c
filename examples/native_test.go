// Package examples_test builds the examples in C, OpenCL and CUDA as a user would
// and asks each harness for every case of its suite.
package examples_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/sdk/conformance"
)

// workspace copies an example, so that tests leave nothing in the tree.
func workspace(t *testing.T, example string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), example)
	if err := os.CopyFS(folder, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// makeTarget runs make in an example; warnings fail the test.
func makeTarget(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	tools, err := filepath.Abs("../sdk/cpp")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("make")
	if err != nil {
		t.Skip("there is no make here")
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"-s", "PAWL_SDK=" + tools}, arguments...)...)
	cmd.Dir = folder
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("make %s: %v\n%s%s", strings.Join(arguments, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

// measureCases prepares and measures every case of the example's suite.
func measureCases(t *testing.T, folder string, env ...string) {
	t.Helper()
	s, err := suite.Load(filepath.Join(folder, "pawl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{`> {"id":1,"op":"hello","protocol":[1]}`, `< {"id":1,"op":"hello","protocol":1}`}
	for _, c := range s.Cases() {
		params, err := json.Marshal(c.Params.Map())
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines,
			fmt.Sprintf(`> {"id":2,"op":"prepare","benchmark":%q,"implementation":%q,"params":%s,"timer":%q,"cache":%q,"seed":"1","bytes":%v}`,
				c.Benchmark, c.Implementation, params, c.Timer, cmp.Or(c.Cache, measure.Hot), c.Bytes),
			fmt.Sprintf(`< {"id":2,"op":"prepare","timer":%q,"error":"<absent>"}`, c.Timer),
			`> {"id":3,"op":"measure","samples":2}`,
			`< {"id":3,"op":"measure","count":2,"samples":"<numbers 2>"}`)
	}
	transcript, err := conformance.Parse("suite.txt", strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	h := conformance.Harness{Command: []string{filepath.Join(folder, "harness")}, Dir: folder, Env: env}
	if err := conformance.Play(t.Context(), h, transcript); err != nil {
		t.Error(err)
	}
}

func TestMatmul(t *testing.T) {
	t.Parallel()
	folder := workspace(t, "matmul-c")
	const strict = "CFLAGS=-O3 -march=native -Wall -Wextra -Wpedantic -Werror"
	for _, blocks := range []string{"BLOCK_M=7 BLOCK_N=16 BLOCK_K=5", ""} { // the last one is what is measured
		if got := makeTarget(t, folder, append(strings.Fields(blocks), strict, "check")...); !strings.HasPrefix(got, "0 wrong") {
			t.Errorf("%s: %s", blocks, got)
		}
	}
	measureCases(t, folder)
}

func TestAttention(t *testing.T) {
	t.Parallel()
	folder := workspace(t, "attention-c")
	makeTarget(t, folder, "CFLAGS=-O3 -march=native -Wall -Wextra -Werror -Wno-psabi", "all")
	measureCases(t, folder)
}

func TestReduceOpenCL(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "clinfo", "-l").Output(); err != nil || len(out) == 0 {
		t.Skip("there is no OpenCL device here, or no clinfo to ask")
	}
	folder := workspace(t, "reduce-opencl")
	for _, group := range []string{"16", "64"} {
		makeTarget(t, folder, "GROUP="+group, "CFLAGS=-O2 -Wall -Wextra -Wpedantic -Werror", "harness")
		measureCases(t, folder, "POCL_CACHE_DIR="+t.TempDir())
	}
}

// The kernels run on the virtual GPU, which is right but slow: at a small shape, not at those of the suite.
func TestAttentionOnTheVirtualGPU(t *testing.T) {
	t.Parallel()
	folder := workspace(t, "attention-cuda")
	nvcc, err := filepath.Abs("../sdk/virtualgpu/nvcc")
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []string{"ROWS=32 KEYS=8", ""} {
		if got := makeTarget(t, folder, append(strings.Fields(shape), "NVCC="+nvcc, "NVCCFLAGS=-O2", "check")...); !strings.HasPrefix(got, "0 wrong") {
			t.Errorf("%s: %s", shape, got)
		}
	}
	const prepare = `> {"id":2,"op":"prepare","benchmark":"attention","implementation":"%s","params":{"B":1,"H":2,"S":65,"D":%d},"timer":"device","cache":"cold","seed":"1"}`
	transcript, err := conformance.Parse("attention.txt", strings.NewReader(strings.Join([]string{
		`> {"id":1,"op":"hello","protocol":[1]}`, `< {"id":1,"op":"hello","protocol":1}`,
		`> {"id":2,"op":"cases"}`,
		`< {"id":2,"op":"cases","benchmarks":[{"name":"attention","implementations":["candidate","naive"],"configs":[{"B":32,"H":8,"S":128,"D":64},{"S":256},{"S":512},{"S":1024}]}]}`,
		fmt.Sprintf(prepare, "candidate", 64), `< {"id":2,"op":"prepare","timer":"device"}`,
		`> {"id":3,"op":"measure","samples":2}`, `< {"id":3,"op":"measure","count":2,"samples":"<numbers 2>"}`,
		fmt.Sprintf(prepare, "naive", 64), `< {"id":2,"op":"prepare","timer":"device"}`,
		`> {"id":3,"op":"measure","samples":2}`, `< {"id":3,"op":"measure","count":2,"samples":"<numbers 2>"}`,
		fmt.Sprintf(prepare, "candidate", 80), `< {"id":2,"op":"prepare","error":{"code":"unsupported","message":"<string D=64>"}}`,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if err := conformance.Play(t.Context(), conformance.Harness{Command: []string{filepath.Join(folder, "harness")}}, transcript); err != nil {
		t.Error(err)
	}
}

func TestAttentionCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("nvcc is slow")
	}
	t.Parallel()
	if _, err := exec.LookPath("nvcc"); err != nil {
		t.Skip("there is no nvcc here")
	}
	for _, arch := range []string{"sm_80", "sm_89", "sm_90"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			if arch != "sm_89" {
				testrun.NightlyOnly(t)
			}
			makeTarget(t, workspace(t, "attention-cuda"), "ARCH="+arch, "NVCCFLAGS=-O3 -Xcompiler -Wall,-Wextra", "harness")
		})
	}
}

// What a suite says must agree with what its harness brings: a typing error in either would stay unseen otherwise.
func TestSuitesLoad(t *testing.T) {
	for example, cases := range map[string]int{"matmul-c": 2, "reduce-opencl": 2, "attention-cuda": 8, "attention-c": 3, "softmax-cmake": 2} {
		s, err := suite.Load(filepath.Join(example, "pawl.yaml"))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := len(s.Cases()); got != cases {
			t.Errorf("%s has %d cases, want %d", example, got, cases)
		}
	}
}
