package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvml"
)

// nowhere is an environment in which no library can be found.
func nowhere(name string) (string, bool) {
	if name == "PAWL_NVML_LIBRARY" {
		return "/nowhere/libnvidia-ml.so.1", true
	}
	return "", false
}

// A machine without a GPU has a host, and says what is missing.
func TestListWithoutDriver(t *testing.T) {
	inv, err := List(t.Context(), Options{LookupEnv: nowhere, SMI: "/nowhere/nvidia-smi"})
	if err != nil {
		t.Fatal(err)
	}
	if len(inv.Devices) != 1 || inv.Devices[0].Identity().Kind != gpu.CPU || inv.Reader != "" {
		t.Errorf("devices %v, reader %q", inv.Devices, inv.Reader)
	}
	want := "program nvidia-smi was not found"
	if nvml.Available {
		want = "management library was not found"
	}
	if !strings.Contains(inv.None[gpu.NVIDIA], want) {
		t.Errorf("the reason is %q, want %q", inv.None[gpu.NVIDIA], want)
	}
	d, err := inv.Select(Auto, "")
	if err != nil || d.Identity().Kind != gpu.CPU {
		t.Errorf("auto selects %v, %v", d, err)
	}
}

// Where the library cannot be loaded, the program answers.
func TestListThroughTheProgram(t *testing.T) {
	script := filepath.Join(t.TempDir(), "nvidia-smi")
	text := "#!/bin/sh\ncase \"$*\" in *--query-gpu=*) echo '0, GPU-1, 1.0, 550.1, 8.9, 23034, 2040, NVIDIA L4' ;; esac\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	inv, err := List(t.Context(), Options{LookupEnv: nowhere, SMI: script})
	if err != nil {
		t.Fatal(err)
	}
	if inv.Reader != "nvidia-smi" || inv.None[gpu.NVIDIA] != "" || len(inv.Devices) != 2 {
		t.Fatalf("reader %q, reason %q, %d devices", inv.Reader, inv.None[gpu.NVIDIA], len(inv.Devices))
	}
	if id := inv.Devices[0].Identity(); id.Name != "NVIDIA L4" || id.UUID != "GPU-1" {
		t.Errorf("identity %+v", id)
	}
	if len(inv.Notices) != 1 || inv.Notices[0].Code != "nvidia_smi" {
		t.Errorf("notices %v", inv.Notices)
	}
}
