package gpu

// Kind tells which family of device an identity or a state describes.
type Kind string

// The kinds pawl knows how to read. An OpenCL device is read through whichever
// of these it turns out to be; the harness reports the OpenCL name beside it.
const (
	NVIDIA Kind = "nvidia"
	AMD    Kind = "amd"
	CPU    Kind = "cpu"
)

// Identity names one device and the software that drives it. Fields that a
// device does not have, or does not tell, are empty and left out of JSON.
type Identity struct {
	Kind   Kind   `json:"kind"`
	Name   string `json:"name"`             // marketing name as the driver prints it: "NVIDIA L4"
	UUID   string `json:"uuid,omitempty"`   // of this device, or of this MIG slice
	Parent string `json:"parent,omitempty"` // UUID of the card a MIG slice was cut from
	Index  int    `json:"index"`

	VBIOS             string `json:"vbios,omitempty"`
	Driver            string `json:"driver,omitempty"`
	CUDA              string `json:"cuda,omitempty"`               // highest CUDA version the driver supports: "12.4"
	ComputeCapability string `json:"compute_capability,omitempty"` // "8.9"

	Units       int   `json:"units,omitempty"` // streaming multiprocessors, or CPU cores
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	CacheBytes  int64 `json:"cache_bytes,omitempty"` // L2 of a GPU, last-level cache of a CPU
}

// LockName is what a machine-wide lock on this device is named after: a MIG
// slice locks the card it was cut from, because slices share clocks and power.
func (id Identity) LockName() string {
	switch {
	case id.Parent != "":
		return id.Parent
	case id.UUID != "":
		return id.UUID
	default:
		return string(id.Kind)
	}
}
