package gpu

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Launch holds the resources that one block of a kernel needs.
type Launch struct {
	Threads       int `json:"threads"`   // per block
	Registers     int `json:"registers"` // per thread, as reported by the compiler; 0 for none
	StaticShared  int `json:"static_shared"`
	DynamicShared int `json:"dynamic_shared"`
	// Carveout is the amount of shared memory, in bytes, that the kernel prefers an SM to configure. Zero
	// means the maximum. It is rounded up to a size that the hardware supports.
	Carveout int `json:"carveout,omitempty"`
	// Barriers is the number of block barriers that the compiler counted; 0 if it did not count them.
	Barriers int `json:"barriers,omitempty"`
}

// Resource is a resource that can limit the number of blocks on an SM.
type Resource string

// The resources, as named in JSON.
const (
	LimitBlocks    Resource = "blocks" // the SM's own limit on blocks
	LimitWarps     Resource = "warps"
	LimitRegisters Resource = "registers"
	LimitShared    Resource = "shared_memory"
	LimitBarriers  Resource = "barriers"
)

// Limit is the number of blocks for which one resource suffices.
type Limit struct {
	Resource Resource `json:"resource"`
	Blocks   int      `json:"blocks"`
}

// Occupancy describes how many blocks and warps of a launch are resident on an SM at once, by the formula
// of NVIDIA's cuda_occupancy.h. It does not cover thread block clusters.
type Occupancy struct {
	Arch   string `json:"arch"`
	Launch Launch `json:"launch"`

	BlocksPerSM   int     `json:"blocks_per_sm"` // 0 if the kernel cannot be launched
	Occupancy     float64 `json:"occupancy"`     // share of the SM's maximum number of warps, 0 to 1
	WarpsPerBlock int     `json:"warps_per_block"`
	WarpsPerSM    int     `json:"warps_per_sm"`

	Limits   []Limit    `json:"limits"`   // one per resource used
	Limiters []Resource `json:"limiters"` // all resources with the lowest limit

	RegistersPerBlock int `json:"registers_per_block"` // as allocated
	SharedPerBlock    int `json:"shared_per_block"`    // as allocated, including what the driver reserves
	SharedPerSM       int `json:"shared_per_sm"`       // shared memory that the SM configures

	Refused []string          `json:"refused,omitempty"` // reasons why the kernel cannot be launched
	Notes   []string          `json:"notes,omitempty"`
	Options []OccupancyOption `json:"raises,omitempty"` // alternative ways to raise the occupancy
}

// Limit returns the number of blocks for which a resource suffices, or false if it does not limit them.
func (o Occupancy) Limit(r Resource) (int, bool) {
	i := slices.IndexFunc(o.Limits, func(l Limit) bool { return l.Resource == r })
	if i < 0 {
		return 0, false
	}
	return o.Limits[i].Blocks, true
}

// Occupancy computes how many blocks fit on an SM, what limits them and what would raise the limit. A
// launch that the hardware would refuse is a result, not an error.
func (a Arch) Occupancy(l Launch) (Occupancy, error) {
	if err := a.check(l); err != nil {
		return Occupancy{}, err
	}
	o := a.occupy(l)
	o.Options = a.occupancyOptions(o)
	return o, nil
}

// maxLaunchValue is the largest accepted input, far above any real value.
const maxLaunchValue = 1 << 30

func (a Arch) check(l Launch) error {
	for _, v := range []struct {
		name  string
		value int
		least int
	}{
		{"threads", l.Threads, 1},
		{"registers", l.Registers, 0},
		{"static shared memory", l.StaticShared, 0},
		{"dynamic shared memory", l.DynamicShared, 0},
		{"carve-out", l.Carveout, 0},
		{"barriers", l.Barriers, 0},
	} {
		if v.value < v.least || v.value > maxLaunchValue {
			return fmt.Errorf("occupancy on %s: %s %d: must be %d to %d", a.Name, v.name, v.value, v.least, maxLaunchValue)
		}
	}
	if most := a.SharedPerSM.Value; l.Carveout > most {
		return fmt.Errorf("occupancy on %s: carve-out %d: an SM has at most %d bytes of shared memory", a.Name, l.Carveout, most)
	}
	return nil
}

