package gpu

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Launch is what one block of a kernel needs.
type Launch struct {
	Threads       int `json:"threads"`   // of a block
	Registers     int `json:"registers"` // of a thread, as the compiler tells; 0 for none
	StaticShared  int `json:"static_shared"`
	DynamicShared int `json:"dynamic_shared"`
	// Carveout is how much shared memory the kernel prefers an SM to set aside,
	// in bytes; 0 for the most there is. The next step that the hardware has is taken.
	Carveout int `json:"carveout,omitempty"`
	// Barriers are the block barriers that the compiler counted; 0 where it did not.
	Barriers int `json:"barriers,omitempty"`
}

// Resource is what can limit the blocks on an SM.
type Resource string

// The resources, as limiters in JSON.
const (
	LimitBlocks    Resource = "blocks" // the SM's own limit
	LimitWarps     Resource = "warps"
	LimitRegisters Resource = "registers"
	LimitShared    Resource = "shared_memory"
	LimitBarriers  Resource = "barriers"
)

// Limit is how many blocks one resource has room for.
type Limit struct {
	Resource Resource `json:"resource"`
	Blocks   int      `json:"blocks"`
}

// Occupancy is how many blocks and warps of a launch are resident on an SM at
// once, by the formula of NVIDIA's cuda_occupancy.h. Thread block clusters are
// not part of it.
type Occupancy struct {
	Arch   string `json:"arch"`
	Launch Launch `json:"launch"`

	BlocksPerSM   int     `json:"blocks_per_sm"` // 0: it cannot be launched
	Occupancy     float64 `json:"occupancy"`     // of the warps an SM has room for, 0 to 1
	WarpsPerBlock int     `json:"warps_per_block"`
	WarpsPerSM    int     `json:"warps_per_sm"`

	Limits   []Limit    `json:"limits"`   // of every resource that is used
	Limiters []Resource `json:"limiters"` // all that bind

	RegistersPerBlock int `json:"registers_per_block"` // as handed out
	SharedPerBlock    int `json:"shared_per_block"`    // as handed out, with what the driver reserves
	SharedPerSM       int `json:"shared_per_sm"`       // what the SM sets aside

	Refused []string `json:"refused,omitempty"` // why it cannot be launched
	Notes   []string `json:"notes,omitempty"`
	Raises  []Raise  `json:"raises,omitempty"` // what would raise it, one alternative each
}

// Limit returns how many blocks a resource has room for; false where it does not
// limit them.
func (o Occupancy) Limit(r Resource) (int, bool) {
	i := slices.IndexFunc(o.Limits, func(l Limit) bool { return l.Resource == r })
	if i < 0 {
		return 0, false
	}
	return o.Limits[i].Blocks, true
}

// Occupancy computes what fits on an SM, what limits it and what would raise it.
// A launch that the hardware refuses is an answer, not an error.
func (a Arch) Occupancy(l Launch) (Occupancy, error) {
	if err := a.check(l); err != nil {
		return Occupancy{}, err
	}
	o := a.occupy(l)
	o.Raises = a.raises(o)
	return o, nil
}

// mostAsked bounds what is computed with, far above anything that exists.
const mostAsked = 1 << 30

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
		if v.value < v.least || v.value > mostAsked {
			return fmt.Errorf("occupancy on %s: %s %d: want %d to %d", a.Name, v.name, v.value, v.least, mostAsked)
		}
	}
	if most := a.SharedPerSM.Value; l.Carveout > most {
		return fmt.Errorf("occupancy on %s: carve-out %d: an SM has %d bytes of shared memory at most", a.Name, l.Carveout, most)
	}
	return nil
}

// occupy is the formula, without what would raise it.
func (a Arch) occupy(l Launch) Occupancy {
	o := Occupancy{Arch: a.Name, Launch: l, WarpsPerBlock: divideUp(l.Threads, warpSize)}
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
		o.Notes = append(o.Notes, fmt.Sprintf("more than %s of shared memory in a block needs the attribute "+
			"cudaFuncAttributeMaxDynamicSharedMemorySize, set before the launch", bytesText(a.SharedStatic.Value)))
	}
	if !a.RegisterStep.Certain {
		o.Notes = append(o.Notes, fmt.Sprintf("the steps in which %s hands out registers and shared memory are second hand (%s)",
			a.Name, a.RegisterStep.Source.Title()))
	}
	return o
}

func (a Arch) blocksByWarps(o *Occupancy) int {
	if most := a.ThreadsPerBlock.Value; o.Launch.Threads > most {
		o.refuse("a block has %d threads at most, not %d", most, o.Launch.Threads)
		return 0
	}
	return a.WarpsPerSM.Value / o.WarpsPerBlock
}

// blocksByRegisters: a warp gets its registers in steps, from one of the SM's
// partitions, and lives there.
func (a Arch) blocksByRegisters(o *Occupancy) int {
	perWarp := roundUp(o.Launch.Registers*warpSize, a.RegisterStep.Value)
	o.RegistersPerBlock = perWarp * o.WarpsPerBlock
	if most := a.RegistersPerThread.Value; o.Launch.Registers > most {
		o.refuse("a thread has %d registers at most, not %d", most, o.Launch.Registers)
		return 0
	}
	// The hardware's own check takes it that all partitions are filled alike.
	assumed := perWarp * roundUp(o.WarpsPerBlock, a.Partitions.Value)
	if most := a.RegistersPerBlock.Value; assumed > most {
		o.refuse("a block has %d registers at most, not %d", most, assumed)
		return 0
	}
	warps := a.RegistersPerSM.Value / a.Partitions.Value / perWarp * a.Partitions.Value
	return warps / o.WarpsPerBlock
}

// blocksByShared: what the SM sets aside is what the kernel prefers if one block
// fits in it, else the next step in which one does.
func (a Arch) blocksByShared(o *Occupancy) int {
	l := o.Launch
	total := l.StaticShared + l.DynamicShared
	o.SharedPerBlock = roundUp(total+a.SharedReserved.Value, a.SharedStep.Value)
	o.SharedPerSM = a.carveout(l.Carveout)
	if most := a.SharedStatic.Value; l.StaticShared > most {
		o.refuse("a block has %d bytes of static shared memory at most, not %d; more has to be dynamic", most, l.StaticShared)
		return 0
	}
	if most := a.SharedPerBlock.Value; o.SharedPerBlock > most+a.SharedReserved.Value {
		o.refuse("a block has %d bytes of shared memory at most, not %d", most, total)
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

// carveout is the step that holds this many bytes; the largest for 0.
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

// bytesText says bytes in the guide's KB where that is exact.
func bytesText(n int) string {
	if n > 0 && n%kib == 0 {
		return fmt.Sprintf("%d KB", n/kib)
	}
	return fmt.Sprintf("%d bytes", n)
}

// LimitedBy says all limiters as people do: "registers and shared memory".
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
