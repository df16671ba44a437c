package profile

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// derive adds the quantities that are computed from several metrics. Quantities from the tool stay
// unchanged; nothing is computed from missing values.
func (f Facts) derive(m values) {
	f.deriveAMD(m)
	f.deriveTime(m)
	f.deriveMemory(m)
	f.deriveAccess(m)
	f.derivePipes(m)
	f.deriveStalls(m)
	f.deriveWork(m)
	f.deriveHost(m)
}

// put sets a missing quantity, if the value is a number.
func (f Facts) put(name string, v float64, ok bool) {
	if _, have := f[name]; !have && ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
		f[name] = v
	}
}

// ratio sets a quantity to scale times over divided by under, if both exist.
func (f Facts) ratio(name, over, under string, scale float64) {
	a, ok := f[over]
	b, known := f[under]
	f.put(name, scale*a/b, ok && known && b > 0)
}

// deriveAMD adds what rocprofv3 counts in units of its own. A thread's registers are those for vectors and those for
// matrices; bytes beyond L2 are counted in KiB, whether the Infinity Cache or memory holds them.
func (f Facts) deriveAMD(m values) {
	vectors, known := m.get("VGPR_Count")
	if accum, ok := m.get("Accum_VGPR_Count"); ok && known && f["registers"] == vectors {
		delete(f, "registers")
		f.put("registers", vectors+accum, true)
	}
	for name, counter := range map[string]string{"dram_read_bytes": "FETCH_SIZE", "dram_write_bytes": "WRITE_SIZE"} {
		kib, ok := m.get(counter)
		f.put(name, 1024*kib, ok)
	}
	busiest, counted := 0.0, false
	for _, counter := range []string{"VALUBusy", "SALUBusy", "MfmaUtil"} {
		if v, ok := m.get(counter); ok {
			busiest, counted = max(busiest, v), true
		}
	}
	f.put("sm_pct", busiest, counted)
}

func (f Facts) deriveTime(m values) {
	on, ok := m.get("sm__cycles_active.avg")
	total, known := m.get("sm__cycles_elapsed.avg")
	if !known {
		if total, known = m.get("sm__cycles_elapsed.sum"); known {
			sms, have := f["sms"]
			total, known = total/sms, have && sms > 0
		}
	}
	if !known {
		total, known = f["cycles"]
	}
	f.put("sm_active_pct", min(100, 100*on/total), ok && known && total > 0)
	most, known := m.get("sm__cycles_active.max")
	f.put("sm_cycles_max_over_mean", most/on, ok && known && on > 0)
	if t, ok := f["time_ns"]; !ok || t <= 0 {
		cycles, ok := f["cycles"]
		clock, known := f["sm_clock_hz"]
		f.put("time_ns", 1e9*cycles/clock, ok && known && clock > 0)
	}
}

func (f Facts) deriveMemory(m values) {
	if read, ok := f["dram_read_bytes"]; ok {
		write, known := f["dram_write_bytes"]
		f.put("dram_bytes", read+write, known)
	}
	seconds := f["time_ns"] / 1e9
	rate, ok := f["dram_bytes_per_s"]
	f.put("dram_bytes", rate*seconds, ok && seconds > 0)
	moved, ok := f["dram_bytes"]
	f.put("dram_bytes_per_s", moved/seconds, ok && seconds > 0)

	perCycle, ok := m.get("dram__bytes.sum.peak_sustained")
	clock, known := f["dram_clock_hz"]
	f.put("dram_peak_bytes_per_s", perCycle*clock, ok && known && perCycle > 0)
	// A small percentage with two decimals is too coarse to compute a peak.
	pct, ok := f["dram_pct"]
	rate, known = f["dram_bytes_per_s"]
	f.put("dram_peak_bytes_per_s", 100*rate/pct, ok && known && pct >= 5)
	peak, ok := f["dram_peak_bytes_per_s"]
	f.put("dram_pct", 100*rate/peak, ok && known && peak > 0)

	sectors, ok := m.get("lts__t_sectors.sum")
	f.put("l2_bytes", 32*sectors, ok)
	rate, ok = m.get("lts__t_bytes.sum.per_second")
	f.put("l2_bytes", rate*seconds, ok && seconds > 0)
	sectors, ok = m.sum("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")
	if more, have := m.sum("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"); have {
		sectors += more
	}
	f.put("l1_bytes", 32*sectors, ok)
	rate, ok = m.get("l1tex__t_bytes.sum.per_second")
	f.put("l1_bytes", rate*seconds, ok && seconds > 0)
}

