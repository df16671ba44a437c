package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// cheap lists the metrics of the cheap set: speed of light, DRAM traffic, occupancy, issue and
// stall reasons, sectors and bank conflicts. Not every GPU has all of them. Metrics for which ncu
// patches the kernel's code are only in the full set.
var cheap = slices.Concat(
	[]string{
		"gpu__time_duration.sum",
		"gpc__cycles_elapsed.max",
		"gpc__cycles_elapsed.avg.per_second",
		"sm__cycles_active.avg",
		"sm__throughput.avg.pct_of_peak_sustained_elapsed",
		"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
		"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
		"l1tex__throughput.avg.pct_of_peak_sustained_active",
		"lts__throughput.avg.pct_of_peak_sustained_elapsed",

		"dram__bytes.sum",
		"dram__bytes_read.sum",
		"dram__bytes_write.sum",
		"dram__bytes.sum.per_second",
		"dram__bytes.sum.peak_sustained",
		"dram__cycles_elapsed.avg.per_second",
		"l1tex__t_sector_hit_rate.pct",
		"lts__t_sector_hit_rate.pct",

		"sm__warps_active.avg.pct_of_peak_sustained_active",
		"sm__inst_executed.avg.per_cycle_active",
		"sm__inst_executed.sum",
		"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
		"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
		"smsp__issue_active.avg.per_cycle_active",
		"smsp__warps_active.avg.per_cycle_active",
		"smsp__warps_eligible.avg.per_cycle_active",
		"smsp__issue_inst0.avg.pct_of_peak_sustained_active",
		"smsp__average_warp_latency_per_inst_issued.ratio",
		"smsp__thread_inst_executed_per_inst_executed.ratio",
		"smsp__inst_executed_op_local_ld.sum",
		"smsp__inst_executed_op_local_st.sum",
	},
	each("l1tex__t_%s_pipe_lsu_mem_global_op_ld.sum", "sectors", "requests"),
	each("l1tex__t_%s_pipe_lsu_mem_global_op_st.sum", "sectors", "requests"),
	each("l1tex__data_%s_pipe_lsu_mem_shared_op_ld.sum", "bank_conflicts"),
	each("l1tex__data_%s_pipe_lsu_mem_shared_op_st.sum", "bank_conflicts"),
	each("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum", "ld", "st"),
	each("smsp__average_warps_issue_stalled_%s_per_issue_active.ratio",
		"barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard",
		"math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
		"short_scoreboard", "sleeping", "tex_throttle", "wait"),
)

// always lists what ncu reports of a launch without counters, on every GPU and in every release since 2020.
var always = slices.Concat(
	[]string{"sm__maximum_warps_per_active_cycle_pct"},
	each("launch__%s",
		"block_size", "grid_size", "thread_count", "registers_per_thread", "waves_per_multiprocessor",
		"shared_mem_config_size", "shared_mem_per_block_static", "shared_mem_per_block_dynamic",
		"occupancy_limit_blocks", "occupancy_limit_registers", "occupancy_limit_shared_mem", "occupancy_limit_warps"),
)

// sections replace the cheap set if the GPU's metrics cannot be queried: ncu chooses their metrics itself.
var sections = []string{"SpeedOfLight", "LaunchStats", "Occupancy", "SchedulerStats", "WarpStateStats", "MemoryWorkloadAnalysis"}

// chips maps compute capabilities to ncu's chip names, in the order in which they are tried. All
// chips of a capability share the metrics of the cheap set, so that any of them works.
var chips = map[string][]string{
	"7.0":  {"gv100"},
	"7.2":  {"gv11b"},
	"7.5":  {"tu104", "tu102", "tu106", "tu116", "tu117"},
	"8.0":  {"ga100"},
	"8.6":  {"ga102", "ga103", "ga104", "ga106", "ga107"},
	"8.7":  {"ga10b"},
	"8.9":  {"ad104", "ad102", "ad103", "ad106", "ad107"},
	"9.0":  {"gh100"},
	"10.0": {"gb100"},
	"12.0": {"gb202", "gb203", "gb205", "gb206", "gb207"},
}

func each(format string, parts ...string) []string {
	list := make([]string, len(parts))
	for i, part := range parts {
		list[i] = fmt.Sprintf(format, part)
	}
	return list
}

// ncuSet returns the options that select what is collected, and a note if that differs from the request.
func ncuSet(ctx context.Context, p program, set, capability string) (args []string, note string, err error) {
	if set == "" || set == SetFull {
		return []string{"--set", "full"}, "", nil
	}
	if set != SetCheap {
		return nil, "", fmt.Errorf("unknown metric set %q (known: %s, %s)", set, SetFull, SetCheap)
	}
	chip, err := p.chip(ctx, capability)
	if err != nil {
		return nil, "", err
	}
	if chip == "" {
		for _, s := range sections {
			args = append(args, "--section", s)
		}
		return args, fmt.Sprintf("ncu %s does not list its metrics for compute capability %s: sections are collected instead of the cheap set", p.version, capability), nil
	}
	names, err := p.metrics(ctx, chip)
	if err != nil {
		return nil, "", err
	}
	return []string{"--metrics", strings.Join(names, ",")}, "", nil
}

// chip returns a chip name of that compute capability that this ncu supports; empty for none.
func (p program) chip(ctx context.Context, capability string) (string, error) {
	wanted := chips[capability]
	if len(wanted) == 0 {
		return "", nil
	}
	said, err := p.output(ctx, 0, "--list-chips")
	if err != nil {
		return "", fmt.Errorf("cannot list the chips that ncu supports: %w", err)
	}
	known := strings.FieldsFunc(string(said), func(r rune) bool { return strings.ContainsRune(", \r\n", r) })
	for _, c := range wanted {
		if slices.Contains(known, c) {
			return c, nil
		}
	}
	return "", nil
}

// metricsCache caches the metrics that ncu reports for a chip; they do not change while pawl runs.
var metricsCache sync.Map // of [3]string{path, version, chip} to []string

// metricName matches a metric with its suffix at the start of a table line.
var metricName = lazyregexp.New(`(?m)^([a-z0-9]+__[a-z0-9_]+(?:\.[a-z0-9_]+)+) `)

// metrics returns the metrics of the cheap set that a chip has. One unknown
// name would make ncu collect nothing.
func (p program) metrics(ctx context.Context, chip string) ([]string, error) {
	key := [3]string{p.path, p.version, chip}
	if known, ok := metricsCache.Load(key); ok {
		if list, ok := known.([]string); ok {
			return list, nil
		}
	}
	var bases []string
	for _, m := range cheap {
		base, _, _ := strings.Cut(m, ".")
		bases = append(bases, base)
	}
	slices.Sort(bases)
	said, err := p.output(ctx, 16<<20, "--query-metrics-mode", "suffix", "--metrics", strings.Join(slices.Compact(bases), ","), "--chips", chip)
	if err != nil {
		return nil, fmt.Errorf("cannot list the metrics of %s with ncu: %w", chip, err)
	}
	has := map[string]bool{}
	for _, m := range metricName.FindAllSubmatch(said, -1) {
		has[string(m[1])] = true
	}
	list := slices.Clone(always)
	for _, m := range cheap {
		if has[m] {
			list = append(list, m)
		}
	}
	if len(list) < len(always)+len(cheap)/2 {
		return nil, fmt.Errorf("cannot list the metrics of %s with ncu: it lists %d of %d; profile with the full set", chip, len(list)-len(always), len(cheap))
	}
	metricsCache.Store(key, list)
	return list, nil
}
