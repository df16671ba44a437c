package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

// Two cards of the model: one on which every assumption holds, and one whose CUDA and NVML disagree.
func TestDoctorGPU(t *testing.T) {
	for _, c := range []struct {
		name, setting string
		code          int
		says          string
	}{
		{"healthy", "VGPU_SCALE=1", 0, "pawl's assumptions hold on this NVIDIA L4: 29 checks passed, 3 could not run here"},
		{"broken", "VGPU_BREAK=units", 1, "multiprocessors 59 and 58"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := devicetest.UseVirtual(t, "VGPU_CARD=L4", "VGPU_NAME=NVIDIA L4", "VGPU_SCALE=1", c.setting)
			for _, e := range v.Env() {
				name, value, _ := strings.Cut(e, "=")
				t.Setenv(name, value)
			}
			dir := t.TempDir()
			pawl(t, dir, "doctor", "--gpu").want(t, c.code, c.says, "to send back: results/gpu-check.json and results/gpu-check.txt")
			var report struct {
				Card    string
				Results []struct{ State string }
			}
			text, err := os.ReadFile(filepath.Join(dir, "results", "gpu-check.json"))
			must(t, err)
			must(t, json.Unmarshal(text, &report))
			if report.Card != "NVIDIA L4" || len(report.Results) != 32 {
				t.Errorf("gpu-check.json: %+v", report)
			}
		})
	}
}
