package sides

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
)

// flagsFiles are a hash in C, whose flags are a part of the suite. Each step waits for the one before
// it, so that other work on the same core changes its time little.
const flagsFiles = `
-- .gitignore --
results/
.pawl/
harness
*.o
-- pawl.yaml --
version: 1
build: {command: "gcc $CFLAGS -c kernel.c && gcc -O1 -o harness harness.c kernel.o", env: {CFLAGS: -O3}, outputs: [harness]}
harness: {command: ./harness}
definition: [harness.c, pawl.h]
measure: {timer: cpu, samples: 40, warmup: 5, rounds: [4, 8, 16]}
benchmarks:
  hash: {matrix: {N: [1024]}}
-- kernel.c --
#include <stdint.h>
void hash(int n, const int32_t *a, int32_t *c) {
  uint32_t x = 1;
  for (int i = 0; i < n; i++) {
    x ^= (uint32_t)a[i];
    for (int k = 0; k < 256; k++) x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    c[i] = (int32_t)x;
  }
}
-- harness.c --
#include "pawl.h"
void hash(int n, const int32_t *a, int32_t *c);
struct state { int n; int32_t *a, *c; };
static void *setup(const pawl_params *p, pawl_rng *rng) {
  struct state *s = pawl_alloc(sizeof *s);
  s->n = (int)pawl_int(p, "N");
  s->a = pawl_alloc(4 * (size_t)s->n), s->c = pawl_alloc(4 * (size_t)s->n);
  for (int i = 0; i < s->n; i++) s->a[i] = (int32_t)pawl_random(rng);
  pawl_input("a", s->a, "i32", s->n), pawl_output("c", s->c, "i32", s->n);
  return s;
}
static void run(void *state, pawl_launch *l) {
  const struct state *s = state;
  (void)l;
  hash(s->n, s->a, s->c);
}
int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "hash", .setup = setup, .run = run}};
  return pawl_main(argc, argv, b, 1);
}
-- hand.c --
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
void hash(int n, const int32_t *a, int32_t *c);
static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
static int order(const void *x, const void *y) { return (*(const long *)x > *(const long *)y) - (*(const long *)x < *(const long *)y); }
int main(void) { /* prints the median CPU time of 101 runs, in ns */
  static int32_t a[1024], c[1024];
  long took[101];
  for (int i = 0; i < 1024; i++) a[i] = rand();
  for (int i = 0; i < 101; i++) {
    const long from = now();
    hash(1024, a, c);
    took[i] = now() - from;
  }
  qsort(took, 101, sizeof *took, order);
  printf("%ld\n", took[50]);
}
`

// Other flags are a regression by the factor that a timing by hand gives: 10 of 10 within 10 %.
func TestFlags(t *testing.T) {
	testrun.NightlyOnly(t)
	r := newRepository(t, flagsFiles)
	r.withSDK(t, "cpp/pawl.h")
	r.commit(t)
	shell(t, r.dir, "sed -i 's/CFLAGS: -O3/CFLAGS: -O0/' pawl.yaml")
	r.commit(t)
	for try := range 10 {
		r.pawl(t, ".", []int{1}, "run", "--base", "HEAD~1", "--fuzz", "0", "--profile", "0", "--seed", strconv.Itoa(try+1))
		if v := r.verdict(t); v.Verdict != "regression" {
			t.Errorf("try %d: %s", try+1, v.Verdict)
		}
		record, err := measure.Load(filepath.Join(r.dir, "results/current.json"))
		must(t, err)
		side := summary.Of(record)[0].Sides[0]
		hand := r.timeByHand(t)
		t.Logf("try %d: pawl %.2f (rounds %.2f to %.2f), by hand %.2f, off by %+.1f %%", try+1, side.Ratio, side.RatioLow, side.RatioHigh, hand, (side.Ratio/hand-1)*100)
		if off := math.Abs(side.Ratio/hand - 1); off > 0.1 && os.Getenv("PAWL_LAB") != "" { // measures time: make lab PAGE=sides
			t.Errorf("try %d: pawl says %.2f, a timing by hand %.2f", try+1, side.Ratio, hand)
		}
	}
}

