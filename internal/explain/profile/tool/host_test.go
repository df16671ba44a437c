package tool

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("there is no %s here", p)
		}
	}
}

// hostTarget builds testdata/host.c and makes a target of one of its benchmarks. The
// folder has a space, a quote, brackets and a percent sign in its name: command lines
// must survive all of them.
func hostTarget(t *testing.T, benchmark string, n int, flags ...string) Target {
	t.Helper()
	need(t, "gcc")
	dir := filepath.Join(t.TempDir(), "it's a folder [50 %p]")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O1", "-I../../../../sdk/cpp", "-o", filepath.Join(dir, "harness"), "testdata/host.c"}, flags...)
	if out, err := exec.CommandContext(t.Context(), "gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, out)
	}
	return Target{
		Command: harness.Command{Line: "./harness", Dir: dir},
		Hello:   harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.CPU}},
		Prepare: harness.Prepare{Benchmark: benchmark, Implementation: "candidate", Params: map[string]any{"n": n}, Cache: measure.Hot, Timer: measure.TimerCPU, Seed: 1},
		Warmup:  5, Exact: true, Cache: measure.Hot, Dir: dir, Stem: "sum_n", Timeout: 5 * time.Minute,
	}
}

// What callgrind counts is the kernel: no set-up, no warm-up, and the same each time.
func TestCallgrindCountsTheKernelAlone(t *testing.T) {
	t.Parallel()
	need(t, "valgrind")
	const n = 20_000
	target := hostTarget(t, "sum", n)
	first, err := Callgrind(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	l, ok := first.Profile.Main()
	if facts := l.Facts(); !ok || l.Kernel != "sum_up" || facts["host_instructions"] < 3*n || facts["host_instructions"] > 8*n ||
		facts["host_reads"] < n || facts["host_reads"] > 1.1*n || facts["host_branches"] < n || facts["host_branches"] > 1.1*n {
		t.Errorf("kernel %q, %v", l.Kernel, facts)
	}
	second, err := Callgrind(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Profile, second.Profile); diff != "" {
		t.Errorf("two counts differ: %s", diff)
	}
	if len(second.Files) != 1 {
		t.Errorf("files %q", second.Files)
	}
	if left := filesWithPrefix(filepath.Join(target.Dir, "sum_n")); !cmp.Equal(left, second.Files) {
		t.Errorf("it left %q", left)
	}
}

func TestCallgrindSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	need(t, "valgrind", "gcc")
	launched := Target{Command: harness.Command{Line: "launcher"}, Prepare: harness.Prepare{Benchmark: "sum", Implementation: "candidate", Launch: &harness.Launch{Kind: "host"}}}
	stripped := hostTarget(t, "sum", 100, "-s")
	missing := hostTarget(t, "sum", 100)
	missing.Command.Line = "./nothing-here"
	refused := hostTarget(t, "sum", 100)
	refused.Prepare.Params = nil
	for name, tt := range map[string]struct {
		target Target
		want   []string
	}{
		"a kernel of the launcher":      {launched, []string{"profiling sum (candidate) with callgrind", "confines"}},
		"a binary without symbols":      {stripped, []string{"the function pawl_profiled did not run", "without -s"}},
		"no program":                    {missing, []string{"crashed", "is it built", "run it by hand, without the tool: cd '", `it'\''s a folder [50 %p]' && ./nothing-here`}},
		"a case that cannot be set up":  {refused, []string{"refused", "prepare sum"}},
		"instructions that are unknown": {hostTarget(t, "wide", 100, "-mavx512f"), []string{"valgrind cannot run AVX-512 instructions, which the program uses in ", "-mno-avx512f"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Callgrind(t.Context(), tt.target)
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("have %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("have %v\nwant %q", err, want)
				}
			}
		})
	}
}

// Events of the kernel are there on every Linux, counters of the processor are not: these show that counting
// starts and ends where it should.
func TestPerfCountsTheKernelAlone(t *testing.T) {
	t.Parallel()
	need(t, "perf")
	target := hostTarget(t, "sum", 2_000_000)
	var r Result
	var l profile.Launch
	for try := range 5 { // what a busy machine does between two counts can hide one run
		var err error
		if r, err = Perf(t.Context(), PerfOptions{Events: []string{"task-clock", "page-faults"}}, target); err != nil {
			t.Fatal(err)
		}
		var ok bool
		l, ok = r.Profile.Main()
		facts := l.Facts()
		// One run is some milliseconds; set-up is fifty times that, and warm-up five times.
		if ok && l.Kernel == "sum" && facts["time_ns"] >= 0.2e6 && facts["time_ns"] <= 60e6 {
			break
		}
		if try == 4 {
			t.Errorf("kernel %q, %v", l.Kernel, facts)
		}
	}
	for _, m := range l.Metrics { // its memory was touched before
		if m.Name == "page-faults" && *m.Value > 20 {
			t.Errorf("%v page faults in a run", *m.Value)
		}
	}
	if r.Profile.Tool.Name != "perf" || r.Profile.Tool.Version == "" {
		t.Errorf("tool %+v", r.Profile.Tool)
	}
}

func TestPerfWithoutCounters(t *testing.T) {
	t.Parallel()
	need(t, "perf")
	why := PerfReady(t.Context())
	_, err := Perf(t.Context(), PerfOptions{}, hostTarget(t, "sum", 1000))
	if why == nil && err != nil {
		t.Errorf("this machine has counters, and yet: %v", err)
	}
	if why != nil && (err == nil || !strings.Contains(err.Error(), why.Error()) || !strings.Contains(err.Error(), "callgrind")) {
		t.Errorf("have %v, want %v", err, why)
	}
}

// An interrupted count is not a profile, and its log is not read.
func TestCallgrindThatIsStoppedLeavesNothing(t *testing.T) {
	t.Parallel()
	need(t, "valgrind")
	target := hostTarget(t, "sum", 100)
	target.Command.Line = "./nothing-here"
	if _, err := Callgrind(t.Context(), target); err == nil {
		t.Error("it counted what is not there")
	}
	if left := filesWithPrefix(filepath.Join(target.Dir, target.Stem)); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}
