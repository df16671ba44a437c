package profile_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// shape is how a release of ncu writes its pages. The files in testdata/shapes are made
// from it: the same launch as three releases would have told it, on three GPUs.
type shape struct {
	release  string
	columns  bool // Block Size, Grid Size, Device and CC are columns of their own
	plain    bool // CSV is in base units, with commas between thousands
	elapsed  bool // SM Busy is of all cycles
	headers  bool // tables of text have titles
	speedups bool // rules estimate a speedup
	short    bool // units are ns and hz, not nsecond and cycle/second
}

var shapes = []shape{
	{release: "2022.3"},
	{release: "2024.1", columns: true, headers: true, speedups: true},
	{release: "2025.3", columns: true, plain: true, elapsed: true, headers: true, speedups: true, short: true},
}

// device is a GPU with one launch on it, in the quantities of pawl.
type device struct {
	name, cc, tensor string
	facts            map[string]float64
}

var devices = []device{
	{"l4", "8.9", "sm__pipe_tensor_cycles_active_v2", map[string]float64{
		"time_ns": 1540250, "sm_clock_hz": 794.94e6, "dram_clock_hz": 6.24e9, "sms": 58, "sm_pct": 12.63, "memory_pct": 70.87, "dram_pct": 70.87,
		"dram_bytes_per_s": 212.43e9, "registers": 168, "shared_static_bytes": 32768, "shared_config_bytes": 65536, "limit_registers": 1,
		"occupancy_pct": 16.54, "occupancy_max_pct": 16.67, "sm_busy_pct": 11.56, "warp_latency": 16.64, "instructions": 32748448,
		"stall_long_scoreboard": 9.5, "stall_wait": 2.25, "pipe_tensor_pct": 31.25,
	}},
	{"a100", "8.0", "sm__pipe_tensor_cycles_active", map[string]float64{
		"time_ns": 87360, "sm_clock_hz": 1.09e9, "dram_clock_hz": 1.21e9, "sms": 108, "sm_pct": 88.5, "memory_pct": 41.02, "dram_pct": 23.31,
		"dram_bytes_per_s": 361.5e9, "registers": 254, "shared_static_bytes": 0, "shared_config_bytes": 167936, "limit_registers": 1,
		"occupancy_pct": 12.41, "occupancy_max_pct": 12.5, "sm_busy_pct": 88.5, "warp_latency": 4.75, "instructions": 9437184,
		"stall_long_scoreboard": 0.5, "stall_wait": 1.5, "pipe_tensor_pct": 88.5,
	}},
	{"h100", "9.0", "sm__pipe_tensor_cycles_active", map[string]float64{
		"time_ns": 25120, "sm_clock_hz": 1.41e9, "dram_clock_hz": 2.62e9, "sms": 132, "sm_pct": 61.2, "memory_pct": 64.75, "dram_pct": 64.75,
		"dram_bytes_per_s": 2170.25e9, "registers": 90, "shared_static_bytes": 49152, "shared_config_bytes": 233472, "limit_registers": 2,
		"occupancy_pct": 24.8, "occupancy_max_pct": 25, "sm_busy_pct": 45.5, "warp_latency": 12.5, "instructions": 1048576,
		"stall_long_scoreboard": 2.25, "stall_wait": 1, "stall_gmma": 5.75, "pipe_tensor_pct": 45.5,
	}},
}

// cell is a value as a page has it.
type cell struct{ quantity, name, section, label, kind string }

