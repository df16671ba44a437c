//go:build linux && (amd64 || arm64)

package doctor_test

import (
	"context"
	"os"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

func TestAMD(t *testing.T) {
	t.Setenv("PAWL_NVML_LIBRARY", "/nowhere/libnvidia-ml.so.1")
	a := devicetest.NewAMD(t)
	for name, text := range quietHost() {
		a.Set(name, text)
	}
	a.Set("proc/self/uid_map", "         0          0 4294967295\n")
	a.Set("opt/rocm/bin/rocprofv3", "")
	for name, tt := range map[string]struct {
		suite, status string
		want          map[string]string
	}{
		"an idle card": {"", may, map[string]string{
			"amd":         "ok: amd: driver linux 6.8.0-45-generic, read through sysfs",
			"nvidia":      "",
			"gpu 0":       "ok: gpu 0: AMD Instinct MI300X, gfx942, 192.0 GiB, GPU-d1f8a3c09b7e4200",
			"measures on": "ok: measures on: AMD Instinct MI300X, GPU-d1f8a3c09b7e4200",
			"clocks":      "note: clocks: free: they vary with power and temperature | set in the suite a clock that the card sustains, such as device: {clocks: 1300MHz}",
			"persistence": "",
			"ecc":         "ok: ecc: on",
			"company":     "ok: company: no other process",
			"temperature": "ok: temperature: 63 degrees C",
			"rocprofv3":   "ok: rocprofv3: /opt/rocm/bin/rocprofv3",
			"ncu":         "",
		}},
		"no permission": {"version: 1\nharness: {command: ./h}\ndevice: {kind: amd, clocks: 1500MHz}\n", mayNot, map[string]string{
			"clocks": "warn: clocks: the suite requests 1500MHz, but pawl may not set clocks here (no CAP_SYS_ADMIN): it would measure with free clocks | run pawl as root (in a container: with --cap-add SYS_ADMIN), or lock them as root: sudo amd-smi set --perf-determinism MHZ",
		}},
		"an NVIDIA card is wanted": {"version: 1\nharness: {command: ./h}\ndevice: {kind: nvidia}\n", may, map[string]string{
			"nvidia": "missing: nvidia: the suite requires an NVIDIA GPU, but there is none:",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			a.Set("proc/self/status", tt.status)
			root := os.DirFS(a.Dir)
			p.Root = root
			p.Devices = func(ctx context.Context) (device.Inventory, error) {
				return device.List(ctx, device.Options{Root: root, Now: noon, SMI: "/nowhere/nvidia-smi", Own: func(int) bool { return false }})
			}
			if tt.suite != "" {
				p.write("pawl.yaml", tt.suite)
			}
			r := p.examine()
			for name, want := range tt.want {
				expect(t, r, name, want)
			}
		})
	}
}
