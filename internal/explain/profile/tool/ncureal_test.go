package tool

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// ncus are the real ones that are installed here: the one on the path, and one of
// another release that PAWL_NCU names.
func ncus(t *testing.T) []program {
	t.Helper()
	var list []program
	for _, path := range []string{"ncu", os.Getenv("PAWL_NCU")} {
		at, err := exec.LookPath(path)
		if err != nil {
			continue
		}
		p, err := openProgram(t.Context(), at, "--help")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(list, func(o program) bool { return o.version == p.version }) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		t.Skip("there is no ncu here")
	}
	if len(list) == 1 {
		t.Run("another release", func(t *testing.T) { t.Skip("PAWL_NCU names no second release of ncu") })
	}
	return list
}

func TestRealNcuSaysWhoItIs(t *testing.T) {
	for _, p := range ncus(t) {
		t.Run(p.version, func(t *testing.T) {
			if major(p.version) < 2020 {
				t.Errorf("version %q", p.version)
			}
			for _, option := range []string{"--clock-control", "--cache-control", "--profile-from-start", "--import-source", "--nvtx-include", "--target-processes"} {
				if !p.supports(option) {
					t.Errorf("its help does not name %s", option)
				}
			}
			if p.supports("--nvtx-incl") || p.supports("--no-such-option") {
				t.Error("it is said to know options that it does not")
			}
		})
	}
}

// Every command line that pawl composes is accepted: a program without a kernel gives
// the documented warning and not an argument error.
func TestRealNcuTakesOurArguments(t *testing.T) {
	l4 := gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", ComputeCapability: "8.9"}
	targets := map[string]Target{
		"marked, held clocks": {Device: l4, Exact: true, Locked: true, Cache: measure.Hot},
		"by name, cold":       {Device: l4, Kernel: "^my_(gemm|conv)", Warmup: 20, Cache: measure.Cold},
		"by range":            {Device: l4, NVTX: "pawl", Cache: measure.Hot},
		"a new GPU":           {Device: gpu.Identity{ComputeCapability: "99.0"}, Exact: true},
	}
	for _, p := range ncus(t) {
		t.Run(p.version, func(t *testing.T) {
			for name, target := range targets {
				for _, set := range []string{SetFull, SetCheap} {
					chosen, _, err := ncuSet(t.Context(), p, set, target.Device.ComputeCapability)
					if err != nil {
						t.Fatal(err)
					}
					report, log := t.TempDir()+"/case.ncu-rep", t.TempDir()+"/log"
					args := append(ncuArgs(p, target, chosen, report, log), "sh", "-c", "echo it ran")
					said, err := p.output(t.Context(), 0, args...)
					if err != nil || strings.TrimSpace(string(said)) != "it ran" {
						t.Errorf("%s, %s: %v, it says %q", name, set, err, said)
					}
					text, err := os.ReadFile(log)
					if why, _, _ := findComplaint(string(text)); err != nil || !strings.Contains(why, "no kernel that matches the selection ran") {
						t.Errorf("%s, %s: %v, the log says %q", name, set, err, text)
					}
					if _, err := os.Stat(report); err == nil {
						t.Errorf("%s, %s: there is a report of nothing", name, set)
					}
				}
			}
		})
	}
}

func TestRealNcuChoosesMetricsForAChip(t *testing.T) {
	// The GPUs of cars and robots share the host's memory: it has no counters of its own.
	shared := []string{"gv11b", "ga10b"}
	const gmma = "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio" // of 9.0 alone
	for _, p := range ncus(t) {
		t.Run(p.version, func(t *testing.T) {
			for capability, wanted := range chips {
				chip, err := p.chip(t.Context(), capability)
				if err != nil {
					t.Fatal(err)
				}
				if chip == "" {
					continue // newer than this ncu
				}
				names, err := p.metrics(t.Context(), chip)
				if err != nil {
					t.Errorf("%s: %v", chip, err)
					continue
				}
				for _, need := range []string{
					"gpu__time_duration.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "launch__registers_per_thread",
					"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
					"sm__warps_active.avg.pct_of_peak_sustained_active",
				} {
					if !slices.Contains(names, need) {
						t.Errorf("%s: %s is not chosen", chip, need)
					}
				}
				for _, m := range cheap {
					absent := strings.Contains(m, "dram_") && slices.Contains(shared, chip)
					if has := slices.Contains(names, m); has == absent && m != gmma {
						t.Errorf("%s: %s is chosen: %v", chip, m, has)
					}
				}
				if capability != "8.9" { // one is enough here: each question takes a while
					continue
				}
				// Any chip of a compute capability stands for all of them.
				for _, other := range wanted {
					if said, err := p.metrics(t.Context(), other); err == nil && !slices.Equal(said, names) {
						t.Errorf("%s has other metrics than %s:\n%s", other, chip, cmp.Diff(names, said))
					}
				}
			}
			if _, err := p.metrics(t.Context(), "xx999"); err == nil {
				t.Error("a chip that does not exist has metrics")
			}
		})
	}
}

func TestRealNcuPrefersTheChipItself(t *testing.T) {
	want := map[string]string{"2022.3": "ad102", "2024.1": "ad104"}
	for _, p := range ncus(t) {
		t.Run(p.version, func(t *testing.T) {
			for release, chip := range want {
				if got, err := p.chip(t.Context(), "8.9"); strings.HasPrefix(p.version, release) && (err != nil || got != chip) {
					t.Errorf("for 8.9: %q, %v, want %q", got, err, chip)
				}
			}
		})
	}
}

func TestRealNcuComplains(t *testing.T) {
	for _, p := range ncus(t) {
		t.Run(p.version, func(t *testing.T) {
			for _, test := range []struct {
				args []string
				why  string
			}{
				{[]string{"./no-such-program"}, "the program does not exist or is not executable"},
				{[]string{"--no-such-option", "true"}, "does not support an option"},
				{[]string{"--clock-control", "fast", "true"}, "does not support the value"},
				{[]string{"--export", "/proc/no/report", "true"}, "cannot be written"},
				{[]string{"--import", "no.ncu-rep"}, "the report does not exist"},
				{[]string{"sh", "-c", "exit 3"}, "failed under the profiler"},
				{[]string{"--query-metrics"}, "no NVIDIA driver"},
			} {
				_, err := p.output(t.Context(), 0, test.args...)
				if test.why == "no NVIDIA driver" && err == nil {
					continue // there is one
				}
				if err == nil || !strings.Contains(err.Error(), test.why) {
					t.Errorf("%q: %v, want %q; it printed\n%s", test.args, err, test.why, outputOf(err))
				}
			}
		})
	}
}
