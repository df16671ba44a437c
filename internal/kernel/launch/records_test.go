package launch_test

import (
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// withCUPTI starts the launcher on a virtual GPU of 1000 MHz, with a library in the place of CUPTI.
func withCUPTI(t *testing.T, library string, env ...string) virtual {
	t.Helper()
	need(t, "cc")
	dir := t.TempDir()
	text, err := exec.CommandContext(t.Context(), "cc", "-std=gnu11", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I"+virtualModel,
		"-o", filepath.Join(dir, "libcupti.so.13"), library).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return virtualGPU(t, append(env, "VGPU_MHZ=1000", "LD_LIBRARY_PATH="+dir+":"+cache)...)
}

const virtualCUPTI = virtualModel + "/cupti.c"

func (v virtual) prepareBy(t *testing.T, timer measure.Timer, cycles float64, dependent bool) (harness.Prepared, error) {
	t.Helper()
	return v.Prepare(t.Context(), harness.Prepare{
		Benchmark: "timed", Cache: measure.Hot, Timer: timer, Seed: 3, Arguments: timedArguments(cycles),
		Launch: &harness.Launch{Kind: launch.CUDA, File: v.image, Kernel: "timed", Grid: [3]int{1, 1, 1}, Block: [3]int{128, 1, 1}, Dependent: dependent},
	})
}

func (v virtual) medianBy(t *testing.T, timer measure.Timer, cycles float64) (ns, quantum float64) {
	t.Helper()
	p, err := v.prepareBy(t, timer, cycles, false)
	if err != nil {
		t.Fatal(err)
	}
	m, err := v.Measure(t.Context(), "timed", harness.Measure{Samples: 9})
	if err != nil {
		t.Fatal(err)
	}
	return stats.Median(m.Samples), p.Quantum
}

func TestKernelTimer_LeavesOutTheGaps(t *testing.T) {
	v := withCUPTI(t, virtualCUPTI, "VGPU_CARD=L4", "VGPU_BREAK=gaps")
	if !slices.Equal(v.Welcome.Timers, []measure.Timer{measure.TimerDevice, measure.TimerWall, measure.TimerKernel}) {
		t.Errorf("timers %v", v.Welcome.Timers)
	}
	for _, ns := range []float64{2e3, 5e3, 15e3} {
		got, step := v.medianBy(t, measure.TimerKernel, ns)
		if step != 32 || math.Abs(got-ns) > step+0.005*ns {
			t.Errorf("a kernel of %v ns is recorded as %v in steps of %v", ns, got, step)
		}
		if by, step := v.medianBy(t, measure.TimerDevice, ns); step != 1024 || by < ns+5e3 {
			t.Errorf("events around a kernel of %v ns and gaps of 10 us tell %v in steps of %v", ns, by, step)
		}
	}
	if _, err := v.Prepare(t.Context(), harness.Prepare{Benchmark: harness.CalibrationBenchmark, Cache: measure.Cold, Timer: measure.TimerKernel}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Measure(t.Context(), "calibration", harness.Measure{Samples: 5}); err != nil {
		t.Error(err)
	}
}

// Without CUPTI nothing is measured by another clock instead.
func TestKernelTimer_NeedsCUPTI(t *testing.T) {
	v := withCUPTI(t, "testdata/gpu.c") // has none of its functions
	if slices.Contains(v.Welcome.Timers, measure.TimerKernel) {
		t.Errorf("timers %v", v.Welcome.Timers)
	}
	_, err := v.prepareBy(t, measure.TimerKernel, 2e3, false)
	if e, ok := errors.AsType[*harness.Error](err); !ok || e.Code != "unsupported" || !strings.Contains(e.Detail, `there is no timer "kernel" here`) {
		t.Errorf("got %v", err)
	}
}

func TestKernelTimer_RefusesDependentLaunches(t *testing.T) {
	v := withCUPTI(t, virtualCUPTI, "VGPU_CARD=H100")
	_, err := v.prepareBy(t, measure.TimerKernel, 2e3, true)
	if e, ok := errors.AsType[*harness.Error](err); !ok || e.Code != "unsupported" || !strings.Contains(e.Detail, "dependent launches overlap") {
		t.Errorf("got %v", err)
	}
}

// A case breaks when a call of CUPTI fails, and the next is measured.
func TestKernelTimer_SurvivesEveryCallThatFails(t *testing.T) {
	for _, name := range []string{"cuptiActivityRegisterCallbacks", "cuptiActivityEnable", "cuptiActivityFlushAll"} {
		v := withCUPTI(t, virtualCUPTI, "VGPU_FAULT="+name+":1=999")
		_, err := v.prepareBy(t, measure.TimerKernel, 2e3, false)
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Refused || !strings.Contains(e.Detail, "recording kernels: CUPTI error 999") {
			t.Errorf("%s: got %v", name, err)
		}
		if got, _ := v.medianBy(t, measure.TimerKernel, 2e3); math.Abs(got-2e3) > 50 {
			t.Errorf("%s: the next case takes %v ns", name, got)
		}
	}
}
