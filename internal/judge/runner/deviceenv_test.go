package runner

import (
	"slices"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
)

func TestDeviceEnv(t *testing.T) {
	for name, c := range map[string]struct {
		id   gpu.Identity
		want []string
	}{
		"the host":                {gpu.Identity{Kind: gpu.CPU}, nil},
		"NVIDIA":                  {gpu.Identity{Kind: gpu.NVIDIA, UUID: "GPU-1", Index: 3}, []string{"CUDA_VISIBLE_DEVICES=GPU-1"}},
		"AMD":                     {gpu.Identity{Kind: gpu.AMD, UUID: "GPU-1", Index: 3}, []string{"ROCR_VISIBLE_DEVICES=GPU-1", "HIP_VISIBLE_DEVICES=0"}},
		"AMD, known by its place": {gpu.Identity{Kind: gpu.AMD, UUID: "PCI-0000-06-00-0", Index: 3}, []string{"ROCR_VISIBLE_DEVICES=3", "HIP_VISIBLE_DEVICES=0"}},
	} {
		if got := DeviceEnv(c.id); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
