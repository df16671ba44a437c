package diagnose

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// The time of a launch is a product whose factors a profile measures:
//
//	time = instructions / (SMs * schedulers) * cycles per instruction / clock
//	cycles per instruction of a scheduler = warp latency / active warps
//
// plus the time in which an SM has no work at all. So the logarithm of a change is a sum,
// and each factor has its share. The warp latency is itself a sum over the stall reasons;
// its share is divided in proportion to the growth of each. Shares are relative to the
// change: 1 is all of it, and a negative one worked against it.
var costNames = []string{
	"cost_clock", "cost_instructions", "cost_warps", "cost_idle", "cost_latency", "cost_memory", "cost_launches",
	"part_requests", "part_sectors", "part_l1", "part_l2",
	"cost_host_instructions", "cost_host_l1", "cost_host_llc", "cost_host_branches",
}

// memoryStalls are the stall reasons that wait for global and local memory.
var memoryStalls = []string{"long_scoreboard", "lg_throttle", "drain", "tex_throttle"}

// costs adds the shares to the values of expressions. v holds both sides, the faster one as fast_
// and the slower one as slow_. change is the logarithm of the ratio of their times.
func costs(v values, change float64) {
	ratio := func(name string) (float64, bool) {
		fast, ok := v.get("fast_" + name)
		slow, ok2 := v.get("slow_" + name)
		if !ok || !ok2 || fast <= 0 || slow <= 0 {
			return 0, false
		}
		return math.Log(slow / fast), true
	}
	set := func(cost, name string, sign float64) {
		if x, ok := ratio(name); ok {
			v[cost] = sign * x / change
		}
	}
	set("cost_instructions", "instructions", 1)
	set("cost_clock", "sm_clock_hz", -1)
	set("cost_warps", "active_warps", -1)
	set("cost_idle", "sm_active_pct", -1)
	set("cost_latency", "warp_latency", 1)
	set("cost_launches", "launches", 1)
	stalls(v, change)
	parts(v, ratio)
	hostCosts(v, change)
}

// stalls divides the share of the warp latency among the stall reasons.
func stalls(v values, change float64) {
	fast, ok := v.get("fast_warp_latency")
	slow, ok2 := v.get("slow_warp_latency")
	if ok && ok2 && fast > 0 && slow > 0 {
		mean := logMean(fast, slow)
		for name := range v {
			reason, is := strings.CutPrefix(name, "slow_stall_")
			was, there := v.get("fast_stall_" + reason)
			if now, _ := v.get(name); is && there && !strings.HasSuffix(reason, "_pct") {
				v["cost_stall_"+reason] = (now - was) / mean / change
			}
		}
	}
	sum, known := 0.0, false
	for _, reason := range memoryStalls {
		if x, ok := v.get("cost_stall_" + reason); ok {
			sum, known = sum+x, true
		}
	}
	if !known { // without stall counts, use bytes if memory may be the limit
		bytes, ok := v.get("slow_dram_bytes")
		had, ok2 := v.get("fast_dram_bytes")
		busy, ok3 := v.get("slow_dram_pct")
		if known = ok && ok2 && ok3 && busy >= 50 && bytes > 0 && had > 0; known {
			sum = math.Log(bytes/had) / change
		}
	}
	if known {
		v["cost_memory"] = sum
	}
}

// parts attributes additional traffic. The bytes that reach device memory are also a product:
// requests, sectors per request, and the miss rates of L1 and L2.
func parts(v values, ratio func(string) (float64, bool)) {
	growth := map[string]float64{}
	if x, ok := ratio("load_bytes_per_sector"); ok {
		growth["part_sectors"] = -x
	} else if x, ok := ratio("load_sectors_per_request"); ok {
		wider, _ := ratio("load_width") // a wide load touches more sectors but needs them
		growth["part_sectors"] = x - wider
	}
	if x, ok := ratio("store_bytes_per_sector"); ok {
		growth["part_sectors"] = max(growth["part_sectors"], -x/2)
	}
	sectors, ok := ratio("l1_bytes")
	if !ok {
		sectors, ok = ratio("global_sectors")
	}
	if ok {
		growth["part_requests"] = sectors - growth["part_sectors"]
	}
	for part, name := range map[string]string{"part_l1": "l1_hit_pct", "part_l2": "l2_hit_pct"} {
		fast, ok := v.get("fast_" + name)
		slow, ok2 := v.get("slow_" + name)
		if ok && ok2 {
			growth[part] = math.Log(max(100-slow, 1) / max(100-fast, 1))
		}
	}
	sum := 0.0
	for _, part := range slices.Sorted(maps.Keys(growth)) { // in one order: a sum of floats depends on it
		sum += max(growth[part], 0)
	}
	for part, x := range growth {
		v[part] = 0.0
		if sum > 0.01 {
			v[part] = max(x, 0) / sum
		}
	}
}

// Cycles per miss on an unknown host: callgrind's own estimate for caches, and
// the depth of a pipeline for branches.
const (
	l1MissCycles     = 10
	llcMissCycles    = 100
	branchMissCycles = 15
)

var hostMisses = []struct {
	cost, name string
	cycles     float64
}{
	{"cost_host_l1", "host_l1_misses", l1MissCycles},
	{"cost_host_llc", "host_llc_misses", llcMissCycles},
	{"cost_host_branches", "host_branch_misses", branchMissCycles},
}

// hostCycles estimates the cycles of a host function from its counts.
func hostCycles(v values, prefix string) (float64, bool) {
	sum, ok := v.get(prefix + "host_instructions")
	for _, m := range hostMisses {
		if x, there := v.get(prefix + m.name); there {
			sum += x * m.cycles
		}
	}
	return sum, ok && sum > 0
}

// hostChange estimates the change of the time if it was not measured.
func hostChange(before, after values) float64 {
	a, ok := hostCycles(before, "")
	b, ok2 := hostCycles(after, "")
	if !ok || !ok2 {
		return math.NaN()
	}
	return math.Log(b / a)
}

func hostCosts(v values, change float64) {
	fast, ok := hostCycles(v, "fast_")
	slow, ok2 := hostCycles(v, "slow_")
	if !ok || !ok2 {
		return
	}
	mean := logMean(fast, slow)
	share := func(name string, cycles float64) (float64, bool) {
		was, ok := v.get("fast_" + name)
		now, ok2 := v.get("slow_" + name)
		return cycles * (now - was) / mean / change, ok && ok2
	}
	if x, ok := share("host_instructions", 1); ok {
		v["cost_host_instructions"] = x
	}
	for _, m := range hostMisses {
		if x, ok := share(m.name, m.cycles); ok {
			v[m.cost] = x
		}
	}
}

// logMean is the logarithmic mean: a difference divided by it is a difference of logarithms.
func logMean(a, b float64) float64 {
	if math.Abs(a-b) < 1e-9*a {
		return a
	}
	return (a - b) / math.Log(a/b)
}
