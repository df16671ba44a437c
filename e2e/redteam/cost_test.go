package redteam

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/stats"
)

// BenchmarkCost measures whole runs of two kernels against themselves, two rounds each, at the levels
// trusted and checked in random order: what a level costs in wall time. With PAWL_OLDER, the folder of
// an older checkout, it also measures trusted there. docs/lab/checked.md has the figures.
func BenchmarkCost(b *testing.B) {
	ways := []way{{"checked", binary, "../.."}, {"trusted", binary, "../.."}}
	if older := os.Getenv("PAWL_OLDER"); older != "" {
		ways = append(ways, way{"trusted", buildOlder(b, older), older})
	}
	for kernel, files := range map[string][]string{
		"matmul": {"matmul-c/harness.c", "matmul-c/matmul.c", "matmul-c/matmul.h"},
		"reduce": {"reduce-opencl/reduce.cl"},
	} {
		b.Run(kernel, func(b *testing.B) {
			dirs := make([]string, len(ways))
			for i, w := range ways {
				dirs[i] = w.repository(b, "cost-"+kernel, files)
				w.seconds(b, dirs[i]) // builds, and fills the caches
			}
			took := make([][]float64, len(ways))
			for b.Loop() {
				for _, i := range rand.Perm(len(ways)) {
					took[i] = append(took[i], ways[i].seconds(b, dirs[i]))
				}
			}
			for i, w := range ways[:len(ways)-1] {
				ratios := make([]float64, len(took[i]))
				for k := range ratios {
					ratios[k] = took[i][k] / took[i+1][k]
				}
				name := w.level + "/" + cmp.Or(map[int]string{1: "before"}[i], ways[i+1].level)
				b.ReportMetric(100*(stats.Median(ratios)-1), name+"-%")
				slices.Sort(ratios)
				b.ReportMetric(100*(ratios[len(ratios)/4]-1), name+"-lower-quartile-%")
				b.ReportMetric(100*(ratios[3*len(ratios)/4]-1), name+"-upper-quartile-%")
			}
		})
	}
}

// buildOlder builds pawl in the folder of an older checkout.
func buildOlder(t testing.TB, older string) string {
	t.Helper()
	built := filepath.Join(t.TempDir(), "pawl")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", built, "./cmd/pawl")
	cmd.Dir = older
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return built
}

// way is how a suite is measured.
type way struct{ level, pawl, source string }

// repository commits a suite with files of examples, and with the SDK that belongs to the pawl.
func (w way) repository(b *testing.B, base string, examples []string) string {
	b.Helper()
	var edits []edit
	for _, name := range examples {
		text, err := os.ReadFile(filepath.Join(w.source, "examples", name))
		must(b, err)
		edits = append(edits, edit{file: filepath.Base(name), to: string(text)})
	}
	return repositoryWith(b, filepath.Join(w.source, "sdk"), base, edits...)
}

// seconds is how long one run takes.
func (w way) seconds(b *testing.B, dir string) float64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.pawl, "bench", "--base", "HEAD", "--trust", w.level, "--force-measure")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PAWL_LOCK_DIR="+dir, "PAWL_CACHE="+cache, "PATH="+path, "PAWL_OPENCL_CPU=unprotected")
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatal(fmt.Errorf("%s: %w\n%s", cmd, err, out))
	}
	return time.Since(began).Seconds()
}
