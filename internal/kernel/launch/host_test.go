package launch_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Honest kernels of all sorts are measured, and what is kept of them is right.
func TestHonestHostKernels(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	for _, kernel := range []string{
		"honest", "honest_twice", "honest_memory", "honest_backwards", "honest_math", "honest_threads", "honest_pool",
		"honest_constructor", "honest_prints", "slow",
	} {
		for _, n := range []int{1, 3, 30_001} {
			if err := host(t, s, kernel, scale(n)); err != nil {
				t.Fatalf("%s of %d: %v", kernel, n, err)
			}
			m, kept, err := keep(t, s, 6, 3)
			if err != nil {
				t.Fatalf("%s of %d: %v", kernel, n, err)
			}
			if len(m.Wall) != len(m.Samples) || !strings.Contains(m.Note, "CPU time") {
				t.Errorf("%s of %d: %d readings of the wall clock for %d samples, note %q", kernel, n, len(m.Wall), len(m.Samples), m.Note)
			}
			if len(kept) != 3 {
				t.Fatalf("%s of %d: kept %d samples, want 3", kernel, n, len(kept))
			}
			for _, p := range kept {
				if !scaled(p, "x", "out") {
					t.Errorf("%s of %d: sample %d is wrong: %v of %v", kernel, n, p.sample, values(p.out["out"])[:1], values(p.in["x"])[:1])
				}
			}
		}
	}
}

// Kernels bring runtimes of their own: OpenMP with its pool of threads, C++ with exceptions.
func TestHonestRuntimes(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	for source, compile := range map[string][]string{
		"openmp.c": {"cc", "-fopenmp"},
		"cpp.cc":   {"c++", "-pthread"},
	} {
		need(t, compile[0])
		file := filepath.Join(t.TempDir(), "kernel.so")
		cmd := exec.CommandContext(t.Context(), compile[0], compile[1], "-shared", "-fPIC", "-O2", "-o", file, "testdata/"+source)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Logf("cannot compile %s here: %v\n%s", source, err, text)
			continue
		}
		_, err := s.Prepare(t.Context(), harness.Prepare{
			Benchmark: source, Cache: measure.Hot, Timer: measure.TimerWall, Seed: 4, Arguments: scale(30_000),
			Launch: &harness.Launch{Kind: launch.Host, File: file, Kernel: "scale"},
		})
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		_, kept, err := keep(t, s, 10, 2)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		for _, p := range kept {
			if !scaled(p, "x", "out") {
				t.Errorf("%s: sample %d is wrong", source, p.sample)
			}
		}
	}
}

