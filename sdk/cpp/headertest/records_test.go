package headertest_test

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	protocol "github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// withCUPTI starts the harness of testdata/virtual.cu on a virtual GPU of 1000 MHz, with a library in the place of CUPTI. The
// library finds the model in the program.
func withCUPTI(t *testing.T, library string, env ...string) *protocol.Session {
	t.Helper()
	dir := t.TempDir()
	text, err := exec.CommandContext(t.Context(), tool(t, "cc"), "-std=gnu11", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I../../virtualgpu",
		"-o", filepath.Join(dir, "libcupti.so.13"), library).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s, err := protocol.Start(t.Context(), protocol.Command{
		Line: build(t, "../../virtualgpu/nvcc", "testdata/virtual.cu", "-O2", "-Wall", "-Wextra", "-rdynamic"), Dir: t.TempDir(),
		Env: append(env, "VGPU_MHZ=1000", "LD_LIBRARY_PATH="+dir),
	}, protocol.Hello{Pawl: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

const virtualCUPTI = "../../virtualgpu/cupti.c"

// takenBy prepares a benchmark by a timer and takes samples of it.
func takenBy(t *testing.T, s *protocol.Session, timer measure.Timer, benchmark string, params map[string]any) (ns, quantum float64, err error) {
	t.Helper()
	p, err := s.Prepare(t.Context(), protocol.Prepare{Benchmark: benchmark, Implementation: "candidate", Params: params, Cache: measure.Hot, Timer: timer, Seed: 5})
	if err != nil {
		return 0, 0, err
	}
	m, err := s.Measure(t.Context(), benchmark, protocol.Measure{Samples: 9})
	if err != nil {
		return 0, 0, err
	}
	return stats.Median(m.Samples), p.Quantum, nil
}

func TestHeaderKernelTimer_LeavesOutTheGaps(t *testing.T) {
	t.Parallel()
	s := withCUPTI(t, virtualCUPTI, "VGPU_CARD=L4", "VGPU_BREAK=gaps")
	if !slices.Equal(s.Welcome.Timers, []measure.Timer{measure.TimerDevice, measure.TimerWall, measure.TimerCPU, measure.TimerKernel}) {
		t.Errorf("timers %v", s.Welcome.Timers)
	}
	for _, ns := range []float64{2e3, 5e3, 15e3} {
		got, step, err := takenBy(t, s, measure.TimerKernel, "timed", map[string]any{"cycles": ns})
		if err != nil || step != 32 || math.Abs(got-ns) > step+0.005*ns {
			t.Errorf("a kernel of %v ns is recorded as %v in steps of %v, %v", ns, got, step, err)
		}
		if by, step, err := takenBy(t, s, measure.TimerDevice, "timed", map[string]any{"cycles": ns}); err != nil || step != 1024 || by < ns+5e3 {
			t.Errorf("events around a kernel of %v ns and gaps of 10 us tell %v in steps of %v, %v", ns, by, step, err)
		}
	}
	if _, _, err := takenBy(t, s, measure.TimerKernel, protocol.CalibrationBenchmark, map[string]any{}); err != nil {
		t.Error(err)
	}
}

// A run that does more than launch one kernel takes longer than its kernels, so it has no such time.
func TestHeaderKernelTimer_RefusesRunsOfSeveral(t *testing.T) {
	t.Parallel()
	s := withCUPTI(t, virtualCUPTI)
	for _, mode := range []string{"twice", "copy", "alike"} {
		_, _, err := takenBy(t, s, measure.TimerKernel, "several", map[string]any{"mode": mode})
		if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Kind != protocol.Refused || !strings.Contains(e.Detail, "for runs of one kernel") {
			t.Errorf("%s: %v", mode, err)
		}
		if _, _, err := takenBy(t, s, measure.TimerDevice, "several", map[string]any{"mode": mode}); err != nil {
			t.Errorf("%s by events: %v", mode, err)
		}
	}
}

// Without CUPTI nothing is measured by another clock instead.
func TestHeaderKernelTimer_NeedsCUPTI(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none.c")
	if err := os.WriteFile(none, []byte("int nothing;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := withCUPTI(t, none)
	if slices.Contains(s.Welcome.Timers, measure.TimerKernel) {
		t.Errorf("timers %v", s.Welcome.Timers)
	}
	_, _, err := takenBy(t, s, measure.TimerKernel, "timed", map[string]any{"cycles": 2e3})
	if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != "unsupported" || !strings.Contains(e.Detail, `there is no timer "kernel" here`) {
		t.Errorf("got %v", err)
	}
}

// A case breaks when a call of CUPTI fails, and the next is measured.
func TestHeaderKernelTimer_SurvivesEveryCallThatFails(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cuptiActivityRegisterCallbacks", "cuptiActivityEnable", "cuptiActivityFlushAll"} {
		s := withCUPTI(t, virtualCUPTI, "VGPU_FAULT="+name+":1=999")
		_, _, err := takenBy(t, s, measure.TimerKernel, "timed", map[string]any{"cycles": 2e3})
		if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Kind != protocol.Refused || !strings.Contains(e.Detail, "recording kernels: CUPTI error 999") {
			t.Errorf("%s: got %v", name, err)
		}
		if got, _, err := takenBy(t, s, measure.TimerKernel, "timed", map[string]any{"cycles": 2e3}); err != nil || math.Abs(got-2e3) > 50 {
			t.Errorf("%s: the next case takes %v ns, %v", name, got, err)
		}
	}
}