// timeByHand returns how many times longer the kernel takes with -O0 than with -O3, without pawl: the
// median of the ratios of 15 pairs of processes.
func (r *repository) timeByHand(t *testing.T) float64 {
	t.Helper()
	dir := t.TempDir()
	for _, flags := range []string{"-O3", "-O0"} {
		shell(t, r.dir, fmt.Sprintf("gcc %s -c -o %[2]s/k.o kernel.c && gcc -O1 -o %[2]s/hand%[1]s hand.c %[2]s/k.o", flags, dir))
	}
	median := func(program string) float64 {
		ns, err := strconv.ParseFloat(strings.TrimSpace(shell(t, dir, program)), 64)
		must(t, err)
		return ns
	}
	var ratios []float64
	for range 15 {
		ratios = append(ratios, median("./hand-O0")/median("./hand-O3"))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

const dataFiles = `
-- .gitignore --
results/
.pawl/
harness
-- pawl.yaml --
version: 1
build: {command: gcc -O1 -o harness harness.c, outputs: [harness]}
harness: {command: ./harness}
definition: [harness.c, pawl.h]
measure: {timer: cpu, samples: 10, warmup: 2, rounds: [4, 8]}
benchmarks:
  steps: {matrix: {N: [1]}}
-- steps.txt --
1
-- harness.c --
#include "pawl.h"
static void *setup(const pawl_params *p, pawl_rng *rng) {
  long *ns = pawl_alloc(sizeof *ns);
  FILE *f = fopen("steps.txt", "r");
  (void)p, (void)rng;
  if (!f || fscanf(f, "%ld", ns) != 1) pawl_fail("cannot read steps.txt");
  fclose(f);
  *ns *= 100000;
  return ns;
}
static void run(void *state, pawl_launch *l) { /* takes CPU time, which does not depend on load */
  struct timespec from, now;
  (void)l;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < *(long *)state);
}
int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "steps", .setup = setup, .run = run}};
  return pawl_main(argc, argv, b, 1);
}
`

const launchFiles = `
-- .gitignore --
results/
.pawl/
-- pawl.yaml --
version: 1
trust: checked
measure: {timer: device, samples: 40, warmup: 3, rounds: [4, 8, 16]}
benchmarks:
  axpy:
    matrix: {N: [65536]}
    arguments:
      a: {in: f32, shape: [N]}
      b: {in: f32, shape: [N]}
      c: {out: f32, shape: [N]}
      n: {value: N, type: i32}
    launch: {file: kernel.cl, kernel: axpy, grid: [ceil(N / 64)], block: [64]}
    check: {expression: {c: a * b + sqrt(a * a + 1)}, tolerance: {atol: 1e-5, rtol: 1e-5}}
-- kernel.cl --
#define STEPS 24
kernel void axpy(global const float *a, global const float *b, global float *c, int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  float x = a[i] * a[i] + 1, r = x;
  for (int k = 0; k < STEPS; k++) r = 0.5f * (r + x / r);
  c[i] = a[i] * b[i] + r;
}
`

const editableFiles = `
-- .gitignore --
results/
.pawl/
-- pawl.yaml --
version: 1
harness: {command: python3 bench.py}
definition: [bench.py, pawl_harness.py]
measure: {timer: cpu, samples: 10, warmup: 2, rounds: [4, 8]}
benchmarks:
  steps: {matrix: {N: [1]}}
-- bench.py --
import pawl_harness as pawl
import steps

@pawl.benchmark("steps")
def setup(N):
    return steps.run

pawl.main()
-- src/steps/__init__.py --
import time

MS = 1

def run():
    """Takes CPU time, which does not depend on load."""
    end = time.thread_time_ns() + MS * 1000000
    while time.thread_time_ns() < end:
        pass
`

// A slowdown that comes from a file which no recipe names is a regression: 10 of 10 at night, once in CI.
func TestFiles(t *testing.T) {
	beside(t)
	for _, test := range []struct {
		name, files, sdk, edit string
		prepare                func(*testing.T, *repository)
	}{
		{"data file", dataFiles, "cpp/pawl.h", "sed -i s/1/5/ steps.txt", func(*testing.T, *repository) {}},
		{"launch file", launchFiles, "", "sed -i 's/STEPS 24/STEPS 240/' kernel.cl", needsOpenCL},
		{"editable install", editableFiles, "python/pawl_harness.py", "sed -i 's/MS = 1/MS = 5/' src/steps/__init__.py", installEditable},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRepository(t, test.files)
			test.prepare(t, r)
			if test.sdk != "" {
				r.withSDK(t, test.sdk)
			}
			r.commit(t)
			shell(t, r.dir, test.edit)
			r.commit(t)
			for try := range testrun.Times(1, 10) {
				r.pawl(t, ".", []int{1}, "run", "--base", "HEAD~1", "--fuzz", "0", "--profile", "0", "--seed", strconv.Itoa(try+1))
				record, err := measure.Load(filepath.Join(r.dir, "results/current.json"))
				must(t, err)
				side := summary.Of(record)[0].Sides[0]
				t.Logf("try %d: %s, %.2f times (rounds %.2f to %.2f)", try+1, r.verdict(t).Verdict, side.Ratio, side.RatioLow, side.RatioHigh)
				if v := r.verdict(t); v.Verdict != "regression" {
					t.Errorf("try %d: %s", try+1, v.Verdict)
				}
			}
		})
	}
}

