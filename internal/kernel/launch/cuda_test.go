package launch_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

const virtualModel = "../../../sdk/virtualgpu"

// compileDriver builds the virtual GPU in the place of the CUDA driver, and kernels for it.
var compileDriver = sync.OnceValues(func() (string, error) {
	for library, sources := range map[string][]string{
		"libcuda.so.1": {virtualModel + "/driver.c", virtualModel + "/model.c"}, "gpu.so": {"testdata/gpu.c"},
	} {
		args := append([]string{"-std=gnu11", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I" + virtualModel, "-o", filepath.Join(cache, library)}, sources...)
		if text, err := exec.Command("cc", append(args, "-lm", "-ldl")...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", library, err, text)
		}
	}
	image := filepath.Join(cache, "kernels.cubin")
	return image, os.WriteFile(image, []byte("virtual module: "+filepath.Join(cache, "gpu.so")), 0o600)
})

// virtual is a launcher on the virtual GPU.
type virtual struct {
	*harness.Session
	image, trace string
}

// virtualCommand returns the command of a launcher on the virtual GPU.
func virtualCommand(t *testing.T, env ...string) (c harness.Command, image string) {
	t.Helper()
	path := launcher(t, launch.CUDA)
	image, err := compileDriver()
	if err != nil {
		t.Fatal(err)
	}
	c = harness.Command{Line: launch.Command(path), Dir: t.TempDir(), Silence: time.Minute}
	// The kernels find the model's functions through the library that is loaded first.
	c.Env = append([]string{"LD_LIBRARY_PATH=" + cache, "LD_PRELOAD=" + filepath.Join(cache, "libcuda.so.1")}, env...)
	return c, image
}

var virtualHello = harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.NVIDIA, UUID: "GPU-00000000-0000-0000-0000-000000000000"}}

// virtualGPU starts the launcher on the virtual GPU.
func virtualGPU(t *testing.T, env ...string) virtual {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	c, image := virtualCommand(t, append(env, "VGPU_TRACE="+trace)...)
	s, err := harness.Start(t.Context(), c, virtualHello)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return virtual{s, image, trace}
}

func (v virtual) prepare(t *testing.T, kernel string, threads, shared int, cache measure.Cache, arguments []tensor.Argument) (harness.Prepared, error) {
	t.Helper()
	return v.Prepare(t.Context(), harness.Prepare{
		Benchmark: kernel, Cache: cache, Timer: measure.TimerDevice, Seed: 3, Arguments: arguments,
		Launch: &harness.Launch{Kind: launch.CUDA, File: v.image, Kernel: kernel, Grid: [3]int{(threads + 127) / 128, 1, 1}, Block: [3]int{128, 1, 1}, Shared: shared},
	})
}

func (v virtual) scale(t *testing.T, kernel string, n, shared int) error {
	t.Helper()
	_, err := v.prepare(t, kernel, n, shared, measure.Hot, scale(n))
	return err
}

