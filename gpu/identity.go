package gpu

// Kind is the family of a device.
type Kind string

// The kinds that pawl can read. An OpenCL device is read as whichever of these it is; the harness
// reports its OpenCL name separately.
const (
	NVIDIA Kind = "nvidia"
	AMD    Kind = "amd"
	CPU    Kind = "cpu"
)

// Identity identifies one device and the software that drives it. Fields that a device does not have or
// report are empty and omitted from JSON.
type Identity struct {
	Kind   Kind   `json:"kind"`
	Name   string `json:"name"`             // marketing name as the driver prints it: "NVIDIA L4"
	UUID   string `json:"uuid,omitempty"`   // of this device, or of this MIG slice
	Parent string `json:"parent,omitempty"` // UUID of the card that contains this MIG slice
	Index  int    `json:"index"`

	VBIOS             string `json:"vbios,omitempty"`
	Driver            string `json:"driver,omitempty"`
	CUDA              string `json:"cuda,omitempty"`               // highest CUDA version the driver supports: "12.4"
	ComputeCapability string `json:"compute_capability,omitempty"` // "8.9"; of an AMD GPU its architecture: "gfx942"

	Units       int   `json:"units,omitempty"` // streaming multiprocessors, or CPU cores
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	CacheBytes  int64 `json:"cache_bytes,omitempty"` // L2 of an NVIDIA GPU; otherwise the last cache before memory

	MaxClockMHz  int     `json:"max_clock_mhz,omitempty"`      // highest SM clock that the driver allows
	BandwidthGBs float64 `json:"bandwidth_gb_per_s,omitempty"` // of DRAM: bus width times highest memory clock
}

// LockName returns the name of the machine-wide lock for this device. A MIG slice locks the card that
// contains it, because slices share clocks and power.
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
