package profile

// Names of metrics differ between GPUs and between releases of ncu; the
// tables list which of them are the same.

var timeSources = []source{
	from("time_ns", nanoseconds, "time of the launch under the profiler", "gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max", "gpu__time_active.sum", "Duration", "Med", "Avg"),
	from("cycles", none, "elapsed cycles", "gpc__cycles_elapsed.max", "sm__cycles_elapsed.max", "sm__cycles_elapsed.avg"),
	from("sm_clock_hz", hertz, "SM clock", "gpc__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second", "smsp__cycles_elapsed.avg.per_second"),
	from("dram_clock_hz", hertz, "device memory clock", "dram__cycles_elapsed.avg.per_second"),
	from("sms", none, "SMs on the device", "launch__sm_count", "device__attribute_multiprocessor_count"),
	from("launches", none, "launches of the kernel in the profile", "Instances"),
	from("queued_ns", nanoseconds, "time from the call to submission to the device"),
	from("submit_ns", nanoseconds, "time from submission to the start on the device"),
	from("gap_ns", nanoseconds, "idle time of the device before the launch"),
}

var speedSources = []source{
	from("sm_pct", percent, "busiest SM unit, share of its peak", "sm__throughput"+elapsed),
	from("memory_pct", percent, "busiest part of the memory system, share of its peak", "gpu__compute_memory_throughput"+elapsed),
	from("dram_pct", percent, "device memory throughput, share of its peak", "gpu__dram_throughput"+elapsed, "dram__throughput"+elapsed, "dram__cycles_active"+elapsed),
	from("l1_pct", percent, "L1 throughput, share of its peak", "l1tex__throughput"+active, "l1tex__throughput"+elapsed),
	from("l2_pct", percent, "L2 throughput, share of its peak", "lts__throughput"+elapsed),
	from("mem_busy_pct", percent, "busiest cache or memory unit, share of its peak", "gpu__compute_memory_access_throughput"+elapsed),
	from("mem_bandwidth_pct", percent, "busiest connection between memory units, share of its peak", "gpu__compute_memory_request_throughput"+elapsed),
	from("mem_pipes_pct", percent, "memory pipes of the SM, share of their peak", "sm__memory_throughput"+elapsed),
	from("ipc", none, "instructions per cycle of an active SM", "sm__inst_executed.avg.per_cycle_active"),
	from("ipc_elapsed", none, "instructions per cycle of an SM", "sm__inst_executed.avg.per_cycle_elapsed"),
	from("issue_slots_pct", percent, "issue slots in use", activeAndElapsed("sm__inst_issued")...),
	from("sm_busy_pct", percent, "busiest instruction pipe or issue slot", activeAndElapsed("sm__instruction_throughput")...),
	from("sm_active_pct", percent, "share of the cycles in which an SM had work"),
	from("sm_cycles_max_over_mean", none, "cycles of the busiest SM divided by the mean over all SMs"),
}

var memorySources = []source{
	from("dram_bytes", byteUnit, "bytes moved between L2 and device memory", "dram__bytes.sum"),
	from("dram_read_bytes", byteUnit, "bytes read from device memory", "dram__bytes_read.sum"),
	from("dram_write_bytes", byteUnit, "bytes written to device memory", "dram__bytes_write.sum"),
	from("dram_bytes_per_s", bytesPerSecond, "device memory throughput", "dram__bytes.sum.per_second"),
	from("dram_peak_bytes_per_s", bytesPerSecond, "peak device memory throughput at its clock"),
	from("l2_bytes", byteUnit, "bytes requested from L2", "lts__t_bytes.sum"),
	from("l1_bytes", byteUnit, "bytes requested from L1", "l1tex__t_bytes.sum"),
	from("l1_hit_pct", percent, "L1 hit rate", "l1tex__t_sector_hit_rate.pct"),
	from("l2_hit_pct", percent, "L2 hit rate", "lts__t_sector_hit_rate.pct", "L2CacheHit"),
}