// traced returns the lines of the trace.
func (v virtual) traced(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(v.trace)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// countLines returns the number of lines that start with the prefix.
func countLines(lines []string, prefix string) (n int) {
	for _, line := range lines {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// mustScale measures, and wants every kept output to be the scaled input.
func mustScale(t *testing.T, s *harness.Session, what string) {
	t.Helper()
	_, kept, err := keep(t, s, 12, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range kept {
		if !scaled(p, "x", "out") {
			t.Errorf("%s: sample %d is wrong", what, p.sample)
		}
	}
}

func TestCUDAOnTheVirtualGPU(t *testing.T) {
	v := virtualGPU(t)
	if v.Welcome.Device.Name != "Virtual L4 0" || v.Welcome.Device.Runtime != "CUDA 12.4" {
		t.Errorf("device %+v", v.Welcome.Device)
	}
	for _, n := range []int{1, 1001, 9000} {
		if err := v.scale(t, "honest", n, 0); err != nil {
			t.Fatal(err)
		}
		mustScale(t, v.Session, fmt.Sprintf("%d elements", n))
		if err := v.Run(t.Context(), harness.Run{Iterations: 100}); err != nil {
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
		{"honest", "honest needs 101400 bytes of shared memory, 1024 of them its own; the device allows 101376", 100_376},
		{"nothing", "CUDA_ERROR_OTHER", 0},
	} {
		err := v.scale(t, c.kernel, 1000, c.shared)
		if err == nil {
			_, _, err = keep(t, v.Session, 40, 1)
		}
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Refused || !strings.Contains(e.Detail, c.says) {
			t.Errorf("%s: got %v, want %q", c.kernel, err, c.says)
		}
	}
	if err := v.scale(t, "honest", 1000, 60_000); err != nil {
		t.Errorf("after a kernel that failed, and with much shared memory: %v", err)
	}
	if _, err := v.Measure(t.Context(), "it", harness.Measure{Samples: 5}); err != nil {
		t.Error(err)
	}
	_, err := v.Prepare(t.Context(), harness.Prepare{Benchmark: harness.CalibrationBenchmark, Cache: measure.Cold, Timer: measure.TimerDevice})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Measure(t.Context(), "calibration", harness.Measure{Samples: 5}); err != nil {
		t.Error(err)
	}
}

// What a kernel takes is compared with what the suite declares, before the driver reads parameters that are not there.
func TestCUDAParameters_AreComparedWithTheArguments(t *testing.T) {
	v := virtualGPU(t)
	for kernel, says := range map[string]string{
		"mapped":    "parameter 1 of mapped has 128 bytes and is given 8 (a tensor map: say map in the suite's arguments)",
		"too_many":  "parameter 4 of too_many has 4 bytes and is given 0",
		"too_few":   "too_few takes 2 arguments, the suite declares 3",
		"clustered": "clustered must be launched in clusters: say launch.cluster",
	} {
		err := v.scale(t, kernel, 1000, 0)
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Refused || !strings.Contains(e.Detail, says) {
			t.Errorf("%s: got %v, want %q", kernel, err, says)
		}
	}
	if err := v.scale(t, "scratch", 1000, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Measure(t.Context(), "it", harness.Measure{Samples: 3}); err != nil {
		t.Errorf("a kernel with two pointers to scratch memory: %v", err)
	}
}

// Clusters, cooperative and dependent launches reach the driver as attributes of the launch. What the device cannot do is
// refused.
func TestCUDALaunchAttributes(t *testing.T) {
	for _, c := range []struct {
		name, card, kernel string
		change             func(*harness.Launch)
		attributes         []int // as the driver numbers them
		says               string
	}{
		{"plain", "H100", "honest", func(*harness.Launch) {}, nil, ""},
		{"clusters", "H100", "clustered", func(l *harness.Launch) { l.Cluster = [3]int{4, 1, 1} }, []int{4}, ""},
		{"a large cluster", "H100", "clustered", func(l *harness.Launch) { l.Cluster = [3]int{16, 1, 1} }, []int{4}, ""},
		{"cooperative", "L4", "honest", func(l *harness.Launch) { l.Cooperative = true }, []int{2}, ""},
		{"all of it", "B200", "clustered", func(l *harness.Launch) {
			l.Cluster, l.Cooperative, l.Dependent = [3]int{2, 1, 1}, true, true
		}, []int{4, 2, 6}, ""},
		{"clusters before Hopper", "L4", "clustered", func(l *harness.Launch) { l.Cluster = [3]int{4, 1, 1} }, nil, "launching the kernel: "},
		{"part of a cluster", "H100", "clustered", func(l *harness.Launch) { l.Cluster = [3]int{3, 1, 1} }, nil, "a grid of 16 x 1 x 1 blocks is no multiple of the cluster"},
		{"more blocks than fit", "L4", "honest", func(l *harness.Launch) { l.Cooperative, l.Grid = true, [3]int{100_000, 1, 1} }, nil, "launching the kernel: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := virtualGPU(t, "VGPU_CARD="+c.card)
			l := harness.Launch{Kind: launch.CUDA, File: v.image, Kernel: c.kernel, Grid: [3]int{16, 1, 1}, Block: [3]int{128, 1, 1}}
			c.change(&l)
			_, err := v.Prepare(t.Context(), harness.Prepare{Benchmark: c.kernel, Cache: measure.Hot, Timer: measure.TimerDevice, Seed: 3, Arguments: scale(2000), Launch: &l})
			if err == nil {
				_, err = v.Measure(t.Context(), "it", harness.Measure{Samples: 3})
			}
			if e, ok := errors.AsType[*harness.Error](err); c.says != "" && (!ok || e.Kind != harness.Refused || !strings.Contains(e.Detail, c.says)) || c.says == "" && err != nil {
				t.Fatalf("got %v, want %q", err, c.says)
			}
			for _, id := range []int{2, 4, 6} {
				n := countLines(v.traced(t), fmt.Sprintf("attribute %s %d", c.kernel, id))
				if wanted := slices.Contains(c.attributes, id); c.says == "" && wanted != (n > 0) {
					t.Errorf("attribute %d was set in %d launches, want some: %v", id, n, wanted)
				}
			}
		})
	}
}

// After an illegal address every call of the process fails: the case is broken, and the process with it.
func TestCUDALosesTheDevice(t *testing.T) {
	v := virtualGPU(t)
	err := v.scale(t, "fails", 1000, 0)
	if err == nil {
		_, err = v.Measure(t.Context(), "it", harness.Measure{Samples: 3})
	}
	e, ok := errors.AsType[*harness.Error](err)
	if !ok || e.Kind != harness.LostDevice || !v.Lost(e) || !strings.Contains(e.Detail, "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)") {
		t.Errorf("got %v, want a lost device", err)
	}
}

// The step of event times differs between cards: it is what they have in common.
func TestCUDAMeasuresTheStepOfEvents(t *testing.T) {
	for step, env := range map[float64]string{1024: "VGPU_CARD=L4", 500: "VGPU_CARD=H100", 10: "VGPU_CARD=MI300X", 32: "VGPU_STEP=32"} {
		v := virtualGPU(t, env)
		reply, err := v.prepare(t, "honest", 1000, 0, measure.Hot, scale(1000))
		if err != nil || reply.Quantum != step {
			t.Errorf("%v: quantum %v, want %v", err, reply.Quantum, step)
		}
	}
}

// A cold sample begins with clean lines in the cache: sweeping by writing would have the run write them back.
func TestCUDASweepsTheCacheByReading(t *testing.T) {
	v := virtualGPU(t)
	_, err := v.Prepare(t.Context(), harness.Prepare{Benchmark: harness.CalibrationBenchmark, Cache: measure.Cold, Timer: measure.TimerDevice})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Measure(t.Context(), "calibration", harness.Measure{Samples: 5}); err != nil {
		t.Fatal(err)
	}
	if n := countLines(v.traced(t), "set memory 6291456"); n != 1 { // twice the cache of an L4, a sixteenth of it
		t.Errorf("%d sets of the sweep's size, want one", n)
	}
}

// A sample in which launches were no longer held back contains the time the host needs to launch.
func TestCUDATakesASampleAgainWhoseHoldGaveUp(t *testing.T) {
	measured := func(samples int, env ...string) (virtual, harness.Measured, error) {
		v := virtualGPU(t, env...)
		if err := v.scale(t, "honest", 1000, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Measure(t.Context(), "first", harness.Measure{Samples: 1}); err != nil {
			return v, harness.Measured{}, err
		}
		if samples == 0 {
			return v, harness.Measured{}, nil
		}
		m, err := v.Measure(t.Context(), "it", harness.Measure{Samples: samples})
		return v, m, err
	}
	v, _, err := measured(0)
	if err != nil {
		t.Fatal(err)
	}
	before := countLines(v.traced(t), "call cuEventRecord ")
	// The host stalls between the two events of a sample, while its launches are held back: for longer than the hold of
	// a quarter of a second, and for less than the second after which the launcher gives up on a timer.
	stall := func(n, ms int) string { return fmt.Sprintf("cuEventRecord:%d=%d000000", n, ms) }
	if v, got, err := measured(5, "VGPU_FAULT="+stall(before+2, 300)+","+stall(before+4, 300)); err != nil || got.Count != 5 || countLines(v.traced(t), "call cuEventRecord ") != before+14 {
		t.Errorf("%v: %d samples, want 5 of 7", err, got.Count)
	}
	const says = "the host let launches wait too long, 3 times in a row"
	if _, _, err := measured(5, "VGPU_FAULT="+stall(-before-1, 140)); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %q", err, says)
	}
}

func TestAProfilerSeesTheLaunchesOfTheKernelAlone(t *testing.T) {
	v := virtualGPU(t)
	for _, n := range []int{1, 5} {
		if err := v.scale(t, "honest", 1000, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Profile(t.Context(), harness.Profile{Iterations: n, Warmup: 3}); err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(strings.Join(v.traced(t), "\n"), "profile start 0\n")
		if n > 1 {
			_, after, _ = strings.Cut(after, "profile start 0\n")
		}
		inside, _, _ := strings.Cut(after, "profile stop 0\n")
		if lines := strings.Split(inside, "\n"); countLines(lines, "kernel honest ") != n || countLines(lines, "kernel ") != n {
			t.Errorf("%d launches were to be profiled, and these were:\n%s", n, inside)
		}
	}
	if err := v.scale(t, "writes_behind", 1000, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Profile(t.Context(), harness.Profile{Iterations: 1}); err == nil || !strings.Contains(err.Error(), "wrote behind the end of out") {
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
