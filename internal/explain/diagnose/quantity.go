package diagnose

import (
	"math"
	"strconv"
	"sync"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// derived are the quantities that no tool measures; they are computed from others.
var derived = []profile.Quantity{
	{Name: "blocks_per_sm", Unit: "", About: "blocks that fit on an SM at once"},
	{Name: "next_occupancy_pct", Unit: "%", About: "occupancy with one more block per SM"},
	{Name: "next_registers", Unit: "", About: "registers per thread that would let one more block fit on an SM"},
	{Name: "next_shared_bytes", Unit: "byte", About: "shared memory per block that would let one more block fit on an SM, with the largest carve-out"},
	{Name: "tail_pct", Unit: "%", About: "share of the block slots of all waves that the last wave leaves empty"},
	{Name: "busiest_pct", Unit: "%", About: "the busier of SM and memory"},
	{Name: "host_l1_traffic", Unit: "", About: "bytes of the cache lines that miss the first-level data cache, as a multiple of the bytes of the case in the suite"},
	{Name: "slack_pct", Unit: "%", About: "share of the time in which SMs have work but no unit is at its peak"},
}

// Derived lists the quantities that rules may use in addition to those of a profile.
func Derived() []profile.Quantity { return append([]profile.Quantity(nil), derived...) }

var quantities = sync.OnceValue(func() map[string]profile.Quantity {
	table := map[string]profile.Quantity{}
	for _, q := range profile.Quantities() {
		table[q.Name] = q
	}
	for _, q := range derived {
		table[q.Name] = q
	}
	return table
})

// quantity returns the quantity with the given name.
func quantity(name string) (profile.Quantity, bool) {
	q, ok := quantities()[name]
	return q, ok
}

// nearQuantity returns a hint for a misspelled name.
func nearQuantity(name string) string {
	var names []string
	for n := range quantities() {
		names = append(names, n)
	}
	if near := spell.Nearest(name, names); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return "see docs/reference/profile.md"
}

// derive adds the derived quantities to v.
func derive(v values, arch *gpu.Arch) {
	blocks, known := math.Inf(1), false
	for _, name := range []string{"limit_registers", "limit_shared", "limit_warps", "limit_blocks", "limit_barriers"} {
		if x, ok := v.get(name); ok && x >= 0 {
			blocks, known = min(blocks, x), true
		}
	}
	if known {
		v["blocks_per_sm"] = blocks
	}
	if waves, ok := v.get("waves"); ok && waves > 0 && waves < 1e12 {
		v["tail_pct"] = 100 * (math.Ceil(waves) - waves) / math.Ceil(waves)
	}
	sm, smKnown := v.get("sm_pct")
	memory, memoryKnown := v.get("memory_pct")
	if smKnown && memoryKnown {
		busiest := max(sm, memory)
		v["busiest_pct"] = busiest
		working, ok := v.get("sm_active_pct")
		if !ok {
			working = 100
		}
		v["slack_pct"] = max(0, working-busiest)
	}
	if arch != nil && known {
		nextBlock(v, *arch, int(min(blocks, 1e6)))
	}
}

// nextBlock adds the resource limits that would allow one more block per SM.
func nextBlock(v values, arch gpu.Arch, blocks int) {
	threads, ok := v.get("block_size")
	if !ok || threads < 1 || threads > 1024 || blocks < 1 {
		return
	}
	warps := math.Ceil(threads / float64(arch.WarpSize()))
	occupancy := 100 * float64(blocks+1) * warps / float64(arch.WarpsPerSM.Value)
	if occupancy > 100 {
		return
	}
	v["next_occupancy_pct"] = occupancy
	if n := arch.RegisterBudget(int(threads), blocks+1); n > 0 {
		v["next_registers"] = float64(n)
	}
	// Assumes the largest carve-out, which the driver or a single call sets.
	if n := arch.SharedBudget(blocks+1, 0); n > 0 {
		v["next_shared_bytes"] = float64(n)
	}
}

// deriveAMD adds what rocprofv3 does not report, from the card: the share of memory's peak, and what limits the
// occupancy. Bytes that the Infinity Cache holds count as bytes of memory, so the share may reach its peak early.
func deriveAMD(v values, card gpu.Card, arch *gpu.Arch) {
	put := func(name string, x float64) {
		if _, have := v[name]; !have {
			v[name] = x
		}
	}
	if rate, ok := v.get("dram_bytes_per_s"); ok && card.BandwidthGBs.Known() {
		put("dram_pct", min(100, rate/card.BandwidthGBs.Value/1e7))
	}
	if share, ok := v.get("dram_pct"); ok {
		put("memory_pct", share)
	}
	if card.SMs.Known() {
		put("sms", float64(card.SMs.Value))
	}
	threads, ok := v.get("block_size")
	registers, known := v.get("registers")
	shared, _ := v.get("shared_bytes")
	if arch == nil || !ok || !known || threads < 1 || max(threads, registers, shared) > 1<<20 {
		return
	}
	o, err := arch.Occupancy(gpu.Launch{Threads: int(threads), Registers: int(registers), DynamicShared: int(shared)})
	if err != nil || o.BlocksPerSM == 0 {
		return
	}
	put("occupancy_max_pct", 100*o.Occupancy)
	for name, resource := range map[string]gpu.Resource{
		"limit_blocks": gpu.LimitBlocks, "limit_warps": gpu.LimitWarps, "limit_registers": gpu.LimitRegisters, "limit_shared": gpu.LimitShared,
	} {
		blocks, limits := o.Limit(resource)
		if !limits {
			blocks = arch.BlocksPerSM.Value
		}
		put(name, float64(blocks))
	}
	if grid, ok := v.get("grid_size"); ok && card.SMs.Known() {
		put("waves", grid/float64(o.BlocksPerSM*card.SMs.Value))
	}
}

func (v values) get(name string) (float64, bool) {
	x, ok := v[name].(float64)
	return x, ok
}
