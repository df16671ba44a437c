package launch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/sdk"
	"github.com/goatnote-inc/pawl/stats"
)

// BenchmarkCost measures whole rounds of one kernel, by a harness with pawl.h and by the
// launcher, in turns: what the checked level costs in wall time. docs/lab/checked.md has
// the figures.
func BenchmarkCost(b *testing.B) {
	example := func(path string) string {
		abs, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", path))
		if err != nil {
			b.Fatal(err)
		}
		return abs
	}
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pawl.h"), sdk.Header, 0o600); err != nil {
		b.Fatal(err)
	}
	cc := func(name string, arguments ...string) string {
		path := filepath.Join(dir, name)
		if text, err := exec.CommandContext(b.Context(), "cc", append([]string{"-O3", "-march=native", "-I" + dir, "-o", path}, arguments...)...).CombinedOutput(); err != nil {
			b.Skipf("%v\n%s", err, text)
		}
		return path
	}
	b.Run("matmul", func(b *testing.B) {
		const n = 512
		matrix := func(role tensor.Role, name string) tensor.Argument {
			return tensor.Argument{Name: name, Role: role, DType: tensor.F32, Shape: []int{n, n}}
		}
		arguments := []tensor.Argument{value("n", tensor.I32, n), matrix(tensor.In, "a"), matrix(tensor.In, "b"), matrix(tensor.Out, "c")}
		unchecked := cc("matmul", example("matmul-c/harness.c"), example("matmul-c/matmul.c"))
		file := cc("matmul.so", "-shared", "-fPIC", example("matmul-c/matmul.c"))
		compare(b, unchecked, arguments, harness.Prepare{Benchmark: "matmul", Params: map[string]any{"N": n}, Timer: measure.TimerCPU},
			harness.Launch{Kind: launch.Host, File: file, Kernel: "matmul"})
	})
	b.Run("reduce", func(b *testing.B) {
		const n = 1 << 20
		b.Setenv("PAWL_OPENCL_CPU", "unprotected")
		b.Setenv("REDUCE_CL", example("reduce-opencl/reduce.cl"))
		arguments := []tensor.Argument{in("in", tensor.F32, n), value("count", tensor.I32, n), out("out", tensor.F32, 64)}
		unchecked := cc("reduce", "testdata/reduce.c", "-lOpenCL")
		compare(b, unchecked, arguments, harness.Prepare{Benchmark: "reduce", Params: map[string]any{"N": n}, Timer: measure.TimerDevice},
			harness.Launch{Kind: launch.OpenCL, File: os.Getenv("REDUCE_CL"), Kernel: "reduce", Grid: [3]int{64, 1, 1}, Block: [3]int{128, 1, 1}, Options: "-DGROUP=128"})
	})
}

func compare(b *testing.B, unchecked string, arguments []tensor.Argument, p harness.Prepare, l harness.Launch) {
	b.Helper()
	checked, err := launch.Build(b.Context(), l.Kind, [][]tensor.Argument{arguments}, cache)
	if err != nil {
		b.Fatal(err)
	}
	p.Cache, p.Seed, p.Implementation = measure.Hot, 1, "candidate"
	withLaunch := p
	withLaunch.Arguments, withLaunch.Launch = arguments, &l
	var plain, own, ratios []float64
	for b.Loop() {
		plain = append(plain, round(b, launch.Command(unchecked), p, nil))
		own = append(own, round(b, launch.Command(checked), withLaunch, &harness.Keep{Dir: b.TempDir(), Count: 1, Seed: 5}))
		ratios = append(ratios, own[len(own)-1]/plain[len(plain)-1])
	}
	slices.Sort(ratios)
	cost := func(quantile float64) float64 { return 100 * (ratios[int(quantile*float64(len(ratios)-1))] - 1) }
	b.ReportMetric(stats.Median(plain)*1e3, "unchecked-ms")
	b.ReportMetric(stats.Median(own)*1e3, "checked-ms")
	b.ReportMetric(cost(0.5), "cost-%")
	b.ReportMetric(cost(0.25), "lower-quartile-%")
	b.ReportMetric(cost(0.75), "upper-quartile-%")
}

// round is what pawl does to measure a case once: a fresh process, warm-up, samples.
func round(b *testing.B, line string, p harness.Prepare, keep *harness.Keep) float64 {
	b.Helper()
	began := time.Now()
	s, err := harness.Start(b.Context(), harness.Command{Line: line, Dir: b.TempDir()}, harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.CPU}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Kill()
	if _, err := s.Prepare(b.Context(), p); err != nil {
		b.Fatal(err)
	}
	for _, m := range []harness.Measure{{Samples: 5, Warmup: true}, {Samples: 40, Keep: keep}} {
		if _, err := s.Measure(b.Context(), "it", m); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Bye(b.Context()); err != nil {
		b.Fatal(err)
	}
	return time.Since(began).Seconds()
}
