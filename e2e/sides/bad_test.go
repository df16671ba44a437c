package sides

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// hang is how long pawl waits for a case that hangs. It is long, because on a busy machine a good
// case must not seem to hang.
const hang = 20 * time.Second

// badFiles are cases that take a fixed CPU time, which does not depend on load.
const badFiles = `
-- .gitignore --
results/
.pawl/
harness
-- pawl.yaml --
version: 1
build: {command: cc -O1 -o harness harness.c, outputs: [harness]}
harness: {command: ./harness, timeout: 20s}
definition: [harness.c, pawl.h]
measure: {timer: cpu, samples: 10, warmup: 2, rounds: [4, 8]}
benchmarks:
  spin: {matrix: {N: [$CASES]}}
-- harness.c --
#include "pawl.h"
#include <signal.h>
#include <sys/resource.h>
#include "kernel.h"
static void *setup(const pawl_params *p, pawl_rng *rng) {
  int *n = pawl_alloc(sizeof *n);
  (void)rng;
  *n = (int)pawl_int(p, "N");
  return n;
}
static void run(void *state, pawl_launch *l) {
  (void)l;
  kernel(*(int *)state);
}
int main(int argc, char **argv) {
  const struct rlimit memory = {512u << 20, 512u << 20}, core = {0, 0};
  setrlimit(RLIMIT_AS, &memory), setrlimit(RLIMIT_CORE, &core);
  static const pawl_benchmark b[] = {{.name = "spin", .setup = setup, .run = run}};
  return pawl_main(argc, argv, b, 1);
}
-- kernel.h --
static void spin(long ns) {
  struct timespec from, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < ns);
}
static void kernel(int n) { spin(100000 + n); }
`

// slowKernel is four times slower in every case, and bad in none or three of them.
const slowKernel = `
static void kernel(int n) {
  if (BAD && n == 5) *(volatile int *)0 = 0;
  if (BAD && n == 14) for (;;) pause();
  while (BAD && n == 22) {
    char *p = malloc(1 << 20);
    if (!p) fputs("out of memory\n", stderr), abort();
    memset(p, 1, 1 << 20);
  }
  spin(400000 + n);
}
`

// One case crashes, one hangs and one runs out of memory: the others have a verdict. At night there are
// 27 cases, and the run takes at most 1.5 times as long as one without bad cases, and the time that
// the hang takes.
func TestBadCases(t *testing.T) {
	beside(t)
	cases := []int{5, 6, 14, 15, 22, 23}
	if testrun.Nightly() {
		cases = nil
		for n := range 27 {
			cases = append(cases, n+1)
		}
	}
	took := map[string]time.Duration{}
	for bad, want := range map[string]map[string]int{"0": {"regression": len(cases)}, "1": {"regression": len(cases) - 3, "broken": 3}} {
		if bad == "0" && !testrun.Nightly() {
			continue
		}
		r := newRepository(t, strings.Replace(badFiles, "[$CASES]", asJSON(t, cases), 1))
		r.withSDK(t, "cpp/pawl.h")
		r.commit(t)
		text, err := os.ReadFile(filepath.Join(r.dir, "kernel.h"))
		must(t, err)
		spin, _, _ := strings.Cut(string(text), "static void kernel")
		r.write(t, "-- kernel.h --\n#define BAD "+bad+"\n"+spin+slowKernel)
		result := r.pawl(t, ".", []int{1}, "run", "--base", "HEAD", "--fuzz", "0", "--profile", "0")
		took[bad] = result.took
		got := map[string]int{}
		for _, c := range r.verdict(t).Cases {
			got[c.Verdict]++
			if why := map[string]string{"spin/N5": "segmentation fault", "spin/N14": "hung", "spin/N22": "out of memory"}[c.Name]; bad == "1" && !strings.Contains(c.Sentence, why) {
				t.Errorf("%s: %q does not say %q", c.Name, c.Sentence, why)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("bad cases %s: %v, want %v\n%s", bad, got, want, result.said)
		}
	}
	t.Logf("with bad cases %v, without %v", took["1"], took["0"])
	if most := took["0"]*3/2 + hang; testrun.Nightly() && took["1"] > most {
		t.Errorf("with bad cases it took %v, without %v: more than %v", took["1"], took["0"], most)
	}
}

// verdict is what the test reads of verdict.json.
type verdict struct {
	Verdict string
	Cases   []struct {
		Name, Verdict, Sentence string
	}
}

func (r *repository) verdict(t *testing.T) verdict {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "results/verdict.json"))
	must(t, err)
	var v verdict
	must(t, json.Unmarshal(text, &v))
	return v
}
