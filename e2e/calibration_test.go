package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

// An agent calibrates a card through OpenCL with this suite. PoCL stands for the card, and sizes are smaller.
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
	wantCalibration(t, dir, "calibration/N4096")
}

// The kernel for AMD's cards is compiled as HIP for the virtual GPU, which stands for the card. Loops are shorter: its host is slow.
func TestCalibration_HIPKernelRunsWithAPlantedSlowdown(t *testing.T) {
	needsTime(t)
	tools, err := filepath.Abs("../sdk/virtualgpu")
	must(t, err)
	devicetest.UseVirtual(t, "VGPU_CARD=L4", "VGPU_CLOCK=real", "VGPU_SCALE=2048", "VGPU_STEP=10", "PATH="+tools+":"+os.Getenv("PATH"))
	dir := t.TempDir()
	withSDK(t, dir)
	small := strings.NewReplacer("kind: amd", "kind: nvidia", "rounds: [8, 16, 32]", "rounds: [4]", "samples: 50, warmup: 20", "samples: 5, warmup: 2", "N: [4194304]", "N: [65536]", "k < 1024", "k < 1")
	for _, name := range []string{"harness.cu", "pawl.yaml"} {
		text, err := os.ReadFile(filepath.Join("../internal/fleet/agent/calibrate/hip", name))
		must(t, err)
		write(t, filepath.Join(dir, name), small.Replace(string(text)))
	}
	wantCalibration(t, dir, "calibration/N65536")
}

// wantCalibration runs the suite of a calibration. How noisy the machine is says nothing about the kernel, so the verdicts are not checked.
func wantCalibration(t *testing.T, dir, name string) {
	t.Helper()
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
	if c := answer.Gate.Cases[0]; c.Case != name || c.Rounds != 4 || !c.Planted || answer.Gate.Slowdown != 0.0625 {
		t.Errorf("answer %+v", *answer.Gate)
	}
}