// needsOpenCL also skips in CI: the time on PoCL's device depends on what else runs.
func needsOpenCL(t *testing.T, _ *repository) {
	t.Helper()
	testrun.NightlyOnly(t)
	if out, err := exec.CommandContext(t.Context(), "clinfo", "-l").Output(); err != nil || len(out) == 0 {
		t.Skip("there is no OpenCL device here, or no clinfo to ask")
	}
}

// installEditable does what pip install -e does: a .pth file names the src folder of the working tree.
func installEditable(t *testing.T, r *repository) {
	t.Helper()
	r.env = append(r.env, "PYTHONUSERBASE="+filepath.Join(r.own, "user"))
	cmd := exec.CommandContext(t.Context(), "python3", "-c", `import os, site, sys
folder = site.getusersitepackages()
os.makedirs(folder)
open(os.path.join(folder, "__editable__.steps-1.0.pth"), "w").write(sys.argv[1] + "\n")`, filepath.Join(r.dir, "src"))
	cmd.Env = r.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install the package: %v\n%s", err, out)
	}
	cmd = exec.CommandContext(t.Context(), "python3", "-c", "import steps; print(steps.__file__)")
	cmd.Env = r.env
	if out, err := cmd.Output(); err != nil || !strings.HasPrefix(string(out), r.dir) {
		t.Fatalf("the package is not installed: %v, %s", err, out)
	}
}

// An editable install whose finder is asked before PYTHONPATH gives the base the package of the working
// tree. pawl refuses that: no answer, not a wrong one.
func TestEditableFinder(t *testing.T) {
	beside(t)
	r := newRepository(t, editableFiles)
	r.withSDK(t, "python/pawl_harness.py")
	r.commit(t)
	installEditable(t, r)
	source := filepath.Join(r.dir, "src/steps/__init__.py")
	shell(t, r.own, `cd user/lib/python*/site-packages && rm *.pth && echo 'import _steps_loader' > steps.pth && cat > _steps_loader.py <<END
import importlib.util, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, "`+source+`") if name == "steps" else None
sys.meta_path.insert(0, Finder())
END`)
	shell(t, r.dir, "sed -i 's/MS = 1/MS = 5/' "+source)
	said := r.pawl(t, ".", []int{2}, "run", "--base", "HEAD", "--fuzz", "0", "--profile", "0").said
	if said = strings.Join(strings.Fields(said), " "); !strings.Contains(said, "src/steps/__init__.py belongs to the working tree, not to the checkout of the base") {
		t.Errorf("it does not say why:\n%s", said)
	}
	if !strings.Contains(said, "The run ended early. Fix the reported problem, then run it again:") {
		t.Errorf("it does not say what to do next:\n%s", said)
	}
}

// A change of documentation alone is identical: nothing is built, and the device is not used.
func TestDocumentation(t *testing.T) {
	r := newRepository(t, `
-- .gitignore --
results/
.pawl/
-- pawl.yaml --
version: 1
build: {command: touch "$OWN/built", outputs: [kernel]}
harness: {command: touch "$OWN/started", format: hyperfine}
`)
	r.env = append(r.env, "OWN="+r.own)
	r.write(t, "-- README.md --\nA page.\n-- docs/guide.rst --\nA guide.\n")
	r.commit(t)
	result := r.pawl(t, ".", []int{0}, "run", "--base", "HEAD~1")
	if !strings.Contains(result.said, "identical") {
		t.Errorf("it does not say identical:\n%s", result.said)
	}
	for _, path := range []string{filepath.Join(r.own, "built"), filepath.Join(r.own, "started"), filepath.Join(r.dir, "results/current.json"), filepath.Join(r.dir, ".git/pawl")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	t.Logf("%v", result.took)
}
