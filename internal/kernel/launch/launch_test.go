package launch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// cache holds the launchers that tests built, and the kernels they launch.
var cache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "pawl-launch")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cache = dir
	_ = os.Setenv("POCL_CACHE_DIR", filepath.Join(dir, "pocl"))
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no %s here", program)
	}
}

func in(name string, d tensor.DType, shape ...int) tensor.Argument {
	return tensor.Argument{Name: name, Role: tensor.In, DType: d, Shape: shape}
}

func out(name string, d tensor.DType, shape ...int) tensor.Argument {
	return tensor.Argument{Name: name, Role: tensor.Out, DType: d, Shape: shape}
}

func value(name string, d tensor.DType, v float64) tensor.Argument {
	return tensor.Argument{Name: name, Role: tensor.Value, DType: d, Value: v}
}

// scale is the signature of most kernels of testdata: out[i] = 2 * x[i] + 1.
func scale(n int) []tensor.Argument {
	return []tensor.Argument{in("x", tensor.F32, n), out("out", tensor.F32, n), value("n", tensor.I32, float64(n))}
}

// signatures are all that testdata/kernels.c has, so that one launcher serves all tests.
func signatures() [][]tensor.Argument {
	return [][]tensor.Argument{
		scale(1),
		{out("out", tensor.F32, 1), value("n", tensor.I32, 1)},
		types(1),
		{in("a", tensor.F32, 1), in("b", tensor.F32, 1), out("c", tensor.F32, 1), value("n", tensor.I32, 1)},
	}
}

func types(n int) []tensor.Argument {
	return []tensor.Argument{
		in("h", tensor.F16, n), value("scale", tensor.F64, 0.5), value("count", tensor.I64, float64(n)), value("bias", tensor.F32, 3),
		value("flag", tensor.Bool, 1), value("small", tensor.I16, -7), out("out", tensor.F32, n),
	}
}

func launcher(t *testing.T, kind string) string {
	t.Helper()
	need(t, "cc")
	path, err := launch.Build(t.Context(), kind, signatures(), cache)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts a launcher.
func start(t *testing.T, kind string, silence time.Duration) *harness.Session {
	t.Helper()
	c := harness.Command{Line: launch.Command(launcher(t, kind)), Dir: t.TempDir(), Silence: silence}
	s, err := harness.Start(t.Context(), c, harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.CPU}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

var compileKernels = sync.OnceValues(func() (string, error) {
	path := filepath.Join(cache, "kernels.so")
	cmd := exec.Command("cc", "-shared", "-fPIC", "-O1", "-pthread", "-DMARK=\""+mark()+"\"", "-o", path, "testdata/kernels.c", "-lm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, text)
	}
	return path, nil
})

// mark is a file that a kernel tries to make.
func mark() string { return filepath.Join(cache, "mark") }

// host prepares a kernel of testdata/kernels.c.
func host(t *testing.T, s *harness.Session, kernel string, arguments []tensor.Argument) error {
	t.Helper()
	file, err := compileKernels()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Prepare(t.Context(), harness.Prepare{
		Benchmark: kernel, Implementation: "candidate", Cache: measure.Hot, Timer: measure.TimerCPU, Seed: 42,
		Arguments: arguments, Launch: &harness.Launch{Kind: launch.Host, File: file, Kernel: kernel},
	})
	return err
}

// keep measures and returns what was kept: pairs of tensors, before and after.
func keep(t *testing.T, s *harness.Session, samples, count int) (harness.Measured, []pair, error) {
	t.Helper()
	dir := t.TempDir()
	m, err := s.Measure(t.Context(), "it", harness.Measure{Samples: samples, Keep: &harness.Keep{Dir: dir, Count: count, Seed: 99}})
	var pairs []pair
	for _, k := range m.Kept {
		pairs = append(pairs, pair{sample: k.Sample, in: load(t, k.Inputs), out: load(t, k.Outputs)})
	}
	return m, pairs, err
}

type pair struct {
	sample  int
	in, out map[string]tensor.Tensor
}

func load(t *testing.T, path string) map[string]tensor.Tensor {
	t.Helper()
	list, err := tensor.Load(path, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]tensor.Tensor{}
	for _, x := range list {
		byName[x.Name] = x
	}
	return byName
}

func values(t tensor.Tensor) []float64 {
	v := make([]float64, t.Len())
	t.Read(v, 0)
	return v
}

// scaled tells whether out is what scale computes of x.
func scaled(p pair, from, to string) bool {
	x, got := values(p.in[from]), values(p.out[to])
	if len(x) != len(got) || len(x) == 0 {
		return false
	}
	for i := range x {
		if float32(got[i]) != 2*float32(x[i])+1 {
			return false
		}
	}
	return true
}
