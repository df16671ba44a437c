package gpu

import (
	"fmt"
	"slices"
	"strings"
)

// warpSize is the same on every architecture of NVIDIA to date.
const warpSize = 32

// kib is what the programming guide calls a KB.
const kib = 1024

// Arch holds the limits of a compute capability: the resources of one streaming multiprocessor (SM) and
// the units in which they are allocated. All memory sizes are in bytes.
type Arch struct {
	Name              string `json:"name"`               // as a compiler is told: "sm_89"
	ComputeCapability string `json:"compute_capability"` // "8.9"
	Generation        string `json:"generation"`         // "Ada"

	ThreadsPerBlock    Cell[int] `json:"threads_per_block"`
	ThreadsPerSM       Cell[int] `json:"threads_per_sm"`
	WarpsPerSM         Cell[int] `json:"warps_per_sm"`
	BlocksPerSM        Cell[int] `json:"blocks_per_sm"`
	RegistersPerSM     Cell[int] `json:"registers_per_sm"`
	RegistersPerBlock  Cell[int] `json:"registers_per_block"`
	RegistersPerThread Cell[int] `json:"registers_per_thread"`
	RegisterStep       Cell[int] `json:"register_step"` // allocation unit of registers per warp
	Partitions         Cell[int] `json:"partitions"`    // partitions of an SM, each with its share of the registers

	SharedPerSM    Cell[int]   `json:"shared_per_sm"`
	SharedPerBlock Cell[int]   `json:"shared_per_block"` // maximum with the opt-in
	SharedStatic   Cell[int]   `json:"shared_static"`    // maximum without the opt-in
	SharedReserved Cell[int]   `json:"shared_reserved"`  // reserved by the driver in every block
	SharedStep     Cell[int]   `json:"shared_step"`
	Carveouts      Cell[[]int] `json:"carveouts"` // sizes an SM can configure as shared memory; the rest is L1

	Barriers  Cell[int] `json:"barriers,omitzero"` // per SM; unknown where the occupancy formula ignores barriers
	FP32Lanes Cell[int] `json:"fp32_lanes"`        // FP32 results per SM and clock
}

// Archs returns all known architectures of NVIDIA, oldest first.
func Archs() []Arch { return archTable() }

// FindArch returns the architecture with the given name, as spelled by compilers and drivers: sm_89,
// compute_89, 8.9 or 89. The suffixes of sm_90a and sm_100f are ignored.
func FindArch(name string) (Arch, error) {
	all := Archs()
	key := archKey(name)
	i := slices.IndexFunc(all, func(a Arch) bool { return archKey(a.Name) == key })
	if key == "" || i < 0 {
		return Arch{}, fmt.Errorf("unknown architecture %.40q (known: %s)", name, strings.Join(ArchNames(), ", "))
	}
	return all[i], nil
}

// ArchNames returns the names of all known architectures, oldest first.
func ArchNames() []string {
	var names []string
	for _, a := range Archs() {
		names = append(names, a.Name)
	}
	return names
}

// archKey returns the digits of an architecture's name, or "" if it is not one.
func archKey(name string) string {
	key := strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"sm_", "compute_", "sm"} {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			key = strings.TrimRight(rest, "af")
			break
		}
	}
	if major, minor, ok := strings.Cut(key, "."); ok {
		if len(minor) != 1 {
			return ""
		}
		key = major + minor
	}
	if strings.Trim(key, "0123456789") != "" {
		return ""
	}
	return key
}
