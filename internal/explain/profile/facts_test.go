package profile_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// launch makes one of metrics: "name", value, "unit".
func launch(cells ...any) profile.Launch {
	var l profile.Launch
	for i := 0; i < len(cells); i += 3 {
		l.Metrics = append(l.Metrics, profile.Metric{Name: cells[i].(string), Value: new(cells[i+1].(float64)), Unit: cells[i+2].(string)})
	}
	return l
}

func TestDerivedFacts(t *testing.T) {
	const sass = "smsp__sass_thread_inst_executed_op_"
	for _, c := range []struct {
		name   string
		launch profile.Launch
		want   profile.Facts
	}{
		{"nothing gives nothing", profile.Launch{}, profile.Facts{}},
		{
			"coalescing", launch("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 320.0, "sector", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 10.0, "request"),
			profile.Facts{"load_sectors_per_request": 32, "l1_bytes": 10240},
		},
		{
			"no loads have no coalescing", launch("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 0.0, "request", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0.0, "sector",
				"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 0.0, "byte/sector"),
			profile.Facts{"l1_bytes": 0},
		},
		{
			"sectors of 2020 in Mbyte", launch("memory_l2_sectors_global", 4.0, "Mbyte", "memory_l2_sectors_global_ideal", 1.0, "Mbyte"),
			profile.Facts{"global_sectors": 4e6, "global_sectors_ideal": 1e6, "excess_sectors_pct": 75},
		},
		{
			"bank conflicts", launch("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 60.0, "", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 20.0, "",
				"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 40.0, ""),
			profile.Facts{"shared_wavefronts": 80, "shared_conflicts": 40, "bank_conflict_pct": 50},
		},
		{
			"the busiest of the tensor metrics", launch("sm__pipe_tensor_op_hmma_cycles_active_v2.avg.pct_of_peak_sustained_active", 40.0, "%", "sm__pipe_tensor_op_imma_cycles_active_v2.avg.pct_of_peak_sustained_active", 5.0, "%"),
			profile.Facts{"pipe_tensor_pct": 40, "pipe_max_pct": 40},
		},
		{
			"shares of stalls", launch("smsp__average_warp_latency_per_inst_issued.ratio", 10.0, "cycle", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio", 2.5, "inst"),
			profile.Facts{"warp_latency": 10, "stall_dispatch": 2.5, "stall_dispatch_pct": 25},
		},
		{
			"shares of samples where there are no cycles", launch("smsp__pcsamp_warps_issue_stalled_no_instructions", 10.0, "", "smsp__pcsamp_warps_issue_stalled_wait", 30.0, ""),
			profile.Facts{"stall_no_instruction_pct": 25, "stall_wait_pct": 75},
		},
		{
			"operations by the cycle", launch(sass+"fadd_pred_on.sum.per_cycle_elapsed", 1.0, "inst/cycle", sass+"fmul_pred_on.sum.per_cycle_elapsed", 0.0, "inst/cycle",
				sass+"ffma_pred_on.sum.per_cycle_elapsed", 3.0, "inst/cycle", "smsp__cycles_elapsed.avg", 100.0, "cycle", "gpu__time_duration.sum", 1.0, "us", "dram__bytes.sum", 350.0, "byte"),
			profile.Facts{"flops_fp32": 700, "flops": 700, "non_fused_pct": 25, "time_ns": 1000, "flops_per_s": 7e8, "dram_bytes": 350, "intensity": 2, "dram_bytes_per_s": 3.5e8},
		},
		{
			"operations on halves come in pairs", launch(sass+"hadd_pred_on.sum", 10.0, "inst", sass+"hmul_pred_on.sum", 0.0, "inst", sass+"hfma_pred_on.sum", 5.0, "inst"),
			profile.Facts{"flops_fp16": 40, "flops": 40},
		},
		{
			"operations of tensor cores, none of them twice", launch("sm__ops_path_tensor_src_fp16.sum", 100.0, "", "sm__ops_path_tensor_src_fp16_dst_fp32.sum", 60.0, "",
				"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum", 11.0, "", "sm__ops_path_tensor_src_int8.sum", 500.0, ""),
			profile.Facts{"flops_tensor": 111, "flops": 111},
		},
		{
			"operations of tensor cores by the cycle", launch("sm__ops_path_tensor_src_fp16_dst_fp32.sum.per_cycle_elapsed", 60.0, "", "sm__cycles_elapsed.avg", 10.0, "cycle",
				"sm__ops_path_tensor_src_fp16_dst_fp32.sum.peak_sustained", 1000.0, ""),
			profile.Facts{"flops_tensor": 600, "flops": 600, "cycles": 10},
		},
		{
			"the peak of the memory", launch("dram__bytes.sum.peak_sustained", 48.0, "byte/cycle", "dram__cycles_elapsed.avg.per_second", 7.0, "cycle/nsecond"),
			profile.Facts{"dram_clock_hz": 7e9, "dram_peak_bytes_per_s": 336e9},
		},
		{
			"cycles of SMs", launch("sm__cycles_active.avg", 50.0, "cycle", "sm__cycles_active.max", 100.0, "cycle", "sm__cycles_elapsed.avg", 200.0, "cycle"),
			profile.Facts{"cycles": 200, "sm_active_pct": 25, "sm_cycles_max_over_mean": 2},
		},
		{
			"perf", launch("instructions", 300.0, "", "cycles", 100.0, "", "L1-dcache-loads", 50.0, "", "L1-dcache-load-misses", 5.0, "", "branches", 20.0, "", "branch-misses", 1.0, ""),
			profile.Facts{"host_instructions": 300, "host_cycles": 100, "host_ipc": 3, "host_reads": 50, "host_l1_misses": 5, "host_l1_miss_pct": 10, "host_branches": 20, "host_branch_misses": 1, "host_branch_miss_pct": 5},
		},
		{
			"callgrind", launch("Ir", 300.0, "", "Dr", 60.0, "", "Dw", 40.0, "", "D1mr", 4.0, "", "D1mw", 1.0, "", "DLmr", 1.0, "", "DLmw", 0.0, "", "Bc", 20.0, "", "Bcm", 2.0, "", "Bi", 0.0, "", "Bim", 0.0, ""),
			profile.Facts{
				"host_instructions": 300, "host_reads": 60, "host_writes": 40, "host_l1_misses": 5, "host_l1_miss_pct": 5,
				"host_llc_misses": 1, "host_llc_miss_pct": 1, "host_branches": 20, "host_branch_misses": 2, "host_branch_miss_pct": 10,
			},
		},
		{
			"names of pawl's own", launch("queued_ns", 1.0, "us", "submit_ns", 2.0, "us", "time_ns", 5.0, "ns"),
			profile.Facts{"queued_ns": 1000, "submit_ns": 2000, "time_ns": 5},
		},
	} {
		if diff := cmp.Diff(c.want, c.launch.Facts(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// The facts of the page for people are those of the raw page, as far as it shows them.
func TestBothPagesOfTheRealReportsGiveTheSameFacts(t *testing.T) {
	compared := 0
	for _, report := range reports(t) {
		raw, details := open(t, report+".raw.csv"), open(t, report+".details.csv")
		for i, l := range details.Launches {
			exact := raw.Launches[i].Facts()
			for name, v := range l.Facts() {
				want, ok := exact[name]
				// Two decimals, of a value in thousands of its unit at most.
				if !ok || math.Abs(v-want) > 0.0051+0.006*math.Abs(want) && math.Abs(v-want) > 0.0051*exact["time_ns"] {
					t.Errorf("%s: %s is %v on the details page, %v on the raw page", filepath.Base(report), name, v, want)
				}
				compared++
			}
		}
	}
	t.Logf("%d facts", compared)
	if compared < 1000 {
		t.Errorf("only %d facts", compared)
	}
}

// Facts of the real reports are possible: shares of one whole make one, and nothing
// is far beyond its peak.
func TestFactsOfTheRealReportsArePossible(t *testing.T) {
	for _, report := range reports(t) {
		for _, l := range open(t, report+".raw.csv").Launches {
			var stalls float64
			facts := l.Facts()
			for name, v := range facts {
				if strings.HasPrefix(name, "stall_") && strings.HasSuffix(name, "_pct") {
					stalls += v
				}
				if strings.HasSuffix(name, "_pct") && (v < 0 || v > 102) {
					t.Errorf("%s: %s is %v", filepath.Base(report), name, v)
				}
			}
			if _, ok := facts["stall_wait_pct"]; ok && (stalls < 95 || stalls > 105) {
				t.Errorf("%s: the shares of the stalls make %v %%", filepath.Base(report), stalls)
			}
			if v, peak := facts["flops_per_s"], facts["peak_fp32_flops_per_s"]; v > peak {
				t.Errorf("%s: %v operations in a second, of %v", filepath.Base(report), v, peak)
			}
			if v, peak := facts["dram_bytes_per_s"], facts["dram_peak_bytes_per_s"]; v > peak {
				t.Errorf("%s: %v bytes in a second, of %v", filepath.Base(report), v, peak)
			}
			for _, name := range []string{"time_ns", "registers", "block_size", "grid_size", "sm_pct", "memory_pct", "occupancy_max_pct"} {
				if _, ok := facts[name]; !ok {
					t.Errorf("%s: no %s", filepath.Base(report), name)
				}
			}
		}
	}
}