// occupy computes the occupancy without Raises.
func (a Arch) occupy(l Launch) Occupancy {
	o := Occupancy{Arch: a.Name, Launch: l, WarpsPerBlock: divideUp(l.Threads, a.WarpSize())}
	o.Limits = append(o.Limits, Limit{LimitBlocks, a.BlocksPerSM.Value}, Limit{LimitWarps, a.blocksByWarps(&o)})
	if l.Registers > 0 {
		o.Limits = append(o.Limits, Limit{LimitRegisters, a.blocksByRegisters(&o)})
	}
	if n := a.blocksByShared(&o); o.SharedPerBlock > 0 {
		o.Limits = append(o.Limits, Limit{LimitShared, n})
	}
	if l.Barriers > 0 && a.Barriers.Known() {
		o.Limits = append(o.Limits, Limit{LimitBarriers, a.Barriers.Value / l.Barriers})
	}
	o.BlocksPerSM = math.MaxInt
	for _, limit := range o.Limits {
		o.BlocksPerSM = min(o.BlocksPerSM, limit.Blocks)
	}
	for _, limit := range o.Limits {
		if limit.Blocks == o.BlocksPerSM {
			o.Limiters = append(o.Limiters, limit.Resource)
		}
	}
	o.WarpsPerSM = o.BlocksPerSM * o.WarpsPerBlock
	o.Occupancy = float64(o.WarpsPerSM) / float64(a.WarpsPerSM.Value)
	if total := l.StaticShared + l.DynamicShared; total > a.SharedStatic.Value && o.BlocksPerSM > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("more than %s of shared memory per block needs the attribute "+
			"cudaFuncAttributeMaxDynamicSharedMemorySize, set before the launch", bytesText(a.SharedStatic.Value)))
	}
	if !a.RegisterStep.Certain {
		o.Notes = append(o.Notes, fmt.Sprintf("the steps in which %s allocates registers and shared memory come from a secondary source (%s)",
			a.Name, a.RegisterStep.Source.Title()))
	}
	return o
}

func (a Arch) blocksByWarps(o *Occupancy) int {
	if most := a.ThreadsPerBlock.Value; o.Launch.Threads > most {
		o.refuse("a block can have at most %d threads, not %d", most, o.Launch.Threads)
		return 0
	}
	return a.WarpsPerSM.Value / o.WarpsPerBlock
}

// blocksByRegisters returns the limit by registers. A warp gets its registers in fixed units from one
// partition of the SM, and stays in that partition.
func (a Arch) blocksByRegisters(o *Occupancy) int {
	perWarp := roundUp(o.Launch.Registers*a.WarpSize(), a.RegisterStep.Value)
	o.RegistersPerBlock = perWarp * o.WarpsPerBlock
	if most := a.RegistersPerThread.Value; o.Launch.Registers > most {
		o.refuse("a thread can have at most %d registers, not %d", most, o.Launch.Registers)
		return 0
	}
	// The hardware check assumes that all partitions are filled equally.
	assumed := perWarp * roundUp(o.WarpsPerBlock, a.Partitions.Value)
	if most := a.RegistersPerBlock.Value; assumed > most {
		o.refuse("a block can have at most %d registers, not %d", most, assumed)
		return 0
	}
	warps := a.RegistersPerSM.Value / a.Partitions.Value / perWarp * a.Partitions.Value
	return warps / o.WarpsPerBlock
}

// blocksByShared returns the limit by shared memory. The SM configures the size that the kernel prefers
// if one block fits in it, otherwise the next size that holds one.
func (a Arch) blocksByShared(o *Occupancy) int {
	l := o.Launch
	total := l.StaticShared + l.DynamicShared
	o.SharedPerBlock = roundUp(total+a.SharedReserved.Value, a.SharedStep.Value)
	o.SharedPerSM = a.carveout(l.Carveout)
	if most := a.SharedStatic.Value; l.StaticShared > most {
		o.refuse("a block can have at most %d bytes of static shared memory, not %d; more must be dynamic", most, l.StaticShared)
		return 0
	}
	if most := a.SharedPerBlock.Value; o.SharedPerBlock > most+a.SharedReserved.Value {
		o.refuse("a block can have at most %d bytes of shared memory, not %d", most, total)
		return 0
	}
	if o.SharedPerSM < o.SharedPerBlock {
		o.SharedPerSM = a.carveout(o.SharedPerBlock)
	}
	if o.SharedPerBlock == 0 {
		return math.MaxInt
	}
	return o.SharedPerSM / o.SharedPerBlock
}

// carveout returns the smallest carve-out that holds the given bytes, or the largest for 0.
func (a Arch) carveout(bytes int) int {
	steps := a.Carveouts.Value
	i, _ := slices.BinarySearch(steps, bytes)
	if bytes == 0 || i == len(steps) {
		return steps[len(steps)-1]
	}
	return steps[i]
}

func (o *Occupancy) refuse(format string, args ...any) {
	o.Refused = append(o.Refused, fmt.Sprintf(format, args...))
}

func divideUp(a, b int) int { return (a + b - 1) / b }

func roundUp(a, step int) int { return divideUp(a, step) * step }

// bytesText formats a size in KB (1024 bytes) if that is exact, otherwise in bytes.
func bytesText(n int) string {
	if n > 0 && n%kib == 0 {
		return fmt.Sprintf("%d KB", n/kib)
	}
	return fmt.Sprintf("%d bytes", n)
}

// LimitedBy returns all limiters as text, such as "registers and shared memory".
func (o Occupancy) LimitedBy() string {
	words := make([]string, len(o.Limiters))
	for i, r := range o.Limiters {
		words[i] = r.String()
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

func (r Resource) String() string { return strings.ReplaceAll(string(r), "_", " ") }
