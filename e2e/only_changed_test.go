package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

// TestThousandFunctions measures what a run of 1,000 functions costs in which one changed: at most 1.3 times the
// run of that function alone, and the sample of 8 others. Only with PAWL_LAB, which names the file for the table.
func TestThousandFunctions(t *testing.T) {
	out := os.Getenv("PAWL_LAB")
	if out == "" {
		t.Skip("only with PAWL_LAB=FILE")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pawl.yaml"), thousandSuite())
	write(t, filepath.Join(dir, ".gitignore"), "results/\n.pawl/\n*.so\n")
	write(t, filepath.Join(dir, "kernels.c"), thousandKernels(20))
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "base")
	write(t, filepath.Join(dir, "kernels.c"), thousandKernels(40))

	gate := func(args ...string) result {
		t.Helper()
		r := pawl(t, dir, append([]string{"run", "--base", "HEAD", "--profile", "0", "--seed", "5"}, args...)...)
		if r.code != 1 && r.code != 2 { // a busy machine may leave one of the sample undecided
			r.want(t, 1)
		}
		return r
	}
	gate() // fills the cache of builds, which is not what is measured
	const tries = 3
	var alone, nine, all []result
	for range tries {
		alone = append(alone, gate("--case", "work/K5"))
		nine = append(nine, gate("--case", "work/K[1-9]"))
		all = append(all, gate())
		t.Logf("one %.1f s, with 8 others %.1f s, all %.1f s", alone[len(alone)-1].took.Seconds(), nine[len(nine)-1].took.Seconds(), all[len(all)-1].took.Seconds())
		run := load(t, filepath.Join(dir, "results/current.json"))
		count := map[measure.Unchanged]int{}
		for _, c := range run.Cases {
			if c.Implementation == measure.Candidate {
				count[c.Unchanged]++
			}
		}
		if count[measure.Skipped] != 991 || count[measure.Sampled] != 8 || count[""] != 1 {
			t.Fatalf("of 1,000 cases: %v", count)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| median of %d runs | the changed one alone, s | it and 8 others | all 1,000 | all, less the 8, over one |\n| --- | ---: | ---: | ---: | ---: |\n", tries)
	for _, clock := range []struct {
		name string
		read func(result) float64
	}{
		{"wall time", func(r result) float64 { return r.took.Seconds() }},
		{"CPU time", func(r result) float64 { return r.cpu.Seconds() }},
	} {
		median := func(list []result) float64 {
			var seconds []float64
			for _, r := range list {
				seconds = append(seconds, clock.read(r))
			}
			slices.Sort(seconds)
			return seconds[tries/2]
		}
		one, sampled, whole := median(alone), median(nine), median(all)
		factor := (whole - (sampled - one)) / one
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.2f |\n", clock.name, one, sampled, whole, factor)
		if factor > 1.3 {
			t.Errorf("%s: the run of all takes %.2f times that of one, want at most 1.3", clock.name, factor)
		}
	}
	t.Log("\n" + b.String())
	must(t, os.WriteFile(out, []byte(b.String()), 0o644))
}

func thousandSuite() string {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprint(i))
	}
	return `version: 1
trust: checked
device: {kind: cpu}
build: {command: gcc -O2 -fno-ipa-icf -falign-functions=4096 -fPIC -shared -o kernels.so kernels.c, outputs: [kernels.so]}
measure: {timer: cpu, samples: 20, warmup: 5, rounds: [4]} # the same work in every run
benchmarks:
  work:
    matrix: {K: [` + strings.Join(names, ", ") + `]}
    arguments: {x: {in: f32, shape: [4096]}, y: {out: f32, shape: [4096]}, n: {value: 4096}}
    launch: {file: kernels.so, kernel: 'work_${K}'}
`
}

// thousandKernels returns kernels of which the one with number 5 takes the given steps.
func thousandKernels(steps int) string {
	var b strings.Builder
	for i := range 1000 {
		n := 20 + i%7
		if i == 5 {
			n = steps
		}
		fmt.Fprintf(&b, "void work_%d(const float *x, float *y, int n) { for (int i = 0; i < n; i++) { float v = x[i]; for (int s = 0; s < %d; s++) v = v * 0.5f + x[i]; y[i] = v; } }\n", i, n)
	}
	return b.String()
}