func (f Facts) deriveAccess(m values) {
	for _, op := range []struct{ name, metric string }{{"load", "ld"}, {"store", "st"}} {
		sectors, ok := m.get("l1tex__t_sectors_pipe_lsu_mem_global_op_" + op.metric + ".sum")
		requests, known := m.get("l1tex__t_requests_pipe_lsu_mem_global_op_" + op.metric + ".sum")
		f.put(op.name+"_sectors_per_request", sectors/requests, ok && known && requests > 0)
		pct, ok := m.get("smsp__sass_average_data_bytes_per_sector_mem_global_op_" + op.metric + ".pct")
		f.put(op.name+"_bytes_per_sector", 0.32*pct, ok)
		// Zero means that the kernel has no such accesses, so the value says nothing.
		if f[op.name+"_bytes_per_sector"] == 0 {
			delete(f, op.name+"_bytes_per_sector")
		}
	}
	if all, ok := f["global_sectors"]; ok && all > 0 {
		ideal, known := f["global_sectors_ideal"]
		f.put("excess_sectors_pct", max(0, 100*(all-ideal)/all), known)
		excess, known := m.get("derived__memory_l2_theoretical_sectors_global_excessive")
		f.put("excess_sectors_pct", 100*excess/all, known)
	}

	ops := func(stem string) []string { return []string{stem + "_op_ld.sum", stem + "_op_st.sum"} }
	passes, ok := m.sum(ops("l1tex__data_pipe_lsu_wavefronts_mem_shared")...)
	f.put("shared_wavefronts", passes, ok)
	conflicts, known := m.sum(ops("l1tex__data_bank_conflicts_pipe_lsu_mem_shared")...)
	f.put("shared_conflicts", conflicts, known)
	f.ratio("bank_conflict_pct", "shared_conflicts", "shared_wavefronts", 100)
	for _, names := range [][2]string{
		{"memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal"},
		{"memory_l1_sectors_shared", "memory_l1_sectors_shared_ideal"},
		{"memory_shared_transactions", "memory_ideal_shared_transactions"},
	} {
		all, ok := m.get(names[0])
		ideal, known := m.get(names[1])
		f.put("shared_excess_pct", max(0, 100*(all-ideal)/all), ok && known && all > 0)
	}
	static, ok := f["shared_static_bytes"]
	dynamic, known := f["shared_dynamic_bytes"]
	f.put("shared_bytes", static+dynamic, ok && known)
	whole, ok := m.get("launch__shared_mem_per_block")
	f.put("shared_bytes", whole, ok)
}

func (f Facts) derivePipes(m values) {
	for _, name := range tensorMetrics {
		if v, ok := m.get(name); ok {
			f["pipe_tensor_pct"] = max(f["pipe_tensor_pct"], v)
		}
	}
	for _, pipe := range []string{"fma", "alu", "fp64", "fp16", "xu", "tensor"} {
		if v, ok := f["pipe_"+pipe+"_pct"]; ok {
			f["pipe_max_pct"] = max(f["pipe_max_pct"], v)
		}
	}
}

// deriveStalls computes shares of cycles, or of samples if there are no cycles.
func (f Facts) deriveStalls(m values) {
	var samples float64
	for _, r := range stallReasons {
		f.ratio("stall_"+r.name+"_pct", "stall_"+r.name, "warp_latency", 100)
		n, _ := m.sampled(r.name, r.metric)
		samples += n
	}
	for _, r := range stallReasons {
		n, ok := m.sampled(r.name, r.metric)
		f.put("stall_"+r.name+"_pct", 100*n/samples, ok && samples > 0)
	}
}

// sampled returns how often the sampler found a warp stalled for a reason.
func (m values) sampled(names ...string) (float64, bool) {
	for _, name := range append(names, names[0]+"s") { // no_instructions
		if v, ok := m.get("smsp__pcsamp_warps_issue_stalled_" + name); ok && name != "" {
			return v, true
		}
	}
	return 0, false
}