func cellsOf(s shape, d device) []cell {
	const sol, mem = "GPU Speed Of Light Throughput", "Memory Workload Analysis"
	busy := "sm__instruction_throughput.avg.pct_of_peak_sustained_active"
	if s.elapsed {
		busy = "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed"
	}
	memory, compute := "Memory Throughput", "Compute (SM) Throughput"
	if !s.columns {
		memory, compute = "Memory [%]", "Compute (SM) [%]"
	}
	list := []cell{
		{"dram_clock_hz", "dram__cycles_elapsed.avg.per_second", sol, "DRAM Frequency", "hz"},
		{"sm_clock_hz", "gpc__cycles_elapsed.avg.per_second", sol, "SM Frequency", "hz"},
		{"memory_pct", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", sol, memory, "%"},
		{"dram_pct", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", sol, "DRAM Throughput", "%"},
		{"time_ns", "gpu__time_duration.sum", sol, "Duration", "ns"},
		{"sm_pct", "sm__throughput.avg.pct_of_peak_sustained_elapsed", sol, compute, "%"},
		{"sm_busy_pct", busy, "Compute Workload Analysis", "SM Busy", "%"},
		{"dram_bytes_per_s", "dram__bytes.sum.per_second", mem, "Memory Throughput", "byte/s"},
		{"warp_latency", "smsp__average_warp_latency_per_inst_issued.ratio", "Warp State Statistics", "Warp Cycles Per Issued Instruction", "cycle"},
		{"instructions", "smsp__inst_executed.sum", "Instruction Statistics", "Executed Instructions", "inst"},
		{"registers", "launch__registers_per_thread", "Launch Statistics", "Registers Per Thread", "register/thread"},
		{"shared_static_bytes", "launch__shared_mem_per_block_static", "Launch Statistics", "Static Shared Memory Per Block", "byte/block"},
		{"shared_config_bytes", "launch__shared_mem_config_size", "Launch Statistics", "Shared Memory Configuration Size", "byte"},
		{"sms", "launch__sm_count", "Launch Statistics", "# SMs", "SM"},
		{"limit_registers", "launch__occupancy_limit_registers", "Occupancy", "Block Limit Registers", "block"},
		{"occupancy_pct", "sm__warps_active.avg.pct_of_peak_sustained_active", "Occupancy", "Achieved Occupancy", "%"},
		{"occupancy_max_pct", "sm__maximum_warps_per_active_cycle_pct", "Occupancy", "Theoretical Occupancy", "%"},
		// No label: pages for people have them in charts alone.
		{"pipe_tensor_pct", d.tensor + ".avg.pct_of_peak_sustained_elapsed", "", "", "%"},
		{"stall_long_scoreboard", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "", "", "inst"},
		{"stall_wait", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "", "", "inst"},
	}
	if _, ok := d.facts["stall_gmma"]; ok {
		list = append(list, cell{"stall_gmma", "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "", "", "inst"})
	}
	return list
}

// print gives value and unit as a page has them: raw pages with six decimals, those for
// people with two, and newer CSV in base units.
func (s shape) print(v float64, kind string, decimals int, plain bool) (value, unit string) {
	type scale struct {
		factor     float64
		long, unit string
	}
	scales := map[string]scale{
		"hz": {1e9, "cycle/nsecond", "Ghz"}, "ns": {1e3, "usecond", "us"}, "byte/s": {1e9, "Gbyte/second", "Gbyte/s"},
		"byte/block": {1e3, "Kbyte/block", "Kbyte/block"}, "byte": {1e3, "Kbyte", "Kbyte"},
	}
	if kind == "hz" && v < 1e9 {
		scales["hz"] = scale{1e6, "cycle/usecond", "Mhz"}
	}
	unit = kind
	if c, ok := scales[kind]; ok && !plain {
		v, unit = v/c.factor, c.long
		if s.short {
			unit = c.unit
		}
	}
	value = strconv.FormatFloat(v, 'f', decimals, 64)
	if whole, isWhole := strings.CutSuffix(value, "."+strings.Repeat("0", decimals)); isWhole {
		value = whole
	}
	if plain {
		value = commas(value)
	}
	return value, unit
}

func commas(s string) string {
	whole, rest, fraction := strings.Cut(s, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction {
		whole += "." + rest
	}
	return whole
}

const shapeKernel = `void gemm<64, 32>(float const*, "tile", int)`

func (s shape) ids(d device) (header, cells []string) {
	header = []string{"ID", "Process ID", "Process Name", "Host Name", "Kernel Name"}
	cells = []string{"0", "4120", "gemm", "127.0.0.1", shapeKernel}
	if !s.columns {
		return append(header, "Kernel Time", "Context", "Stream"), append(cells, "2022-Oct-28 21:47:21", "1", "7")
	}
	return append(header, "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"),
		append(cells, "1", "7", "(256, 1, 1)", "(64, 32, 1)", "0", d.cc)
}

func quoted(cells []string) string {
	list := make([]string, len(cells))
	for i, c := range cells {
		list[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
	}
	return strings.Join(list, ",")
}

func (s shape) raw(d device) string {
	header, row := s.ids(d)
	units := slices.Repeat([]string{""}, len(header))
	for _, c := range cellsOf(s, d) {
		value, unit := s.print(d.facts[c.quantity], c.kind, 6, s.plain)
		header, units, row = append(header, c.name), append(units, unit), append(row, value)
	}
	return "==PROF== Connected to process 4120\n" + quoted(header) + "\n" + quoted(units) + "\n" + quoted(row) + "\n"
}

const shapeRule = "Occupancy is limited by the registers per thread, and by little else that anybody can see in this page for people."

func (s shape) details(d device) string {
	header, ids := s.ids(d)
	header = append(header, "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type", "Rule Description")
	if s.speedups {
		header = append(header, "Estimated Speedup Type", "Estimated Speedup")
	}
	var b strings.Builder
	fmt.Fprintln(&b, quoted(header))
	for _, c := range cellsOf(s, d) {
		if c.label != "" {
			value, unit := s.print(d.facts[c.quantity], c.kind, 2, s.plain)
			fmt.Fprintf(&b, "%s,%s,\n", quoted(ids), quoted([]string{c.section, c.label, unit, value}))
		}
	}
	rule := []string{"Occupancy", "", "", "", "TheoreticalOccupancy", "OPT", shapeRule}
	if s.speedups {
		rule = append(rule, "local", "29.13")
	} else {
		rule[5] = "WRN"
	}
	fmt.Fprintf(&b, "%s,%s\n", quoted(ids), quoted(rule))
	return b.String()
}

func (s shape) text(d device) string {
	var b strings.Builder
	fmt.Fprintf(&b, "==PROF== Connected to process 4120\n[gemm] 3 rounds\n[4120] gemm@127.0.0.1\n  %s", shapeKernel)
	if s.columns {
		fmt.Fprintf(&b, " (64, 32, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC %s\n", d.cc)
	} else {
		fmt.Fprint(&b, ", 2022-Oct-28 21:47:21, Context 1, Stream 7\n")
	}
	dashes := "    " + strings.Repeat("-", 40) + " " + strings.Repeat("-", 15) + " " + strings.Repeat("-", 14) + "\n"
	section := ""
	for _, c := range cellsOf(s, d) {
		if c.label == "" {
			continue
		}
		if c.section != section {
			if section != "" {
				fmt.Fprint(&b, dashes, "\n")
			}
			section = c.section
			fmt.Fprintf(&b, "    Section: %s\n%s", section, dashes)
			if s.headers {
				fmt.Fprintf(&b, "    %-40s %15s %14s\n%s", "Metric Name", "Metric Unit", "Metric Value", dashes)
			}
		}
		value, unit := s.print(d.facts[c.quantity], c.kind, 2, false)
		fmt.Fprintf(&b, "    %-40s %15s %14s\n", c.label, unit, value)
	}
	fmt.Fprint(&b, dashes)
	at := strings.Index(shapeRule, " little")
	head, tail := shapeRule[:at], shapeRule[at+1:]
	if s.speedups {
		fmt.Fprintf(&b, "    OPT   Est. Local Speedup: 29.13%%   \n          %s   \n          %s\n\n", head, tail)
	} else {
		fmt.Fprintf(&b, "    WRN   %s   \n          %s\n\n", head, tail)
	}
	return b.String()
}