func TestHostArguments(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	t.Run("in place", func(t *testing.T) {
		const n = 500
		arguments := []tensor.Argument{{Name: "x", Role: tensor.InOut, DType: tensor.F32, Shape: []int{n}}, value("n", tensor.I32, n)}
		if err := host(t, s, "honest_in_place", arguments); err != nil {
			t.Fatal(err)
		}
		_, kept, err := keep(t, s, 10, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range kept {
			if !scaled(p, "x", "x") {
				t.Errorf("sample %d: an inout is to be kept before and after", p.sample)
			}
		}
	})
	t.Run("nothing to read", func(t *testing.T) {
		const n = 100
		if err := host(t, s, "honest_nothing_to_read", []tensor.Argument{out("out", tensor.F32, n), value("n", tensor.I32, n)}); err != nil {
			t.Fatal(err)
		}
		if _, kept, err := keep(t, s, 5, 1); err != nil || values(kept[0].out["out"])[99] != 99 {
			t.Errorf("%v, %v", kept, err)
		}
	})
	t.Run("values of all types", func(t *testing.T) {
		const n = 33
		if err := host(t, s, "honest_types", types(n)); err != nil {
			t.Fatal(err)
		}
		_, kept, err := keep(t, s, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		bits := kept[0].in["h"].Data
		for i, got := range values(kept[0].out["out"]) {
			if want := float64(uint16(bits[2*i])|uint16(bits[2*i+1])<<8)*0.5 + 3 + 1 - 7; got != want {
				t.Errorf("element %d is %v, want %v", i, got, want)
			}
		}
	})
	t.Run("another signature", func(t *testing.T) {
		err := host(t, s, "honest", []tensor.Argument{value("n", tensor.F64, 1)})
		if err == nil || !strings.Contains(err.Error(), "was not built for a kernel that takes (f64)") {
			t.Errorf("got %v", err)
		}
	})
}

// What a kernel may not do ends its case, with words that say what it did.
func TestCaughtHostKernels(t *testing.T) {
	for _, c := range []struct{ kernel, code, says string }{
		{"leaves_poison", harness.CodeIntegrity, "of out were not written when the kernel returned"},
		{"leaves_half", harness.CodeIntegrity, "of out were not written when the kernel returned"},
		{"writes_input", "failed", "inputs are read-only"},
		{"writes_behind", harness.CodeIntegrity, "wrote behind the end of out"},
		{"writes_before", harness.CodeIntegrity, "wrote before the beginning of out"},
		{"crashes", "failed", "the kernel crashed (Segmentation fault at address 0x10)"},
		{"aborts", "failed", "the kernel crashed: Aborted"},
		{"exits", harness.CodeIntegrity, "ended its process (exit status 0) instead of returning"},
		{"goes_on_in_a_thread", harness.CodeIntegrity, "were not written when the kernel returned"},
		{"changes_output_later", harness.CodeIntegrity, "out changed after the kernel had returned"},
		{"says_done_itself", harness.CodeIntegrity, "answers in place of the launcher"},
		// It searches the stack for the launcher's word: whichever is seen first, or it finds the stack's end.
		{"says_done_early", "", "were not written when the kernel returned|when it was not asked|crashed"},
		{"forks", harness.CodeIntegrity, "it called fork"},
		{"executes", harness.CodeIntegrity, "it called execve"},
		{"kills_parent", harness.CodeIntegrity, "it called kill"},
		{"kills_everyone", harness.CodeIntegrity, "it called kill"},
		{"traces_parent", harness.CodeIntegrity, "it called ptrace"},
		{"reads_other_memory", harness.CodeIntegrity, "it called process_vm_readv"},
		{"no_such_kernel", "failed", "it has no symbol no_such_kernel"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			s := start(t, launch.Host, time.Minute)
			err := host(t, s, c.kernel, scale(1000))
			if err == nil {
				_, _, err = keep(t, s, 30, 3)
			}
			e, ok := errors.AsType[*harness.Error](err)
			if !ok || e.Kind != harness.Refused || c.code != "" && e.Code != c.code || !slices.ContainsFunc(strings.Split(c.says, "|"), func(s string) bool { return strings.Contains(e.Detail, s) }) {
				t.Fatalf("got %v, want code %s and %q", err, c.code, c.says)
			}
			if err := host(t, s, "honest", scale(1000)); err != nil {
				t.Fatalf("the launcher is of no use after it: %v", err)
			}
			if _, kept, err := keep(t, s, 5, 1); err != nil || !scaled(kept[0], "x", "out") {
				t.Errorf("the next case is not measured: %v", err)
			}
		})
	}
}

// Results that were not computed are not right, and nobody knows which sample is looked at.
func TestWrongHostKernels(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	for _, kernel := range []string{"wrong", "keeps_by_shape", "keeps_by_pointer", "keeps_last_output", "honest_at_first"} {
		if err := host(t, s, kernel, scale(20_000)); err != nil {
			t.Fatalf("%s: %v", kernel, err)
		}
		_, kept, err := keep(t, s, 600, 40)
		if e, ok := errors.AsType[*harness.Error](err); ok && e.Code == harness.CodeIntegrity {
			continue // what it copied was poison
		}
		if err != nil {
			t.Fatalf("%s: %v", kernel, err)
		}
		wrong := 0
		for _, p := range kept {
			if !scaled(p, "x", "out") {
				wrong++
			}
		}
		if wrong < 5 {
			t.Errorf("%s: only %d of %d kept samples show it", kernel, wrong, len(kept))
		}
	}
}

// What a kernel tries and cannot do leaves no trace: it reports its success in place of a
// result, so that a right result says that it had none.
func TestRefusedToHostKernels(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	if err := os.WriteFile(mark()+".there", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kernel := range []string{
		"opens_to_write", "opens_to_read", "opens_socket", "removes_files", "reads_parent", "writes_in_constructor", "unprotects_input",
	} {
		if err := host(t, s, kernel, scale(100)); err != nil {
			t.Fatalf("%s: %v", kernel, err)
		}
		_, kept, err := keep(t, s, 5, 1)
		if err != nil {
			t.Fatalf("%s: %v", kernel, err)
		}
		if !scaled(kept[0], "x", "out") {
			t.Errorf("%s had success", kernel)
		}
	}
	if _, err := os.Stat(mark()); !os.IsNotExist(err) {
		t.Errorf("a kernel made %s: %v", mark(), err)
	}
}

// The file of the test defines clock_gettime itself, with a clock that stands still.
func TestClocksAreTheLaunchersOwn(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	if err := host(t, s, "slow", scale(10)); err != nil {
		t.Fatal(err)
	}
	m, err := s.Measure(t.Context(), "slow", harness.Measure{Samples: 10})
	if err != nil {
		t.Fatal(err)
	}
	if least := slices.Min(m.Samples); least < 200_000 {
		t.Errorf("200,000 divisions in %v ns", least)
	}
}

func TestHungHostKernel(t *testing.T) {
	s := start(t, launch.Host, 20*time.Second) // also limits the hello
	if err := host(t, s, "hangs", scale(10)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Measure(t.Context(), "hangs", harness.Measure{Samples: 1})
	if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Hung {
		t.Errorf("got %v", err)
	}
	s.Kill()
	await.True(t, "the guest to end with the launcher", func() bool {
		list, err := exec.Command("ps", "-eo", "ppid,comm").Output()
		return err != nil || !strings.Contains(string(list), "    1 pawl-guest")
	})
}

func TestCheckAndRun(t *testing.T) {
	const n = 300
	s, dir := start(t, launch.Host, time.Minute), t.TempDir()
	if err := host(t, s, "honest", scale(n)); err != nil {
		t.Fatal(err)
	}
	x, err := tensor.New(scale(n)[0])
	if err != nil {
		t.Fatal(err)
	}
	given := make([]float64, n)
	for i := range given {
		given[i] = float64(i)
	}
	x.Write(0, given)
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := tensor.Save(path("in"), []tensor.Tensor{x}); err != nil {
		t.Fatal(err)
	}
	check := func(p pair) {
		t.Helper()
		p.in = load(t, path("in"))
		if !scaled(p, "x", "out") {
			t.Errorf("wrong outputs: %v", values(p.out["out"])[:3])
		}
	}
	if err := s.Check(t.Context(), harness.Check{Inputs: path("in"), Outputs: path("out"), Poison: 5}); err != nil {
		t.Fatal(err)
	}
	check(pair{out: load(t, path("out"))})
	if err := s.Run(t.Context(), harness.Run{Iterations: 1234}); err != nil {
		t.Error(err)
	}
	if err := s.Run(t.Context(), harness.Run{Iterations: 2, Inputs: []string{path("in"), path("in")}, Outputs: []string{path("1"), path("2")}}); err != nil {
		t.Error(err)
	}
	check(pair{out: load(t, path("1"))})
	check(pair{out: load(t, path("2"))})

	// An element that was never written is left as tensor.Poison has it.
	if err := host(t, s, "leaves_half", scale(n)); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), harness.Check{Inputs: path("in"), Outputs: path("out"), Poison: 77}); err != nil {
		t.Fatal(err)
	}
	half := 4 * n / 2
	if diff := cmp.Diff(tensor.Poison(77, 4*n)[half:], load(t, path("out"))["out"].Data[half:]); diff != "" {
		t.Errorf("the poison is not pawl's: %s", diff)
	}
}

func TestCheckRefusesOtherTensors(t *testing.T) {
	s, dir := start(t, launch.Host, time.Minute), t.TempDir()
	if err := host(t, s, "honest", scale(10)); err != nil {
		t.Fatal(err)
	}
	for says, x := range map[string]tensor.Tensor{
		"x has another shape":   {Name: "x", DType: tensor.F32, Shape: []int{11}, Data: make([]byte, 44)},
		"x has another type":    {Name: "x", DType: tensor.F64, Shape: []int{10}, Data: make([]byte, 80)},
		"x is not in the file":  {Name: "y", DType: tensor.F32, Shape: []int{10}, Data: make([]byte, 40)},
		"cannot read tensors":   {},
		"outputs is not a path": {Name: "x", DType: tensor.F32, Shape: []int{10}, Data: make([]byte, 40)},
	} {
		in := filepath.Join(dir, "in")
		if x.Name != "" {
			if err := tensor.Save(in, []tensor.Tensor{x}); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(in, []byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := harness.Check{Inputs: in, Outputs: filepath.Join(dir, "out")}
		if strings.HasPrefix(says, "outputs") {
			c.Outputs, says = "relative", "outputs is not absolute"
		}
		err := s.Check(t.Context(), c)
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Code != "bad_params" || !strings.Contains(e.Detail, says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

// Strided tensors are their whole storage, with a note of what they look like.
func TestStrides(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	arguments := scale(23)
	arguments[0].Shape, arguments[0].Strides = []int{3, 5}, []int{9, 1} // 2*9 + 4 + 1 = 23 elements
	arguments[1].Shape, arguments[1].Strides = []int{3, 5}, []int{9, 1}
	if err := host(t, s, "honest", arguments); err != nil {
		t.Fatal(err)
	}
	_, kept, err := keep(t, s, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := kept[0].in["x"]
	if diff := cmp.Diff([]int{9, 1}, x.Strides); diff != "" || len(x.Data) != 23*4 {
		t.Errorf("strides %v, %d bytes", x.Strides, len(x.Data))
	}
	if !scaled(kept[0], "x", "out") {
		t.Error("wrong elements")
	}
}

func TestFill(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	const n = 20_000
	for _, c := range []struct {
		dtype           tensor.DType
		fill            tensor.Fill
		low, high, mean float64 // of what is drawn
	}{
		{tensor.F32, tensor.Fill{}, -3.5, 3.5, 0},
		{tensor.F64, tensor.Fill{Kind: tensor.Uniform}, -1, 1, 0},
		{tensor.F16, tensor.Fill{}, -3.5, 3.5, 0},
		{tensor.BF16, tensor.Fill{Kind: tensor.Uniform, Low: 2, High: 4}, 2, 4, 3},
		{tensor.E4M3, tensor.Fill{}, -3.5, 3.5, 0},
		{tensor.E5M2, tensor.Fill{}, -3.5, 3.5, 0},
		{tensor.E4M3FNUZ, tensor.Fill{}, -3.5, 3.5, 0},
		{tensor.E5M2FNUZ, tensor.Fill{}, -3.5, 3.5, 0},
		{tensor.E8M0, tensor.Fill{Kind: tensor.Uniform, Low: 1, High: 1.9}, 1, 2, 1.444},
		{tensor.E3M2, tensor.Fill{}, -3.5, 3.5, 0},
		{tensor.E2M3, tensor.Fill{}, -3.5, 3.5, 0},
		{tensor.E2M1, tensor.Fill{}, -3, 3, 0},
		{tensor.E2M1x2, tensor.Fill{Kind: tensor.Uniform, Low: -4, High: 4}, -4, 4, 0},
		{tensor.I32, tensor.Fill{Kind: tensor.Uniform, Low: 10, High: 20}, 10, 19, 14.5},
		{tensor.I8, tensor.Fill{}, -128, 127, -0.5},
		{tensor.U8, tensor.Fill{}, 0, 255, 127.5},
		{tensor.Bool, tensor.Fill{}, 0, 1, 0.5},
	} {
		arguments := scale(n)
		arguments[0].DType, arguments[0].Fill = c.dtype, c.fill
		arguments[1].Shape = []int{n / 8}
		arguments[2].Value = n / 8 // reads at most as many bytes as there are
		if err := host(t, s, "honest", arguments); err != nil {
			t.Fatalf("%s: %v", c.dtype, err)
		}
		_, kept, err := keep(t, s, 3, 1)
		if err != nil {
			t.Fatalf("%s: %v", c.dtype, err)
		}
		v := values(kept[0].in["x"])
		spread := c.high - c.low
		if slices.Min(v) < c.low || slices.Max(v) > c.high || slices.Min(v) > c.low+spread/5 || slices.Max(v) < c.high-spread/5 {
			t.Errorf("%s: from %v to %v, want %v to %v", c.dtype, slices.Min(v), slices.Max(v), c.low, c.high)
		}
		if m := stats.Mean(v); m < c.mean-spread/50 || m > c.mean+spread/50 {
			t.Errorf("%s: mean %v, want %v", c.dtype, m, c.mean)
		}
	}
}

// No two runs of a measurement see the same contents, and both sides of a round see the same.
func TestFreshContents(t *testing.T) {
	hash := func() map[string]int {
		s := start(t, launch.Host, time.Minute)
		if err := host(t, s, "slow", scale(500)); err != nil {
			t.Fatal(err)
		}
		_, kept, err := keep(t, s, 60, 60)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, p := range kept {
			seen[string(p.in["x"].Data)]++
		}
		return seen
	}
	seen := hash()
	if len(seen) != 60 {
		t.Errorf("%d different inputs in 60 samples", len(seen))
	}
}

func TestCalibration(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	_, err := s.Prepare(t.Context(), harness.Prepare{Benchmark: harness.CalibrationBenchmark, Cache: measure.Hot, Timer: measure.TimerCPU, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Measure(t.Context(), "calibration", harness.Measure{Samples: 10})
	if err != nil || slices.Min(m.Samples) < 20_000 {
		t.Errorf("%v, %v", m.Samples, err)
	}
	if err := s.Bye(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestColdSamples(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	file, err := compileKernels()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Prepare(t.Context(), harness.Prepare{
		Benchmark: "cold", Cache: measure.Cold, Timer: measure.TimerWall, Seed: 1, Arguments: scale(1000),
		Launch: &harness.Launch{Kind: launch.Host, File: file, Kernel: "honest"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, kept, err := keep(t, s, 10, 1); err != nil || !scaled(kept[0], "x", "out") {
		t.Error(err)
	}
}

func TestObjectsThatAreNotLoaded(t *testing.T) {
	s, dir := start(t, launch.Host, time.Minute), t.TempDir()
	source := filepath.Join(dir, "k.c")
	if err := os.WriteFile(source, []byte("void honest(float *x, float *o, int n) { o[0] = x[0] + n; }\nint main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := func(name string, flags ...string) string {
		path := filepath.Join(dir, name)
		if text, err := exec.CommandContext(t.Context(), "cc", append(flags, "-o", path, source)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return path
	}
	for says, file := range map[string]string{
		"wants an executable stack":   compile("stack.so", "-shared", "-fPIC", "-Wl,-z,execstack"),
		"it is a program":             compile("program.so", "-fPIE", "-pie"),
		"it is no 64-bit shared":      compile("object.so", "-c"),
		"it is no ELF file":           source,
		"No such file":                filepath.Join(dir, "nothing.so"),
		"undefined symbol: elsewhere": undefined(t, dir),
	} {
		_, err := s.Prepare(t.Context(), harness.Prepare{
			Benchmark: "x", Cache: measure.Hot, Timer: measure.TimerCPU, Arguments: scale(1),
			Launch: &harness.Launch{Kind: launch.Host, File: file, Kernel: "honest"},
		})
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Refused || !strings.Contains(e.Detail, says) {
			t.Errorf("%s: got %v, want %q", file, err, says)
		}
	}
}

func undefined(t *testing.T, dir string) string {
	t.Helper()
	source, path := filepath.Join(dir, "u.c"), filepath.Join(dir, "undefined.so")
	if err := os.WriteFile(source, []byte("void elsewhere(void);\nvoid honest(float *x, float *o, int n) { elsewhere(); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

// pawl's end is the launcher's end, and that of the guest.
func TestNothingOutlivesPawl(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := harness.Start(ctx, harness.Command{Line: launch.Command(launcher(t, launch.Host)), Dir: t.TempDir()}, harness.Hello{Pawl: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := host(t, s, "honest", scale(10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	s.Kill()
	if _, err := s.Measure(t.Context(), "it", harness.Measure{Samples: 1}); err == nil {
		t.Error("it still measures")
	}
}

// The guest runs the kernel under the name that profilers look for; what it computes is looked at as ever.
func TestProfiledHostKernels(t *testing.T) {
	s := start(t, launch.Host, time.Minute)
	for _, n := range []int{1, 4} {
		if err := host(t, s, "honest", scale(1000)); err != nil {
			t.Fatal(err)
		}
		if launches, err := s.Profile(t.Context(), harness.Profile{Iterations: n, Warmup: 2}); err != nil || launches != nil {
			t.Errorf("%d runs: %v, %v", n, launches, err)
		}
	}
	if _, _, err := keep(t, s, 3, 1); err != nil {
		t.Errorf("after a profile: %v", err)
	}
}

// Sums tell of every run: kernels that compute the same have the same of one key, in any process,
// and one that is wrong in any run of a batch has others.
func TestSums(t *testing.T) {
	sums := func(kernel string) harness.Sums {
		s := start(t, launch.Host, time.Minute)
		if err := host(t, s, kernel, scale(3001)); err != nil {
			t.Fatal(err)
		}
		m, err := s.Measure(t.Context(), kernel, harness.Measure{Samples: 5, Batch: 4, Verify: &harness.Verify{Key: 9}})
		if err != nil {
			t.Fatalf("%s: %v", kernel, err)
		}
		if m.Batch != 4 || len(m.Sums) != 5*harness.SumBlocks*harness.BlockSums {
			t.Fatalf("%s: %d sums of batches of %d", kernel, len(m.Sums), m.Batch)
		}
		return m.Sums
	}
	want := sums("honest")
	if diff := cmp.Diff(want, sums("honest_backwards")); diff != "" {
		t.Errorf("two kernels that compute the same have different sums:\n%s", diff)
	}
	each := len(want) / 5
	for _, kernel := range []string{"wrong", "keeps_by_shape"} {
		got := sums(kernel)
		for i := range 5 {
			if slices.Equal(got[i*each:(i+1)*each], want[i*each:(i+1)*each]) {
				t.Errorf("%s: sample %d has right sums", kernel, i)
			}
		}
	}
}
