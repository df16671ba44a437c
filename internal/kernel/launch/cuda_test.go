package launch_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/measure"
)

// standIn builds a library in the place of the CUDA driver and kernels for it, and
// starts the launcher with them. Nothing of it is a GPU: it shows that the launcher asks the
// driver for the right things.
func standIn(t *testing.T, env ...string) (s *harness.Session, image string) {
	t.Helper()
	path, dir := launcher(t, launch.CUDA), t.TempDir()
	for source, library := range map[string]string{"testdata/driver.c": "libcuda.so.1", "testdata/gpu.c": "gpu.so"} {
		cmd := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-O1", "-o", filepath.Join(dir, library), source)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	image = filepath.Join(dir, "kernels.cubin")
	if err := os.WriteFile(image, []byte("stand-in module: "+filepath.Join(dir, "gpu.so")), 0o600); err != nil {
		t.Fatal(err)
	}
	c := harness.Command{Line: launch.Command(path), Dir: dir, Env: []string{"LD_LIBRARY_PATH=" + dir, "STAND_IN_PROFILE=" + profiledLaunches(image)}, Silence: time.Minute}
	// The kernels find the stand-in's functions through the library that is loaded first.
	c.Env = append(c.Env, "LD_PRELOAD="+filepath.Join(dir, "libcuda.so.1"))
	c.Env = append(c.Env, env...)
	s, err := harness.Start(t.Context(), c, harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.NVIDIA, UUID: "GPU-abababab-abab-abab-abab-abababababab"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s, image
}

func cuda(t *testing.T, s *harness.Session, image, kernel string, n, shared int) error {
	t.Helper()
	_, err := s.Prepare(t.Context(), harness.Prepare{
		Benchmark: kernel, Cache: measure.Hot, Timer: measure.TimerDevice, Seed: 3, Arguments: scale(n),
		Launch: &harness.Launch{Kind: launch.CUDA, File: image, Kernel: kernel, Grid: [3]int{(n + 127) / 128, 1, 1}, Block: [3]int{128, 1, 1}, Shared: shared},
	})
	return err
}

func TestCUDAThroughAStandIn(t *testing.T) {
	s, image := standIn(t)
	if s.Welcome.Device.Name != "Stand-in" || s.Welcome.Device.Runtime != "CUDA 12.4" {
		t.Errorf("device %+v", s.Welcome.Device)
	}
	for _, n := range []int{1, 1001, 9000} {
		if err := cuda(t, s, image, "honest", n, 0); err != nil {
			t.Fatal(err)
		}
		_, kept, err := keep(t, s, 12, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range kept {
			if !scaled(p, "x", "out") {
				t.Errorf("%d elements: sample %d is wrong", n, p.sample)
			}
		}
		if err := s.Run(t.Context(), harness.Run{Iterations: 100}); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		kernel, says string
		shared       int
	}{
		{"writes_input", "changed its input x", 0},
		{"writes_behind", "wrote behind the end of out", 0},
		{"leaves_half", "were not written when the kernel returned", 0},
		{"fails", "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)", 0},
		{"honest", "honest needs 101400 bytes of shared memory, 1024 of them its own; the device allows 101376", 100_376},
		{"nothing", "CUDA_ERROR_OTHER", 0},
	} {
		err := cuda(t, s, image, c.kernel, 1000, c.shared)
		if err == nil {
			_, _, err = keep(t, s, 40, 1)
		}
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Refused || !strings.Contains(e.Detail, c.says) {
			t.Errorf("%s: got %v, want %q", c.kernel, err, c.says)
		}
	}
	if err := cuda(t, s, image, "honest", 1000, 60_000); err != nil {
		t.Errorf("after a kernel that failed, and with much shared memory: %v", err)
	}
	if _, err := s.Measure(t.Context(), "it", harness.Measure{Samples: 5}); err != nil {
		t.Error(err)
	}
	_, err := s.Prepare(t.Context(), harness.Prepare{Benchmark: harness.CalibrationBenchmark, Cache: measure.Cold, Timer: measure.TimerDevice})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Measure(t.Context(), "calibration", harness.Measure{Samples: 5}); err != nil {
		t.Error(err)
	}
}

// A call that fails while the context is made breaks the case, not the launcher.
func TestCUDASurvivesAHalfMadeContext(t *testing.T) {
	for _, call := range []string{"cuStreamCreate", "cuEventCreate", "cuMemHostAlloc"} {
		s, image := standIn(t, "STAND_IN_FAILS="+call)
		err := cuda(t, s, image, "honest", 1000, 0)
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Refused || e.Code != "no_memory" {
			t.Errorf("%s: got %v, want no_memory", call, err)
		}
		if err := cuda(t, s, image, "honest", 1000, 0); err != nil {
			t.Errorf("after %s: %v", call, err)
			continue
		}
		if _, err := s.Measure(t.Context(), "it", harness.Measure{Samples: 3}); err != nil {
			t.Errorf("after %s: %v", call, err)
		}
	}
}

// The step of event times differs between cards: it is what they have in common.
func TestCUDAMeasuresTheStepOfEvents(t *testing.T) {
	for step, text := range map[float64]string{1024: "1024", 500: "500"} {
		s, image := standIn(t, "STAND_IN_STEP="+text)
		reply, err := s.Prepare(t.Context(), harness.Prepare{
			Benchmark: "honest", Cache: measure.Hot, Timer: measure.TimerDevice, Seed: 3, Arguments: scale(1000),
			Launch: &harness.Launch{Kind: launch.CUDA, File: image, Kernel: "honest", Grid: [3]int{8, 1, 1}, Block: [3]int{128, 1, 1}},
		})
		if err != nil || reply.Quantum != step {
			t.Errorf("%v: quantum %v, want %v", err, reply.Quantum, step)
		}
	}
}

// A cold sample begins with clean lines in the cache: sweeping by writing would have the run write them back.
func TestCUDASweepsTheCacheByReading(t *testing.T) {
	sets := filepath.Join(t.TempDir(), "sets")
	s, _ := standIn(t, "STAND_IN_SETS="+sets)
	_, err := s.Prepare(t.Context(), harness.Prepare{Benchmark: harness.CalibrationBenchmark, Cache: measure.Cold, Timer: measure.TimerDevice})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Measure(t.Context(), "calibration", harness.Measure{Samples: 5}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(sets); err != nil || string(got) != "2097152\n" {
		t.Errorf("%v: sets of the sweep's size %q, want one", err, got)
	}
}

// A sample in which launches were no longer held back contains the time the host needs to launch.
func TestCUDATakesASampleAgainWhoseHoldGaveUp(t *testing.T) {
	for given, says := range map[string]string{"2": "", "1000": "the host let launches wait too long, 3 times in a row"} {
		s, image := standIn(t, "STAND_IN_GIVES_UP="+given)
		if err := cuda(t, s, image, "honest", 1000, 0); err != nil {
			t.Fatal(err)
		}
		got, err := s.Measure(t.Context(), "it", harness.Measure{Samples: 5})
		switch {
		case says == "" && (err != nil || got.Count != 5):
			t.Errorf("%s: %v: %d samples, want 5", given, err, got.Count)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: got %v, want %q", given, err, says)
		}
	}
}

func profiledLaunches(image string) string { return filepath.Join(filepath.Dir(image), "profiled") }

func TestAProfilerSeesTheLaunchesOfTheKernelAlone(t *testing.T) {
	s, image := standIn(t)
	for _, n := range []int{1, 5} {
		if err := cuda(t, s, image, "honest", 1000, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Profile(t.Context(), harness.Profile{Iterations: n, Warmup: 3}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(profiledLaunches(image)); err != nil || string(got) != "1\n5\n" {
		t.Errorf("%v: launches in the profiled ranges %q", err, got)
	}
	if err := cuda(t, s, image, "writes_behind", 1000, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Profile(t.Context(), harness.Profile{Iterations: 1}); err == nil || !strings.Contains(err.Error(), "wrote behind the end of out") {
		t.Errorf("profiled a kernel that is wrong: %v", err)
	}
}

// Without a GPU the launcher says so; with one, it must greet.
func TestCUDAWithoutADevice(t *testing.T) {
	c := harness.Command{Line: launch.Command(launcher(t, launch.CUDA)), Dir: t.TempDir()}
	s, err := harness.Start(t.Context(), c, harness.Hello{Pawl: "test"})
	if err == nil {
		s.Kill()
		t.Skip("there is a CUDA device here")
	}
	if e, ok := errors.AsType[*harness.Error](err); !ok || e.Code != "no_device" {
		t.Errorf("got %v", err)
	}
}

// The launcher's own kernels are valid for every architecture the toolkit knows.
func TestOwnPTX(t *testing.T) {
	need(t, "ptxas")
	for _, arch := range []string{"sm_52", "sm_75", "sm_80", "sm_89", "sm_90"} {
		cmd := exec.CommandContext(t.Context(), "ptxas", "-arch="+arch, "-o", filepath.Join(t.TempDir(), "device.cubin"), "source/device.ptx")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", arch, err, text)
		}
	}
}
