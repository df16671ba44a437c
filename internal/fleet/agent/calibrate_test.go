package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/measure"
)

// calibrates lets pawl answer a calibration with this text and exit code, and returns the result that was delivered.
func calibrates(t *testing.T, device, answer, code string) (w *world, r job.Result) {
	t.Helper()
	w = newWorld(t)
	record := filepath.Join(w.dir, "record.json")
	if err := measure.Save(record, &measure.Run{Header: measure.Header{Device: gpu.Identity{Driver: "570.1"}}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "answer"), []byte(answer), 0o600); err != nil {
		t.Fatal(err)
	}
	// The card is AMD's if the lease says so: only it is visible.
	shown := "if [ $1 = device ]; then kind=nvidia; [ \"$ROCR_VISIBLE_DEVICES\" = GPU-d1f8a3c09b7e4200 ] && kind=amd; echo '{\"device\":{\"kind\":\"'$kind'\"}}'; exit; fi\n"
	script := "#!/bin/sh\n" + shown + "echo \"$*\" >" + w.dir + "/runs\nls >" + w.dir + "/files\nmkdir results\ncp " + record + " results/gate.json\ncat " + w.dir + "/answer\necho no compiler >&2\nexit " + code + "\n"
	if err := os.WriteFile(w.agent.pawl, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	d := w.keep(t, job.Lease{ID: "calibrate-1", Device: device, Attempt: 1, Seconds: 600, Calibrate: 7}, "token")
	w.agent.finish(t.Context(), d)
	ended := w.engine.endings()
	if len(ended) != 1 || ended[0].err != nil || len(w.requests) != 0 || len(w.leases(t)) != 0 {
		t.Fatalf("ended %+v, requests %q, left %q", ended, w.requests, w.leases(t))
	}
	return w, ended[0].result
}

const calibrated = `{"usable": true, "findings": [], "gate": {"record": "results/gate.json", "rounds": 8, "slowdown": 0.0625, "passes": true, "fails": true,
	"cases": [{"case": "calibration/N16384", "same_code": "maintained", "slowed_down": "regression", "planted": true, "rounds": 8, "spread": 0.004, "detectable": 0.011}]}}`

func TestCalibrate_DeliversARecord(t *testing.T) {
	w, r := calibrates(t, "cpu:0", calibrated, "0")
	want := calibration.Record{At: r.Calibration.At, Driver: "570.1", Seed: 7, Rounds: 8, Noise: 0.004, Smallest: 0.011, Planted: 0.0625, Found: true}
	if r.Calibration != want || r.Calibration.At.IsZero() || r.Lease != "calibrate-1" || r.Driver != "570.1" || r.Record != "" {
		t.Errorf("result %+v, want %+v", r, want)
	}
	if got := w.lines("runs"); len(got) != 1 || got[0] != "doctor --gate --json --seed=7 --suite=pawl.yaml" {
		t.Errorf("ran %q", got)
	}
}

func TestCalibrate_KernelOfTheDevice(t *testing.T) {
	for device, want := range map[string]string{
		"cpu:0": "harness.c pawl.h pawl.yaml", "GPU-1": "kernel.ptx pawl.h pawl.yaml", "MIG-1": "kernel.ptx pawl.h pawl.yaml", "opencl:gfx942": "kernel.cl pawl.h pawl.yaml",
		"GPU-d1f8a3c09b7e4200": "harness.cu pawl.h pawl.yaml",
	} {
		w, r := calibrates(t, device, calibrated, "0")
		if got := strings.Join(w.lines("files"), " "); got != want || r.Calibration.Error != "" {
			t.Errorf("%s: files %q, error %q, want %q", device, got, r.Calibration.Error, want)
		}
	}
}

func TestCalibrate_BadCard(t *testing.T) {
	_, r := calibrates(t, "GPU-1", strings.NewReplacer(`"maintained"`, `"improvement"`, `"regression"`, `"inconclusive"`).Replace(calibrated), "2")
	if c := r.Calibration; !c.FalseAlarm || c.Found || c.Error != "" {
		t.Errorf("calibration %+v", c)
	}
}

func TestCalibrate_NoResult(t *testing.T) {
	for name, c := range map[string]struct{ device, answer, code, want string }{
		"no compiler":       {"cpu:0", "", "3", "no compiler"},
		"not JSON":          {"cpu:0", "what?", "0", "cannot read"},
		"nothing measured":  {"cpu:0", `{"usable": true}`, "0", "measured nothing"},
		"an unknown device": {"tpu:0", calibrated, "0", "no calibration kernel"},
	} {
		_, r := calibrates(t, c.device, c.answer, c.code)
		if got := r.Calibration; !strings.Contains(got.Error, c.want) || got.Found || got.At.IsZero() || got.Check() != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The kernel for GPUs is valid PTX, as far as the toolkit can tell without a GPU.
func TestKernels_PTXAssembles(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Log("no ptxas in PATH: the kernel is not checked")
		return
	}
	out := filepath.Join(t.TempDir(), "cubin")
	if text, err := exec.CommandContext(t.Context(), ptxas, "-arch=sm_80", "-o", out, "calibrate/cuda/kernel.ptx").CombinedOutput(); err != nil {
		t.Errorf("ptxas: %v\n%s", err, text)
	}
}

// The kernel for AMD's GPUs compiles, as far as hipcc can tell without a GPU.
func TestKernels_HIPCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("hipcc is slow")
	}
	hipcc, err := exec.LookPath("hipcc")
	if err != nil {
		t.Log("no hipcc in PATH: the kernel is not checked")
		return
	}
	t.Setenv("HIP_PLATFORM", "amd")
	out := filepath.Join(t.TempDir(), "harness")
	args := []string{"-O3", "-xhip", "--offload-arch=gfx90a", "-Wall", "-Wextra", "-I../../../sdk/cpp", "-o", out, "calibrate/hip/harness.cu"}
	if text, err := exec.CommandContext(t.Context(), hipcc, args...).CombinedOutput(); err != nil {
		t.Errorf("hipcc: %v\n%s", err, text)
	}
}

// Text that is cut within a character would not pass as the message of an error.
func TestClip(t *testing.T) {
	for text, want := range map[string]string{"xyz": "xyz", "änderung": "änd", "xxxä": "xxx", "a\xffb": "ab"} {
		if got := clip(text, 4); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
