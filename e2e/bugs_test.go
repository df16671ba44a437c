package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// seeded are the bugs of testdata/bugs, by the number that BUG has. Each is one
// that kernels really have.
var seeded = []struct {
	bug       int
	kernel    string // the file
	benchmark string
	what      string
	says      string // what pawl has to say of it; empty for anything
}{
	{1, "attention", "attention", "off by one at a tile's edge: the last key of every full tile is left out", ""},
	{2, "attention", "attention", "keys behind the end are not masked", ""},
	{3, "attention", "attention", "wrong scale: 1/D for 1/sqrt(D)", ""},
	{4, "attention", "attention", "a new maximum does not rescale what was summed", ""},
	{5, "attention", "attention", "the last, partial block of keys is missing", ""},
	{6, "attention", "attention", "softmax without its maximum overflows FP16", ""},
	{7, "attention", "attention", "batch and head swapped in the output", ""},
	{8, "attention", "attention", "FP16 accumulator", ""},
	{9, "attention", "attention", "the last, partial tile of queries is never written", "never written"},
	{10, "rows", "softmax", "NaN is swallowed", "NaN"},
	{11, "rows", "softmax", "the output is a constant", ""},
	{12, "rows", "softmax", "stale output: a cache that knows shapes, not contents", ""},
	{13, "rows", "layernorm", "BF16 by truncation, not by rounding", ""},
	{14, "rows", "layernorm", "variance in one pass: what cancels is lost", ""},
	{15, "rows", "layernorm", "the last row is that before it", ""},
	{16, "matmul", "matmul", "wrong stride: N for K", ""},
	{17, "matmul", "matmul", "the output is transposed", ""},
	{18, "matmul", "matmul", "operands in TF32, not FP32", ""},
	{19, "matmul", "matmul", "an index overflows", ""},
	{20, "vector", "total", "the order of a sum depends on who is done first", "two runs on the same inputs differ"},
	{21, "vector", "total", "reads behind the end of its input", ""},
	{22, "vector", "axpy", "writes to an input", "changed its input x"},
	{23, "vector", "twice", "writes behind the end of its output", "behind the end of the argument y"},
	{24, "vector", "twice", "denormal numbers become zero", ""},
	{25, "vector", "twice", "the sign of infinity is lost", "infinity"},
	{26, "vector", "total", "an update is lost every other time", ""},
	{27, "vector", "gather", "the last element can never be gathered", ""},
	{28, "opencl", "total", "OpenCL: the tail's mask is applied to all", ""},
	{29, "opencl", "total", "OpenCL: a half of the group is left out", ""},
}

// fuzzAnswer is what the test reads of pawl fuzz --json.
type fuzzAnswer struct {
	Benchmarks []struct {
		Benchmark string
		Points    int
		Failed    int
		Failures  []struct {
			Message string
			Command []string
			Seconds float64 // to make it small
		}
	}
}

// kernels makes a folder for each kernel; all bugs of a kernel share its build, because
// the environment chooses among them.
func kernels(t *testing.T) func(kernel string) string {
	t.Helper()
	made := map[string]string{}
	return func(kernel string) string {
		if made[kernel] != "" {
			return made[kernel]
		}
		dir := t.TempDir()
		for from, to := range map[string]string{kernel + ".c": kernel + ".c", "bugs.h": "bugs.h", kernel + ".yaml": "pawl.yaml"} {
			text, err := os.ReadFile(filepath.Join("testdata", "bugs", from))
			must(t, err)
			write(t, filepath.Join(dir, to), string(text))
		}
		withSDK(t, dir)
		made[kernel] = dir
		return dir
	}
}

func needsOpenCL(t *testing.T, kernel string) {
	t.Helper()
	if kernel != "opencl" {
		return
	}
	if out, err := exec.CommandContext(t.Context(), "clinfo", "-l").Output(); err != nil || len(out) == 0 {
		t.Skip("there is no OpenCL device here, or no clinfo to ask")
	}
}

// Every seeded bug is found and reduced. The reduced case fails again, both as the printed
// command and from the corpus. With PAWL_BUGS_TABLE, a file for the table of
// docs/lab/fuzz.md, reducing it must also take less than a minute.
func TestSeededBugs(t *testing.T) {
	needsTime(t)
	var table strings.Builder
	folder := kernels(t)
	for _, s := range seeded {
		t.Run(fmt.Sprintf("%02d-%s", s.bug, s.benchmark), func(t *testing.T) {
			if s.bug%8 != 1 && os.Getenv("PAWL_BUGS_TABLE") == "" {
				testrun.NightlyOnly(t)
			}
			needsOpenCL(t, s.kernel)
			dir := folder(s.kernel)
			must(t, os.RemoveAll(filepath.Join(dir, ".pawl")))
			t.Setenv("BUG", strconv.Itoa(s.bug))
			r := pawl(t, dir, "fuzz", "--case", s.benchmark, "--json")
			r.want(t, 1, s.says)
			var answer fuzzAnswer
			must(t, json.Unmarshal([]byte(r.stdout), &answer))
			if len(answer.Benchmarks) != 1 || len(answer.Benchmarks[0].Failures) == 0 {
				t.Fatalf("no failure is told:\n%s", r.stdout)
			}
			f := answer.Benchmarks[0].Failures[0]
			if f.Seconds > 60 && os.Getenv("PAWL_BUGS_TABLE") != "" { // measures time: make lab PAGE=fuzz
				t.Errorf("it took %.0f s to make it small", f.Seconds)
			}
			if len(f.Command) < 2 || f.Command[0] != "pawl" {
				t.Fatalf("it cannot be repeated: %q", f.Command)
			}
			pawl(t, dir, f.Command[1:]...).want(t, 1)
			pawl(t, dir, "fuzz", "--case", s.benchmark, "--replay").want(t, 1)
			fmt.Fprintf(&table, "| %d | %s | %s | `%s` | %.1f s |\n", s.bug, s.kernel, s.what, strings.Join(f.Command[4:], " "), r.took.Round(time.Second/10).Seconds())
		})
	}
	if path := os.Getenv("PAWL_BUGS_TABLE"); path != "" {
		write(t, path, table.String())
	}
}

// The same kernels without a bug pass.
func TestNoBugs(t *testing.T) {
	needsTime(t)
	folder := kernels(t)
	for _, kernel := range []string{"matmul", "opencl", "attention", "rows", "vector"} {
		t.Run(kernel, func(t *testing.T) {
			if kernel != "matmul" && kernel != "opencl" {
				testrun.NightlyOnly(t)
			}
			needsOpenCL(t, kernel)
			pawl(t, folder(kernel), "fuzz").want(t, 0)
		})
	}
}