var pipeSources = []source{
	from("pipe_fma_pct", percent, "FMA pipe in use", activeAndElapsed("sm__pipe_fma_cycles_active", "sm__inst_executed_pipe_fma", "sm__pipe_fmaheavy_cycles_active")...),
	from("pipe_alu_pct", percent, "ALU pipe in use", activeAndElapsed("sm__pipe_alu_cycles_active", "sm__inst_executed_pipe_alu")...),
	from("pipe_fp64_pct", percent, "FP64 pipe in use", activeAndElapsed("sm__pipe_fp64_cycles_active", "sm__inst_executed_pipe_fp64")...),
	from("pipe_fp16_pct", percent, "FP16 pipe in use", activeAndElapsed("sm__inst_executed_pipe_fp16", "sm__inst_executed_pipe_fma_type_fp16")...),
	from("pipe_lsu_pct", percent, "load/store pipe in use", activeAndElapsed("sm__inst_executed_pipe_lsu")...),
	from("pipe_xu_pct", percent, "special function and conversion pipe in use", activeAndElapsed("sm__inst_executed_pipe_xu", "sm__pipe_xu_cycles_active")...),
	from("pipe_tensor_pct", percent, "tensor pipe in use", "MfmaUtil"),
	from("pipe_valu_pct", percent, "vector ALU in use (AMD)", "VALUBusy"),
	from("pipe_max_pct", percent, "busiest arithmetic pipe (FMA, ALU, FP64, FP16, XU, tensor)"),
}

// tensorMetrics are the metrics of the tensor pipe on different chips; the highest value counts.
var tensorMetrics = activeAndElapsed(
	"sm__pipe_tensor_cycles_active", "sm__pipe_tensor_cycles_active_v2", "sm__pipe_tc_cycles_active",
	"sm__pipe_tensor_op_hmma_cycles_active", "sm__pipe_tensor_op_imma_cycles_active", "sm__pipe_tensor_op_dmma_cycles_active",
	"sm__pipe_tensor_op_hmma_cycles_active_v2", "sm__pipe_tensor_op_imma_cycles_active_v2", "sm__pipe_tensor_op_dmma_cycles_active_v2",
	"sm__pipe_tensor_subpipe_hmma_cycles_active", "sm__pipe_tensor_subpipe_imma_cycles_active", "sm__pipe_tensor_subpipe_dmma_cycles_active",
	"sm__inst_executed_pipe_tensor", "sm__inst_executed_pipe_tensor_op_hmma", "sm__inst_executed_pipe_tensor_op_imma",
	"sm__inst_executed_pipe_tensor_op_dmma", "sm__inst_executed_pipe_tensor_op_gmma", "sm__inst_executed_pipe_tc",
)

var launchSources = []source{
	from("occupancy_pct", percent, "achieved occupancy", "sm__warps_active"+active, "OccupancyPercent"),
	from("occupancy_max_pct", percent, "theoretical occupancy", "sm__maximum_warps_per_active_cycle_pct"),
	from("limit_registers", none, "blocks per SM that the registers allow", "launch__occupancy_limit_registers"),
	from("limit_shared", none, "blocks per SM that shared memory allows", "launch__occupancy_limit_shared_mem"),
	from("limit_warps", none, "blocks per SM that the warps allow", "launch__occupancy_limit_warps"),
	from("limit_blocks", none, "blocks per SM that the hardware allows", "launch__occupancy_limit_blocks"),
	from("limit_barriers", none, "blocks per SM that the barriers allow", "launch__occupancy_limit_barriers"),
	from("registers", none, "registers per thread", "launch__registers_per_thread", "Reg/Trd", "VGPR_Count"),
	from("registers_scalar", none, "scalar registers per wave (AMD)", "SGPR_Count"),
	from("shared_bytes", byteUnit, "shared memory requested per block", "LDS_Block_Size", "Group_Segment_Size"),
	from("shared_static_bytes", byteUnit, "static shared memory per block", "launch__shared_mem_per_block_static"),
	from("shared_dynamic_bytes", byteUnit, "dynamic shared memory per block", "launch__shared_mem_per_block_dynamic"),
	from("shared_driver_bytes", byteUnit, "shared memory per block used by the driver", "launch__shared_mem_per_block_driver"),
	from("shared_config_bytes", byteUnit, "configured shared memory per SM", "launch__shared_mem_config_size"),
	from("stack_bytes", byteUnit, "stack per thread", "launch__stack_size", "Scratch_Size", "Private_Segment_Size"),
	from("block_size", none, "threads per block", "launch__block_size"),
	from("grid_size", none, "blocks in the grid", "launch__grid_size"),
	from("threads", none, "threads in the grid", "launch__thread_count"),
	from("waves", none, "waves of blocks in the grid", "launch__waves_per_multiprocessor"),
	from("cluster_size", none, "blocks per cluster", "launch__cluster_size"),
}