func (f Facts) deriveWork(m values) {
	// An instruction on a pair of halves counts once per thread but works on two values.
	for _, kind := range []struct {
		name, letter string
		width        float64
	}{{"fp16", "h", 2}, {"fp32", "f", 1}, {"fp64", "d", 1}} {
		add, mul, fma, ok := m.arithmetic(kind.letter, f["time_ns"]/1e9)
		f.put("flops_"+kind.name, kind.width*(add+mul+2*fma), ok)
	}
	tensor, ok := m.tensorOps(f["time_ns"] / 1e9)
	f.put("flops_tensor", tensor, ok)
	var sum float64
	known := false
	for _, kind := range []string{"fp16", "fp32", "fp64", "tensor"} {
		n, ok := f["flops_"+kind]
		sum, known = sum+n, known || ok
	}
	f.put("flops", sum, known)
	f.ratio("flops_per_s", "flops", "time_ns", 1e9)
	f.ratio("intensity", "flops", "dram_bytes", 1)

	lanes, ok := m.get("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained")
	clock, have := m.get("sm__cycles_elapsed.avg.per_second")
	if !have {
		clock, have = f["sm_clock_hz"]
	}
	f.put("peak_fp32_flops_per_s", 2*lanes*clock, ok && have)

	add, mul, fma, ok := m.arithmetic("f", f["time_ns"]/1e9)
	dadd, dmul, dfma, _ := m.arithmetic("d", f["time_ns"]/1e9)
	single, all := add+mul+dadd+dmul, add+mul+fma+dadd+dmul+dfma
	f.put("non_fused_pct", 100*single/all, ok && all > 0)
}

// arithmetic counts thread-level instructions of one width: add, multiply, fused.
func (m values) arithmetic(letter string, seconds float64) (add, mul, fma float64, ok bool) {
	count := func(op string) (float64, bool) {
		for _, unit := range []string{"smsp", "sm"} {
			stem := unit + "__sass_thread_inst_executed_op_" + letter + op + "_pred_on.sum"
			if n, ok := m.get(stem); ok {
				return n, true
			}
			if rate, ok := m.get(stem + ".per_cycle_elapsed"); ok {
				if cycles, ok := m.get(unit + "__cycles_elapsed.avg"); ok {
					return rate * cycles, true
				}
				clock, ok := m.get(unit + "__cycles_elapsed.avg.per_second")
				return rate * clock * seconds, ok && seconds > 0
			}
		}
		return 0, false
	}
	add, hasAdd := count("add")
	mul, hasMul := count("mul")
	fma, hasFMA := count("fma")
	return add, mul, fma, hasAdd && hasMul && hasFMA
}

const tensorPath = "sm__ops_path_tensor_src_"

// tensorOps sums the operations of the tensor cores without counting any twice: a name that starts
// with another one is a part of it. Integer operations are excluded.
func (m values) tensorOps(seconds float64) (sum float64, ok bool) {
	cycles, known := m.get("sm__cycles_elapsed.avg")
	if !known {
		clock, has := m.get("sm__cycles_elapsed.avg.per_second")
		cycles, known = clock*seconds, has && seconds > 0
	}
	ops := map[string]float64{}
	for name, v := range m {
		kind, is := strings.CutPrefix(name, tensorPath)
		if !is || strings.HasPrefix(kind, "int") {
			continue
		}
		if stem, total := strings.CutSuffix(kind, ".sum"); total {
			ops[stem] = v
		} else if stem, rate := strings.CutSuffix(kind, ".sum.per_cycle_elapsed"); rate && known {
			if _, have := m[tensorPath+stem+".sum"]; !have {
				ops[stem] = v * cycles
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(ops)) { // sorted: a floating-point sum depends on its order
		if !part(kind, ops) {
			sum, ok = sum+ops[kind], true
		}
	}
	return sum, ok
}

// part reports whether a kind of operations is also counted in a wider one.
func part(kind string, ops map[string]float64) bool {
	for {
		at := strings.LastIndexByte(kind, '_')
		if at < 0 {
			return false
		}
		kind = kind[:at]
		if _, ok := ops[kind]; ok {
			return true
		}
	}
}

func (f Facts) deriveHost(m values) {
	for name, events := range map[string][]string{
		"host_l1_misses":     {"D1mr", "D1mw"},
		"host_llc_misses":    {"DLmr", "DLmw"},
		"host_branches":      {"Bc", "Bi"},
		"host_branch_misses": {"Bcm", "Bim"},
	} {
		n, ok := m.sum(events...)
		f.put(name, n, ok)
	}
	f.ratio("host_ipc", "host_instructions", "host_cycles", 1)
	if reads, ok := f["host_reads"]; ok {
		// perf counts only the misses of loads; callgrind counts both loads and stores.
		accesses := reads
		if _, callgrind := m["D1mr"]; callgrind {
			accesses += f["host_writes"]
		}
		misses, known := f["host_l1_misses"]
		f.put("host_l1_miss_pct", 100*misses/accesses, known && accesses > 0)
		misses, known = f["host_llc_misses"]
		f.put("host_llc_miss_pct", 100*misses/accesses, known && accesses > 0)
	}
	f.ratio("host_branch_miss_pct", "host_branch_misses", "host_branches", 100)
}
