package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// The real page of an L4: all of its 78 metrics in 11 sections, each with three
// values, and nothing of what the program printed among them.
func TestEveryFieldOfTheL4Page(t *testing.T) {
	file := filepath.Join(data(t), "ncu", "bsr_spmm_l4_details.txt")
	p := open(t, file)
	if len(p.Launches) != 1 {
		t.Fatalf("%d launches", len(p.Launches))
	}
	l := p.Launches[0]
	want := profile.Launch{
		Kernel: "void bsr_spmm_async<256, 128, 32>(BSR, BSR, float *, int, int, int, int)",
		Grid:   [3]int{64, 32, 1}, Block: [3]int{256, 1, 1}, CC: "8.9",
		Fields: []profile.Field{
			{Name: "Process ID", Text: "4120"},
			{Name: "Process Name", Text: "sparse_h100_test"},
			{Name: "Host Name", Text: "127.0.0.1"},
			{Name: "Device", Text: "0"},
			{Name: "Invocations", Text: "1"},
		},
	}
	if diff := cmp.Diff(want, l, cmpopts.IgnoreFields(profile.Launch{}, "Metrics")); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	left := string(text)
	for _, m := range l.Metrics {
		sections[m.Section] = true
		if m.Value == nil || m.Low == nil || m.High == nil || m.Text != "" || m.Label == "" || m.Name != "" {
			t.Errorf("%+v", m)
		}
		// The page has them in this order.
		at := strings.Index(left, "\n    "+m.Label+" ")
		if at < 0 {
			t.Fatalf("%q is not in the page, after the ones before it", m.Label)
		}
		left = left[at+1:]
		if line, _, _ := strings.Cut(left, "\n"); m.Unit != "" && !strings.Contains(line, " "+m.Unit+" ") {
			t.Errorf("%s: unit %q: %s", m.Label, m.Unit, line)
		}
	}
	if len(l.Metrics) != 78 || len(sections) != 11 {
		t.Errorf("%d metrics in %d sections, want 78 in 11", len(l.Metrics), len(sections))
	}
	if len(p.Notes) != 12 || !strings.HasPrefix(p.Notes[2], "[Config]") {
		t.Errorf("%d notes: %q", len(p.Notes), p.Notes)
	}
}

func TestFactsOfTheL4Page(t *testing.T) {
	p := open(t, filepath.Join(data(t), "ncu", "bsr_spmm_l4_details.txt"))
	want := profile.Facts{
		"time_ns": 1.54e6, "cycles": 1221875, "sm_clock_hz": 794.94e6, "dram_clock_hz": 6.24e9, "sms": 58,
		"sm_pct": 12.63, "memory_pct": 70.87, "dram_pct": 70.87, "l1_pct": 37.54, "l2_pct": 29.17,
		"mem_busy_pct": 36.37, "mem_bandwidth_pct": 70.87, "mem_pipes_pct": 12.63,
		"dram_bytes_per_s": 212.43e9, "dram_bytes": 212.43e9 * 1.54e-3, "dram_peak_bytes_per_s": 212.43e9 / 0.7087,
		"l1_hit_pct": 66.18, "l2_hit_pct": 93.64,
		"ipc": 0.48, "ipc_elapsed": 0.46, "issue_slots_pct": 11.56, "sm_busy_pct": 11.56,
		"sm_active_pct": 100 * 1183765.40 / (70868332.0 / 58),
		"occupancy_pct": 16.54, "occupancy_max_pct": 16.67,
		"limit_blocks": 24, "limit_registers": 1, "limit_shared": 1, "limit_warps": 6,
		"registers": 168, "block_size": 256, "grid_size": 2048, "threads": 524288, "waves": 35.31,
		// The page prints 32.77, 1.02 and 65.54 Kbyte.
		"shared_bytes": 32768, "shared_static_bytes": 32768, "shared_dynamic_bytes": 0,
		"shared_driver_bytes": 1024, "shared_config_bytes": 65536, "stack_bytes": 1024,
		"active_warps": 1.99, "eligible_warps": 0.13, "issue_active": 0.12, "no_eligible_pct": 88.04,
		"warp_latency": 16.64, "threads_per_warp": 32, "threads_on_per_warp": 28.91,
		"spill_requests": 0, "spill_pct": 0, "instructions": 32748448,
		"branch_efficiency_pct": 100, "divergent_branches": 0,
	}
	if diff := cmp.Diff(want, p.Launches[0].Facts(), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
}