// stallReasons are the reasons why a warp stalls, as named in the quantities.
var stallReasons = []struct{ name, metric, about string }{
	{"barrier", "", "waiting for other warps of the block at a barrier"},
	{"branch_resolving", "", "waiting for a branch to resolve"},
	{"dispatch", "dispatch_stall", "waiting for the dispatcher"},
	{"drain", "", "waiting for stores to drain before exit"},
	{"imc_miss", "", "waiting for the immediate constant cache"},
	{"gmma", "", "waiting for a warp-group tensor operation"},
	{"lg_throttle", "", "waiting for the local and global memory queue"},
	{"long_scoreboard", "", "waiting for data from global, local or texture memory"},
	{"math_pipe_throttle", "", "waiting for an arithmetic pipe"},
	{"membar", "", "waiting at a memory barrier"},
	{"mio_throttle", "", "waiting for the memory input/output queue (shared memory, special functions)"},
	{"misc", "", "waiting for another reason"},
	{"no_instruction", "", "waiting for an instruction fetch"},
	{"not_selected", "", "ready, but another warp was selected"},
	{"selected", "", "issuing"},
	{"short_scoreboard", "", "waiting for data from shared memory or a special function"},
	{"sleeping", "", "sleeping"},
	{"tex_throttle", "", "waiting for the texture unit queue"},
	{"wait", "", "waiting for a fixed latency between two instructions"},
}

