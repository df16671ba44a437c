package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// startOpenCL starts the launcher with a value of PAWL_OPENCL_CPU.
func startOpenCL(t *testing.T, cpu string) (*harness.Session, error) {
	t.Helper()
	c := harness.Command{Line: launch.Command(launcher(t, launch.OpenCL)), Dir: t.TempDir(), Silence: time.Minute, Env: []string{"PAWL_OPENCL_CPU=" + cpu}}
	return harness.Start(t.Context(), c, harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.CPU}})
}

// openCL starts the launcher on the first OpenCL device, or skips the test.
func openCL(t *testing.T) *harness.Session {
	t.Helper()
	s, err := startOpenCL(t, "unprotected")
	if e, ok := errors.AsType[*harness.Error](err); ok && e.Code == "no_device" {
		t.Skip(e.Detail)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

func program(t *testing.T, s *harness.Session, kernel string, cache measure.Cache, l harness.Launch, arguments []tensor.Argument) error {
	t.Helper()
	file, err := filepath.Abs("testdata/kernels.cl")
	if err != nil {
		t.Fatal(err)
	}
	l.Kind, l.File, l.Kernel = launch.OpenCL, file, kernel
	_, err = s.Prepare(t.Context(), harness.Prepare{Benchmark: kernel, Cache: cache, Timer: measure.TimerDevice, Seed: 9, Arguments: arguments, Launch: &l})
	return err
}

func grid(n int) harness.Launch {
	return harness.Launch{Grid: [3]int{(n + 63) / 64, 1, 1}, Block: [3]int{64, 1, 1}, Options: "-DFACTOR=2"}
}

// On a CPU an OpenCL kernel runs inside the launcher.
func TestOpenCLOnCPU(t *testing.T) {
	openCL(t) // there is one
	for _, value := range []string{"", "0", "protected"} {
		s, err := startOpenCL(t, value)
		if err == nil {
			s.Kill()
		}
		if err == nil || !strings.Contains(err.Error(), "checked does not run OpenCL on a CPU") || strings.Contains(err.Error(), "version") {
			t.Errorf("PAWL_OPENCL_CPU=%s: %v", value, err)
		}
	}
}

func TestHonestOpenCLKernels(t *testing.T) {
	s := openCL(t)
	for _, kernel := range []string{"honest", "honest_local"} {
		for _, n := range []int{1, 1000, 50_001} {
			cache := measure.Hot
			if kernel == "honest" && n == 1000 {
				cache = measure.Cold
			}
			if err := program(t, s, kernel, cache, grid(n), scale(n)); err != nil {
				t.Fatalf("%s of %d: %v", kernel, n, err)
			}
			_, kept, err := keep(t, s, 5, 2)
			if err != nil {
				t.Fatalf("%s of %d: %v", kernel, n, err)
			}
			for _, p := range kept {
				if !scaled(p, "x", "out") {
					t.Errorf("%s of %d: sample %d is wrong", kernel, n, p.sample)
				}
			}
		}
	}
	if err := s.Run(t.Context(), harness.Run{Iterations: 50}); err != nil {
		t.Error(err)
	}
	if err := s.Bye(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCaughtOpenCLKernels(t *testing.T) {
	s := openCL(t)
	const n = 2000
	for _, c := range []struct{ kernel, code, says string }{
		{"leaves_poison", harness.CodeIntegrity, "2000 words of out were not written"},
		{"leaves_half", harness.CodeIntegrity, "of out were not written"},
		{"writes_input", harness.CodeIntegrity, "changed its input x"},
		{"writes_behind", harness.CodeIntegrity, "wrote behind the end of out"},
		{"writes_before", harness.CodeIntegrity, "wrote before the beginning of out"},
		{"three_arguments_and_one", "bad_params", "takes 4 arguments, the suite declares 3"},
		{"nothing_of_that_name", "failed", "there is no kernel nothing_of_that_name"},
	} {
		err := program(t, s, c.kernel, measure.Hot, grid(n), scale(n))
		if err == nil {
			_, _, err = keep(t, s, 30, 1)
		}
		says := strings.Replace(c.says, "2000 words", "1000 words", 1) // of 64 bits
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Refused || e.Code != c.code || !strings.Contains(e.Detail, says) {
			t.Errorf("%s: got %v, want code %s and %q", c.kernel, err, c.code, says)
		}
	}
	for _, kernel := range []string{"wrong", "copies_neighbour"} {
		if err := program(t, s, kernel, measure.Hot, grid(n), scale(n)); err != nil {
			t.Fatal(err)
		}
		_, kept, err := keep(t, s, 5, 1)
		if err != nil || scaled(kept[0], "x", "out") {
			t.Errorf("%s: taken for right, %v", kernel, err)
		}
	}
}

func TestOpenCLLaunchesThatCannotBe(t *testing.T) {
	s := openCL(t)
	const n = 100
	l := grid(n)
	l.Options = "-DFACTOR=("
	if err := program(t, s, "honest", measure.Hot, l, scale(n)); err == nil || !strings.Contains(err.Error(), "cannot compile it") {
		t.Errorf("got %v", err)
	}
	l = grid(n)
	l.Shared = 1 << 20
	if err := program(t, s, "honest", measure.Hot, l, scale(n)); err == nil || !strings.Contains(err.Error(), "launch.shared is for CUDA") {
		t.Errorf("got %v", err)
	}
	l = grid(n)
	l.Block = [3]int{1 << 20, 1 << 10, 1}
	err := program(t, s, "honest", measure.Hot, l, scale(n))
	if err == nil {
		_, err = s.Measure(t.Context(), "it", harness.Measure{Samples: 1})
	}
	if err == nil || !strings.Contains(err.Error(), "launching the kernel: OpenCL error") {
		t.Errorf("a launch that cannot be is an error, not a fast run: %v", err)
	}
}

func TestOpenCLCheck(t *testing.T) {
	s, dir := openCL(t), t.TempDir()
	const n = 64
	if err := program(t, s, "leaves_half", measure.Hot, grid(n), scale(n)); err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := tensor.Save(in, []tensor.Tensor{{Name: "x", DType: tensor.F32, Shape: []int{n}, Data: make([]byte, 4*n)}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), harness.Check{Inputs: in, Outputs: out, Poison: 11}); err != nil {
		t.Fatal(err)
	}
	got := load(t, out)["out"].Data
	if string(got[2*n:]) != string(tensor.Poison(11, 4*n)[2*n:]) || string(got[:4]) != "\x00\x00\x80\x3f" {
		t.Errorf("got %x", got[:8])
	}
	if err := os.Remove(in); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), harness.Check{Inputs: in, Outputs: out}); err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("got %v", err)
	}
}

func TestProfiledOpenCLLaunches(t *testing.T) {
	s := openCL(t)
	if err := program(t, s, "honest", measure.Cold, grid(1000), scale(1000)); err != nil {
		t.Fatal(err)
	}
	launches, err := s.Profile(t.Context(), harness.Profile{Iterations: 3, Warmup: 2})
	if err != nil || len(launches) != 3 {
		t.Fatalf("%v: %d launches, want 3", err, len(launches))
	}
	for i, l := range launches {
		if l.Kernel != "honest" || !slices.Equal(l.Global, []int{1024, 1, 1}) || !slices.Equal(l.Local, []int{64, 1, 1}) {
			t.Errorf("launch %d: %+v", i, l)
		}
		if l.End <= l.Start || l.Start < l.Queued {
			t.Errorf("launch %d: times %+v", i, l)
		}
	}
	if _, err := s.Measure(t.Context(), "it", harness.Measure{Samples: 2}); err != nil {
		t.Errorf("after a profile: %v", err)
	}
}
