package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
	"github.com/goatnote-inc/pawl/measure"
)

// The kernel takes some milliseconds by the model's clock, and microseconds on the host, so that pawl's outside clock agrees.
const cycleHarness = `#include "pawl.h"

static __global__ void cycles(float *y) {
  if (threadIdx.x == 0) vgpu_cycles(4e6);
  y[threadIdx.x] = 1;
}

struct Cycles {
  float *y;
  Cycles(const pawl_params *, pawl_rng *) : y((float *)pawl_device_alloc(32 * sizeof(float))) {}
  void run(pawl_launch *l) { cycles<<<1, 32, 0, pawl_stream(l)>>>(y); }
};

int main(int argc, char **argv) {
  pawl_benchmark b = pawl_class<Cycles>("cycles");
  b.configs = "N=1";
  return pawl_main(argc, argv, &b, 1);
}
`

const cycleSuite = `version: 1
name: cycles
device: {kind: nvidia, clocks: CLOCKS}
build: {command: nvcc -O2 -I. -o harness harness.cu, outputs: [harness]}
harness: {command: ./harness}
measure: {timer: device, samples: 10, warmup: 5}
benchmarks: {cycles: {matrix: {N: [1]}}}
`

// With free clocks, sides take turns on a GPU. With locked ones each has it to itself.
func TestTurns_OnAGPUFollowTheClocks(t *testing.T) {
	needsTime(t)
	tools, err := filepath.Abs("../sdk/virtualgpu")
	must(t, err)
	devicetest.UseVirtual(t, "VGPU_CARD=L4", "VGPU_CLOCK=real", "VGPU_STEP=10", "PATH="+tools+":"+os.Getenv("PATH"))
	for clocks, turns := range map[string]bool{"free": true, "1200MHz": false} {
		t.Run(clocks, func(t *testing.T) {
			dir := t.TempDir()
			withSDK(t, dir)
			write(t, filepath.Join(dir, "harness.cu"), cycleHarness)
			write(t, filepath.Join(dir, "pawl.yaml"), strings.Replace(cycleSuite, "CLOCKS", clocks, 1))
			write(t, filepath.Join(dir, ".gitignore"), "harness\nresults/\n")
			git(t, dir, "init", "-q")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-q", "-m", "a kernel")
			write(t, filepath.Join(dir, "harness.cu"), strings.Replace(cycleHarness, "4e6", "4.2e6", 1))
			pawl(t, dir, "bench", "--base", "HEAD", "--rounds", "2").want(t, 0)
			run := load(t, filepath.Join(dir, "results/current.json"))
			if got := run.Testbed.Clocks.String(); got != clocks || run.Plan.Turns != turns {
				t.Errorf("clocks %s, turns %v, want %s and %v", got, run.Plan.Turns, clocks, turns)
			}
			sides := map[string]int{}
			for _, c := range run.Cases {
				for _, r := range c.Rounds {
					if r.Error != "" || (r.SamplesPerTurn > 0) != turns {
						t.Errorf("%s: turns of %d samples, error %q", c.Implementation, r.SamplesPerTurn, r.Error)
					}
					sides[c.Implementation]++
				}
			}
			if sides[measure.Base] != 2 || sides[measure.Candidate] != 2 {
				t.Errorf("rounds %v\n%+v", sides, run.Warnings)
			}
		})
	}
}