func warpSources() []source {
	list := []source{
		from("active_warps", none, "active warps per scheduler", "smsp__warps_active.avg.per_cycle_active"),
		from("eligible_warps", none, "eligible warps per scheduler", "smsp__warps_eligible.avg.per_cycle_active"),
		from("issue_active", none, "instructions issued per scheduler and cycle", "smsp__issue_active.avg.per_cycle_active"),
		from("no_eligible_pct", percent, "cycles in which a scheduler had no warp to issue from", "smsp__issue_inst0"+active),
		from("warp_latency", none, "cycles between two issued instructions of a warp", "smsp__average_warp_latency_per_inst_issued.ratio", "smsp__average_warps_active_per_issue_active.ratio"),
		from("threads_per_warp", none, "active threads per warp, out of 32", "smsp__thread_inst_executed_per_inst_executed.ratio"),
		from("lanes_pct", percent, "active lanes per vector instruction (AMD)", "VALUUtilization"),
		from("threads_on_per_warp", none, "threads per warp that are not predicated off, out of 32", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"),
	}
	for _, r := range stallReasons {
		metric := r.metric
		if metric == "" {
			metric = r.name
		}
		list = append(list, from("stall_"+r.name, none, "cycles per issued instruction "+r.about,
			"smsp__average_warps_issue_stalled_"+metric+"_per_issue_active.ratio", "smsp__average_warp_latency_issue_stalled_"+metric+".ratio"))
	}
	for _, r := range stallReasons {
		list = append(list, from("stall_"+r.name+"_pct", percent, "share of a warp's time "+r.about))
	}
	return list
}

var accessSources = []source{
	from("load_sectors_per_request", none, "sectors touched per global load request (4 for 32 threads with 4 bytes each)"),
	from("lds_conflict_pct", percent, "share of the time in which LDS is stalled by bank conflicts (AMD)", "LDSBankConflict"),
	from("store_sectors_per_request", none, "sectors touched per global store request"),
	from("load_bytes_per_sector", none, "bytes used per 32-byte sector by global loads", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"),
	from("store_bytes_per_sector", none, "bytes used per 32-byte sector by global stores", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"),
	from("global_sectors", none, "sectors that global accesses request from L2", "memory_l2_theoretical_sectors_global", "memory_l2_sectors_global", "memory_l2_transactions_global"),
	from("global_sectors_ideal", none, "sectors that global accesses would request if they were coalesced", "memory_l2_theoretical_sectors_global_ideal", "memory_l2_sectors_global_ideal", "memory_ideal_l2_transactions_global"),
	from("excess_sectors_pct", percent, "sectors that coalescing would save"),
	from("shared_wavefronts", none, "passes through shared memory", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),
	from("shared_conflicts", none, "passes through shared memory due to bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
	from("bank_conflict_pct", percent, "share of passes through shared memory due to bank conflicts"),
	from("shared_excess_pct", percent, "passes through shared memory that better addresses would save"),
	from("spill_requests", none, "requests to local memory for spilled registers", "derived__local_spilling_requests"),
	from("spill_pct", percent, "share of memory requests due to spilled registers", "derived__local_spilling_requests_pct"),
	from("local_loads", none, "loads from local memory", "smsp__sass_inst_executed_op_local_ld.sum", "smsp__inst_executed_op_local_ld.sum", "sass__inst_executed_local_loads", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"),
	from("local_stores", none, "stores to local memory", "smsp__sass_inst_executed_op_local_st.sum", "smsp__inst_executed_op_local_st.sum", "sass__inst_executed_local_stores", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"),
}

var workSources = []source{
	from("instructions", none, "warp instructions", "smsp__inst_executed.sum", "sm__inst_executed.sum", "inst_executed"),
	from("flops_fp16", none, "FP16 operations outside the tensor cores"),
	from("flops_fp32", none, "FP32 operations outside the tensor cores"),
	from("flops_fp64", none, "FP64 operations outside the tensor cores"),
	from("flops_tensor", none, "floating-point operations of the tensor cores"),
	from("flops", none, "floating-point operations"),
	from("flops_per_s", none, "floating-point operations per second"),
	from("intensity", none, "floating-point operations per byte of device memory"),
	from("peak_fp32_flops_per_s", none, "FP32 peak at the profile's clock"),
	from("non_fused_pct", percent, "FP32 and FP64 instructions that are not fused multiply-adds"),
	from("branch_efficiency_pct", percent, "branches in which all threads of a warp agree", "smsp__sass_average_branch_targets_threads_uniform.pct"),
	from("divergent_branches", none, "divergent branches per SM sub-partition", "smsp__sass_branch_targets_threads_divergent.avg"),
}

// hostSources use the event names of perf and callgrind.
var hostSources = []source{
	from("host_instructions", none, "CPU instructions", "instructions", "Ir"),
	from("host_cycles", none, "CPU cycles", "cycles", "cpu-cycles"),
	from("host_ipc", none, "CPU instructions per cycle"),
	from("host_reads", none, "CPU loads; callgrind counts every 8 bytes of a wider one", "L1-dcache-loads", "mem-loads", "Dr"),
	from("host_writes", none, "CPU stores; callgrind counts every 8 bytes of a wider one", "L1-dcache-stores", "mem-stores", "Dw"),
	from("host_l1_misses", none, "accesses that missed the first-level data cache", "L1-dcache-load-misses"),
	from("host_l1_miss_pct", percent, "share of accesses that missed the first-level data cache"),
	from("host_llc_misses", none, "accesses that missed the last-level cache", "LLC-load-misses", "cache-misses"),
	from("host_llc_miss_pct", percent, "share of accesses that missed the last-level cache"),
	from("host_branches", none, "CPU branches", "branches", "branch-instructions"),
	from("host_branch_misses", none, "mispredicted branches", "branch-misses"),
	from("host_branch_miss_pct", percent, "share of branches that were mispredicted"),
}
