package adapter

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// sdpaEnv describes the machine of an SDPA sweep: in the file, or in env.json beside it.
type sdpaEnv struct {
	Python string `json:"python_version"`
	Torch  string `json:"torch_version"`
	CUDA   string `json:"cuda_compiled_version"`
	CuDNN  text   `json:"cudnn_version"`
	GPU    struct {
		Name       string   `json:"name"`
		Capability []number `json:"compute_capability"`
		MemoryGB   number   `json:"memory_total_gb"`
		Driver     string   `json:"driver_version"`
		Index      number   `json:"device_id"`
		Units      number   `json:"multi_processor_count"`
	} `json:"gpu"`
	Host struct {
		Node      string `json:"node"`
		OS        string `json:"os"`
		OSVersion string `json:"os_version"`
		Arch      string `json:"arch"`
	} `json:"host"`
}

func (e *sdpaEnv) describe(b *builder) {
	g := &e.GPU
	id := gpu.Identity{
		Kind: kindOf(g.Name), Name: label(g.Name), Driver: driverVersion(g.Driver),
		Index: count(float64(g.Index)), Units: count(float64(g.Units)),
	}
	if len(g.Capability) == 2 {
		id.ComputeCapability = fmt.Sprintf("%d.%d", count(float64(g.Capability[0])), count(float64(g.Capability[1])))
	}
	if gb := float64(g.MemoryGB); gb > 0 && gb < math.MaxInt32 {
		id.MemoryBytes = int64(gb * (1 << 30))
	}
	b.header.Device = id
	b.header.Environment = measure.Environment{
		Host: label(e.Host.Node), OS: label(strings.ToLower(e.Host.OS) + " " + e.Host.OSVersion), Arch: label(e.Host.Arch),
	}
	b.tool("python", e.Python)
	b.tool("torch", e.Torch)
	b.tool("cudnn", string(e.CuDNN))
	if e.CUDA != "" {
		b.impl.Harness.Runtime = "CUDA " + label(e.CUDA)
	}
}

// driverVersion rejects a CUDA version in place of the driver version:
// torch.version.cuda is easy to read and the driver version is not. Driver
// versions have been in the hundreds for a decade.
func driverVersion(s string) string {
	major, _, _ := strings.Cut(s, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 100 {
		return ""
	}
	return label(s)
}
