package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/measure"
)

// onMI300X is a target on an AMD card, and a stand-in for its profiler.
func onMI300X(t *testing.T, env ...string) (Target, TraceOptions) {
	t.Helper()
	stub, err := filepath.Abs("testdata/rocprofv3-with-gpu.sh")
	if err != nil {
		t.Fatal(err)
	}
	target := onL4(t, append(env, "FILES="+filepath.Join(filepath.Dir(stub), "rocprof"))...)
	target.Device = gpu.Identity{Kind: gpu.AMD, Name: "AMD Instinct MI300X", UUID: "GPU-1", ComputeCapability: "gfx942"}
	target.Kernel = "^gemm$"
	return target, TraceOptions{Program: stub, Runs: 1}
}

// The times are those of a trace of their own, without warm-up; the counters come from further runs.
func TestRocprof(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	target, o := onMI300X(t, "SEEN="+seen)
	got, err := Rocprof(t.Context(), o, target)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Notes) != 0 || len(got.Profile.Launches) != 1 || got.Profile.Tool.Version != "1.1.0" {
		t.Fatalf("notes %q, %d launches, %+v", got.Notes, len(got.Profile.Launches), got.Profile.Tool)
	}
	facts := got.Profile.Launches[0].Facts()
	for name, want := range map[string]float64{
		"time_ns": 250000, "registers": 128, "occupancy_pct": 31.5, "sm_pct": 22, "lanes_pct": 98, "lds_conflict_pct": 27.5, "l2_hit_pct": 41,
		"dram_read_bytes": 819200 << 10, "dram_write_bytes": 204800 << 10, "grid_size": 16384,
	} {
		if facts[name] != want {
			t.Errorf("%s is %v, want %v", name, facts[name], want)
		}
	}
	for own, agree := range map[float64]bool{251e3: true, 25e3: false} {
		c, err := CompareClocks(measure.Samples{own}, got.Profile, o.Runs)
		if err != nil || c.Agree != agree || c.Trace != 250000 {
			t.Errorf("against %v ns: %+v, %v", own, c, err)
		}
	}
	lines := strings.Split(strings.TrimSpace(readHead(seen, 1<<20)), "\n")
	if len(lines) != 1+len(rocprofCounters) || !strings.HasPrefix(lines[0], "--kernel-trace --output-format csv --output-directory ") ||
		!strings.HasPrefix(lines[1], "--pmc OccupancyPercent VALUBusy SALUBusy VALUUtilization --output-format csv ") {
		t.Errorf("rocprofv3 was started with %q", lines)
	}
	left, err := filepath.Glob(filepath.Join(target.Dir, "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left %q, %v", left, err)
	}

	// The card fills in what the profiler does not report.
	got.Profile.Subject.Device = target.Device
	s, err := diagnose.NewSubject(got.Profile, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := s.All()
	for name, want := range map[string]float64{
		"sms": 304, "occupancy_max_pct": 50, "limit_registers": 4, "limit_shared": 4, "limit_warps": 8, "blocks_per_sm": 4, "dram_pct": 78.77, "memory_pct": 78.77, "waves": 13.47,
	} {
		if diff := all[name] - want; diff > 0.01 || diff < -0.01 {
			t.Errorf("%s is %v, want %v", name, all[name], want)
		}
	}
	d := diagnose.Rules().Diagnose(s)
	var found []string
	for _, f := range d.Findings {
		found = append(found, f.Rule)
	}
	if !strings.Contains(strings.Join(found, " "), "bank-conflicts") {
		t.Errorf("found %q", found)
	}
	t.Log(d.Sentence)
}

// Counters that are not there are left out, and nothing else is lost.
func TestRocprof_WithoutACounter(t *testing.T) {
	target, o := onMI300X(t, "REFUSED=FETCH_SIZE")
	got, err := Rocprof(t.Context(), o, target)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "did not count FETCH_SIZE") || !strings.Contains(got.Notes[0], "counter FETCH_SIZE not found") {
		t.Errorf("notes %q", got.Notes)
	}
	facts := got.Profile.Launches[0].Facts()
	if _, there := facts["dram_read_bytes"]; there || facts["l2_hit_pct"] != 41 {
		t.Errorf("facts %v", facts)
	}
}

func TestRocprof_Troubles(t *testing.T) {
	target, o := onMI300X(t)
	target.Kernel = "^conv"
	if _, err := Rocprof(t.Context(), o, target); err == nil || !strings.Contains(err.Error(), `no kernel in the profile matches "^conv"`) {
		t.Errorf("another kernel: %v", err)
	}
	target, o = onMI300X(t, "REFUSED=trace")
	if _, err := Rocprof(t.Context(), o, target); err == nil || !strings.Contains(err.Error(), "nothing was captured") {
		t.Errorf("nothing written: %v", err)
	}
	target, o = onMI300X(t, "ENDS=3")
	if _, err := Rocprof(t.Context(), o, target); err == nil || !strings.Contains(err.Error(), "run it by hand") {
		t.Errorf("a harness that fails: %v", err)
	}
	none := TraceOptions{Root: os.DirFS(t.TempDir()), Path: t.TempDir()}
	if _, err := Rocprof(t.Context(), none, target); err == nil || !strings.Contains(err.Error(), "rocprofv3 is not installed: install rocprofiler-sdk") {
		t.Errorf("no rocprofv3: %v", err)
	}
}
