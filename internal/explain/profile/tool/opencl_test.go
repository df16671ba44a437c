package tool

import (
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

// The example of the repository, on whatever OpenCL device there is.
func TestOpenCLEvents(t *testing.T) {
	t.Parallel()
	need(t, "gcc")
	dir, err := filepath.Abs("../../../../examples/reduce-opencl")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "harness")
	if out, err := exec.CommandContext(t.Context(), "gcc", "-O2", "-I../../../../sdk/cpp", "-o", program, filepath.Join(dir, "harness.c"), "-lOpenCL").CombinedOutput(); err != nil {
		t.Skipf("there is no OpenCL to link here: %v\n%.300s", err, out)
	}
	target := Target{
		Command: harness.Command{Line: program, Dir: dir, Env: []string{"POCL_CACHE_DIR=" + t.TempDir()}},
		Hello:   harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.CPU}},
		Prepare: harness.Prepare{Benchmark: "reduce", Implementation: "candidate", Params: map[string]any{"N": 65536}, Cache: measure.Hot, Timer: measure.TimerDevice, Seed: 1},
		Warmup:  2, Cache: measure.Hot, Dir: t.TempDir(), Stem: "reduce", Timeout: 5 * time.Minute,
	}
	r, err := OpenCL(t.Context(), target)
	if err != nil && strings.Contains(err.Error(), "no OpenCL device") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, _ := r.Profile.Main()
	facts := l.Facts()
	if !strings.Contains(l.Kernel, "reduce") && !strings.Contains(l.Kernel, "sum") || facts["time_ns"] <= 0 || facts["launches"] != 1 || facts["block_size"] != 128 || facts["grid_size"] < 1 {
		t.Errorf("kernel %q, %v", l.Kernel, facts)
	}
	for _, name := range []string{"queued_ns", "submit_ns"} {
		if _, ok := facts[name]; !ok {
			t.Errorf("no %s in %v", name, facts)
		}
	}
}

func TestAHarnessWithoutLaunches(t *testing.T) {
	t.Parallel()
	_, err := OpenCL(t.Context(), hostTarget(t, "sum", 100))
	if err == nil || !strings.Contains(err.Error(), "reports no launch") {
		t.Errorf("have %v", err)
	}
}

func TestTimelines(t *testing.T) {
	t.Parallel()
	first := harness.LaunchTimes{Kernel: "a", Queued: 0, Submit: 10, Start: 110, End: 1110, Global: []int{100, 2}, Local: []int{64, 1}}
	// Submitted early, it waits for the first and then for 40 ns more.
	second := harness.LaunchTimes{Kernel: "b", Queued: 5, Submit: 20, Start: 1150, End: 1450, Global: []int{8}}
	third := second
	third.Start, third.End = 1450, 1850
	slow := first
	slow.End = 9110
	got := map[string]profile.Facts{}
	p := timelines([][]harness.LaunchTimes{{first, second, third}, {slow}, {first, second, third}})
	for _, l := range p.Launches {
		got[l.Kernel] = l.Facts()
	}
	want := map[string]profile.Facts{
		"a": {"time_ns": 1000, "queued_ns": 10, "submit_ns": 100, "launches": 1, "block_size": 64, "grid_size": 4, "threads": 256},
		"b": {"time_ns": 400, "queued_ns": 15, "submit_ns": 40, "gap_ns": 40, "launches": 4. / 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if l, _ := p.Main(); l.Kernel != "a" {
		t.Errorf("the main launch is %q", l.Kernel)
	}
}
