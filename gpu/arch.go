package gpu

import (
	"fmt"
	"slices"
	"strings"
)

// warpSize is the same on every architecture so far.
const warpSize = 32

// kib is the guide's KB.
const kib = 1024

// Arch holds the limits of a compute capability: what one streaming
// multiprocessor (SM) has, and in which steps it is handed out. All sizes of
// memory are bytes.
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
	RegisterStep       Cell[int] `json:"register_step"` // registers are given to a warp in this many
	Partitions         Cell[int] `json:"partitions"`    // of an SM, each with its share of the registers

	SharedPerSM    Cell[int]   `json:"shared_per_sm"`
	SharedPerBlock Cell[int]   `json:"shared_per_block"` // with the opt-in
	SharedStatic   Cell[int]   `json:"shared_static"`    // without it
	SharedReserved Cell[int]   `json:"shared_reserved"`  // taken from every block by the driver
	SharedStep     Cell[int]   `json:"shared_step"`
	Carveouts      Cell[[]int] `json:"carveouts"` // what an SM can set aside as shared memory, the rest being L1

	Barriers  Cell[int] `json:"barriers,omitzero"` // of an SM, where the formula counts them
	FP32Lanes Cell[int] `json:"fp32_lanes"`        // FP32 results of an SM in a clock
}

// Archs returns all architectures that pawl knows, oldest first.
func Archs() []Arch { return archTable() }

// FindArch reads an architecture as compilers and drivers spell it: sm_89,
// compute_89, 8.9 or 89; sm_90a and sm_100f are sm_90 and sm_100.
func FindArch(name string) (Arch, error) {
	all := Archs()
	key := archKey(name)
	i := slices.IndexFunc(all, func(a Arch) bool { return archKey(a.Name) == key })
	if key == "" || i < 0 {
		return Arch{}, fmt.Errorf("architecture %.40q: pawl knows %s", name, strings.Join(ArchNames(), ", "))
	}
	return all[i], nil
}

// ArchNames lists the names of all architectures, oldest first.
func ArchNames() []string {
	var names []string
	for _, a := range Archs() {
		names = append(names, a.Name)
	}
	return names
}

// archKey is the digits of an architecture's name; empty for what is none.
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
