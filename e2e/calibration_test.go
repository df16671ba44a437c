package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent calibrates a card through OpenCL with this suite. PoCL stands for the card, and sizes are smaller. How noisy the machine is
// says nothing about the kernel, so the verdicts are not checked.
func TestCalibration_OpenCLKernelRunsWithAPlantedSlowdown(t *testing.T) {
	needsTime(t)
	needsOpenCL(t, "opencl")
	dir := t.TempDir()
	small := strings.NewReplacer("rounds: [8, 16, 32]", "rounds: [4]", "samples: 30, warmup: 10", "samples: 5, warmup: 2", "N: [1048576]", "N: [4096]")
	for _, name := range []string{"kernel.cl", "pawl.yaml"} {
		text, err := os.ReadFile(filepath.Join("../internal/fleet/agent/calibrate/opencl", name))
		must(t, err)
		write(t, filepath.Join(dir, name), small.Replace(string(text)))
	}
	t.Setenv("PAWL_OPENCL_CPU", "unprotected") // as the agent does: the kernel is its own
	r := pawl(t, dir, "doctor", "--gate", "--json", "--seed=7", "--suite=pawl.yaml")
	var answer struct {
		Gate *struct {
			Slowdown float64
			Cases    []struct {
				Case    string
				Rounds  int
				Planted bool
			}
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil || r.code > 2 || answer.Gate == nil || len(answer.Gate.Cases) != 1 {
		t.Fatalf("exit code %d, %v\n%s%s", r.code, err, r.stdout, r.stderr)
	}
	if c := answer.Gate.Cases[0]; c.Case != "calibration/N4096" || c.Rounds != 4 || !c.Planted || answer.Gate.Slowdown != 0.0625 {
		t.Errorf("answer %+v", *answer.Gate)
	}
}
