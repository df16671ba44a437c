package profile

import "strings"

// metricNames returns the names that a metric with a label may have. Display pages have only labels, and
// one label means different things in different sections.
func metricNames(section, label string) []string {
	section = strings.ToLower(section)
	if section == "gpu speed of light" { // name until 2020
		section = "gpu speed of light throughput"
	}
	names := labels[section][strings.ToLower(label)]
	if names == nil && section == "warp state statistics" {
		names = stallLabel(label)
	}
	return names
}

// stallLabel handles the labels of warp states, such as "Stall Long Scoreboard".
func stallLabel(label string) []string {
	reason, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(label), " ", "_"), "stall_")
	if !ok {
		if reason != "selected" {
			return nil
		}
	}
	if reason == "dispatch" {
		reason = "dispatch_stall"
	}
	return []string{"smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio"}
}

func one(name string) []string { return []string{name} }

// labels holds the labels of the sections of ncu 2020 to 2025, in lower case
// because their capitalization changed.
var labels = map[string]map[string][]string{
	"gpu speed of light throughput": {
		"dram frequency":          one("dram__cycles_elapsed.avg.per_second"),
		"sm frequency":            one("gpc__cycles_elapsed.avg.per_second"),
		"elapsed cycles":          one("gpc__cycles_elapsed.max"),
		"duration":                one("gpu__time_duration.sum"),
		"sm active cycles":        one("sm__cycles_active.avg"),
		"memory throughput":       one("gpu__compute_memory_throughput" + elapsed),
		"memory [%]":              one("gpu__compute_memory_throughput" + elapsed),
		"sol memory":              one("gpu__compute_memory_throughput" + elapsed),
		"dram throughput":         one("gpu__dram_throughput" + elapsed),
		"sol dram":                one("gpu__dram_throughput" + elapsed),
		"l1/tex cache throughput": one("l1tex__throughput" + active),
		"sol l1/tex cache":        one("l1tex__throughput" + active),
		"l2 cache throughput":     one("lts__throughput" + elapsed),
		"sol l2 cache":            one("lts__throughput" + elapsed),
		"compute (sm) throughput": one("sm__throughput" + elapsed),
		"compute (sm) [%]":        one("sm__throughput" + elapsed),
		"sm [%]":                  one("sm__throughput" + elapsed),
		"sol sm":                  one("sm__throughput" + elapsed),
		"waves per sm":            one("launch__waves_per_multiprocessor"),
	},
	"compute workload analysis": {
		"executed ipc active":  one("sm__inst_executed.avg.per_cycle_active"),
		"executed ipc elapsed": one("sm__inst_executed.avg.per_cycle_elapsed"),
		"issued ipc active":    one("sm__inst_issued.avg.per_cycle_active"),
		// Share of all cycles since 2025.3, of the active ones before.
		"issue slots busy": activeAndElapsed("sm__inst_issued"),
		"sm busy":          activeAndElapsed("sm__instruction_throughput"),
		"fma":              activeAndElapsed("sm__pipe_fma_cycles_active", "sm__inst_executed_pipe_fma"),
		"alu":              activeAndElapsed("sm__pipe_alu_cycles_active", "sm__inst_executed_pipe_alu"),
		"lsu":              activeAndElapsed("sm__inst_executed_pipe_lsu"),
		"xu":               activeAndElapsed("sm__inst_executed_pipe_xu"),
		"fp16":             activeAndElapsed("sm__inst_executed_pipe_fp16"),
		"fma (fp16)":       activeAndElapsed("sm__inst_executed_pipe_fma_type_fp16"),
		"fp64":             activeAndElapsed("sm__pipe_fp64_cycles_active", "sm__inst_executed_pipe_fp64"),
		"tensor (all)":     activeAndElapsed("sm__pipe_tensor_cycles_active", "sm__pipe_tensor_cycles_active_v2"),
		"tensor (fp)":      activeAndElapsed("sm__pipe_tensor_op_hmma_cycles_active", "sm__inst_executed_pipe_tensor_op_hmma"),
		"tensor (int)":     activeAndElapsed("sm__pipe_tensor_op_imma_cycles_active", "sm__inst_executed_pipe_tensor_op_imma"),
		"tensor (dp)":      activeAndElapsed("sm__pipe_tensor_op_dmma_cycles_active", "sm__inst_executed_pipe_tensor_op_dmma"),
		"tc":               activeAndElapsed("sm__pipe_tc_cycles_active"),
	},
	"memory workload analysis": {
		"memory throughput":                      one("dram__bytes.sum.per_second"),
		"mem busy":                               one("gpu__compute_memory_access_throughput" + elapsed),
		"max bandwidth":                          one("gpu__compute_memory_request_throughput" + elapsed),
		"mem pipes busy":                         one("sm__memory_throughput" + elapsed),
		"l1/tex hit rate":                        one("l1tex__t_sector_hit_rate.pct"),
		"l2 hit rate":                            one("lts__t_sector_hit_rate.pct"),
		"l2 compression success rate":            one("lts__average_gcomp_input_sector_success_rate.pct"),
		"l2 compression ratio":                   one("lts__average_gcomp_output_sector_compression_achieved_rate.ratio"),
		"l2 compression input sectors":           one("lts__gcomp_input_sectors.sum"),
		"local memory spilling requests":         one("derived__local_spilling_requests"),
		"local memory spilling request overhead": one("derived__local_spilling_requests_pct"),
	},
	"scheduler statistics": {
		"one or more eligible":         one("smsp__issue_active" + active),
		"issued warp per scheduler":    one("smsp__issue_active.avg.per_cycle_active"),
		"no eligible":                  one("smsp__issue_inst0" + active),
		"active warps per scheduler":   one("smsp__warps_active.avg.per_cycle_active"),
		"eligible warps per scheduler": one("smsp__warps_eligible.avg.per_cycle_active"),
	},
	"warp state statistics": {
		"warp cycles per issued instruction":       one("smsp__average_warp_latency_per_inst_issued.ratio"),
		"warp cycles per executed instruction":     one("smsp__average_warps_active_per_inst_executed.ratio"),
		"avg. active threads per warp":             one("smsp__thread_inst_executed_per_inst_executed.ratio"),
		"avg. not predicated off threads per warp": one("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"),
	},
	"instruction statistics": {
		"executed instructions":                    one("smsp__inst_executed.sum"),
		"issued instructions":                      one("smsp__inst_issued.sum"),
		"avg. executed instructions per scheduler": one("smsp__inst_executed.avg"),
		"avg. issued instructions per scheduler":   one("smsp__inst_issued.avg"),
		"local memory spilling requests":           one("derived__local_spilling_requests"),
	},
	"launch statistics": {
		"block size":                       one("launch__block_size"),
		"grid size":                        one("launch__grid_size"),
		"cluster size":                     one("launch__cluster_size"),
		"registers per thread":             one("launch__registers_per_thread"),
		"static shared memory per block":   one("launch__shared_mem_per_block_static"),
		"dynamic shared memory per block":  one("launch__shared_mem_per_block_dynamic"),
		"driver shared memory per block":   one("launch__shared_mem_per_block_driver"),
		"shared memory configuration size": one("launch__shared_mem_config_size"),
		"stack size":                       one("launch__stack_size"),
		"threads":                          one("launch__thread_count"),
		"waves per sm":                     one("launch__waves_per_multiprocessor"),
		"# sms":                            one("launch__sm_count"),
		"# tpcs":                           one("launch__tpc_count"),
		"uses green context":               one("launch__uses_green_context"),
		"function cache configuration":     one("launch__func_cache_config"),
	},
	"occupancy": {
		"theoretical occupancy":           one("sm__maximum_warps_per_active_cycle_pct"),
		"theoretical active warps per sm": one("sm__maximum_warps_avg_per_active_cycle"),
		"achieved occupancy":              one("sm__warps_active" + active),
		"achieved active warps per sm":    one("sm__warps_active.avg.per_cycle_active"),
		"block limit registers":           one("launch__occupancy_limit_registers"),
		"block limit shared mem":          one("launch__occupancy_limit_shared_mem"),
		"block limit warps":               one("launch__occupancy_limit_warps"),
		"block limit sm":                  one("launch__occupancy_limit_blocks"),
		"block limit barriers":            one("launch__occupancy_limit_barriers"),
		"cluster occupancy":               one("launch__occupancy_cluster_pct"),
		"max active clusters":             one("launch__cluster_max_active"),
	},
	"source counters": {
		"branch efficiency":         one("smsp__sass_average_branch_targets_threads_uniform.pct"),
		"branch instructions":       one("smsp__inst_executed_op_branch.sum"),
		"branch instructions ratio": one("derived__smsp__inst_executed_op_branch_pct"),
		"avg. divergent branches":   one("smsp__sass_branch_targets_threads_divergent.avg"),
	},
	"gpu and memory workload distribution": {
		"average sm active cycles":   one("sm__cycles_active.avg"),
		"total sm elapsed cycles":    one("sm__cycles_elapsed.sum"),
		"average l1 active cycles":   one("l1tex__cycles_active.avg"),
		"total l1 elapsed cycles":    one("l1tex__cycles_elapsed.sum"),
		"average l2 active cycles":   one("lts__cycles_active.avg"),
		"total l2 elapsed cycles":    one("lts__cycles_elapsed.sum"),
		"average dram active cycles": one("dram__cycles_active.avg"),
		"total dram elapsed cycles":  one("dram__cycles_elapsed.sum"),
		"average smsp active cycles": one("smsp__cycles_active.avg"),
		"total smsp elapsed cycles":  one("smsp__cycles_elapsed.sum"),
	},
	"pm sampling": {
		"maximum buffer size":       one("profiler__pmsampler_buffer_size_bytes"),
		"dropped samples":           one("profiler__pmsampler_dropped_samples"),
		"maximum sampling interval": one("profiler__pmsampler_interval_cycles"),
		"# pass groups":             one("profiler__pmsampler_pass_groups"),
	},
	"nvlink": {
		"logical links":  one("nvlink__count_logical"),
		"physical links": one("nvlink__count_physical"),
	},
}
