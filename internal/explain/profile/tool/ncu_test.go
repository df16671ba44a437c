package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// onL4 is a target of a harness that marks its run, on a card that need not be there.
func onL4(t *testing.T, env ...string) Target {
	t.Helper()
	script, err := filepath.Abs("testdata/marks.sh")
	if err != nil {
		t.Fatal(err)
	}
	return Target{
		Command: harness.Command{Line: script, Dir: t.TempDir(), Env: append([]string{`FEATURES="profile"`}, env...), Silence: await.Limit},
		Prepare: harness.Prepare{Benchmark: "scan", Implementation: "candidate", Timer: measure.TimerWall},
		Exact:   true, Warmup: 3, Locked: true, Cache: measure.Hot,
		Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", UUID: "GPU-1", ComputeCapability: "8.9", Driver: "550.54"},
		Dir:    t.TempDir(), Stem: "scan_N1024", Timeout: time.Minute,
	}
}

// here is a machine on which every user may read counters.
func here(t *testing.T, program string) NcuOptions {
	t.Helper()
	return NcuOptions{Program: program, Root: fstest.MapFS{}, LockDir: t.TempDir()}
}

// withGPU is an ncu that finds a kernel. It needs a real one to read the report with.
func withGPU(t *testing.T) (stub string) {
	t.Helper()
	installed := ncus(t)
	stub, err := filepath.Abs("testdata/ncu-with-gpu.sh")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NCU", installed[len(installed)-1].path)
	return stub
}

func TestNcu(t *testing.T) {
	all := reports(t)
	stub := withGPU(t)
	asked, seen := filepath.Join(t.TempDir(), "asked"), filepath.Join(t.TempDir(), "seen")
	target := onL4(t, "ASKED="+asked, "SEEN="+seen, "REPORT="+all[0], `SAYS===PROF== Connected\n==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be inconsistent.\n==WARNING== Performance Warning: Backing up device memory in system memory.\n`)
	got, err := Ncu(t.Context(), here(t, stub), target)
	if err != nil {
		t.Fatal(err)
	}
	want := []profile.Setting{{Name: "set", Value: "full"}, {Name: "clock_control", Value: "none"}, {Name: "cache_control", Value: "none"}, {Name: "replay_mode", Value: "kernel"}}
	if diff := cmp.Diff(want, got.Profile.Tool.Settings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ncu: Performance Warning: Backing up device memory in system memory."}, got.Notes); diff != "" {
		t.Error(diff)
	}
	if main, ok := got.Profile.Main(); !ok || main.Facts()["time_ns"] <= 0 {
		t.Errorf("the launch that counts: %v, %v", main.Kernel, ok)
	}
	var left []string
	entries, err := os.ReadDir(target.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, filepath.Join(target.Dir, e.Name()))
	}
	if diff := cmp.Diff([]string{filepath.Join(target.Dir, "scan_N1024.ncu-rep"), filepath.Join(target.Dir, "scan_N1024.txt")}, left); diff != "" {
		t.Errorf("files (-want, +left)\n%s", diff)
	}
	if diff := cmp.Diff(left, got.Files); diff != "" {
		t.Errorf("files (-left, +told)\n%s", diff)
	}
	if text := readHead(left[1], 1<<20); !strings.Contains(text, "Section: ") {
		t.Errorf("the page for people: %.200s", text)
	}
	if line := readHead(seen, 1<<20); !strings.Contains(line, "--set full --profile-from-start off") {
		t.Errorf("ncu was started with %s", line)
	}
	if lines := readHead(asked, 1<<20); !strings.Contains(lines, `"op":"profile","iterations":1,"warmup":3`) || !strings.Contains(lines, `"op":"bye"`) {
		t.Errorf("the harness was asked\n%s", lines)
	}
}

func TestNcuFails(t *testing.T) {
	all := reports(t)
	stub := withGPU(t)
	closed := fstest.MapFS{"proc/driver/nvidia/params": {Data: []byte("RmProfilingAdminOnly: 1\n")}}
	for _, test := range []struct {
		name   string
		env    []string
		change func(*NcuOptions, *Target)
		want   []string
	}{
		{
			"nothing was profiled, and ncu ends with 0",
			[]string{`SAYS===WARNING== No kernels were profiled.\n`},
			nil,
			[]string{"profiling scan (candidate) with ncu: no kernel that matches the selection ran", "profile.kernel"},
		},
		{
			"a report and an error",
			[]string{"REPORT=" + all[0], `SAYS===ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n`},
			nil,
			[]string{"does not let this user read", "sudo"},
		},
		{"a report without a word", nil, nil, []string{"it wrote no report and gave no reason"}},
		{"a report that is none", []string{"REPORT=/etc/passwd"}, nil, []string{"cannot read the report"}},
		{
			"the harness fails, and ncu knows why",
			[]string{"ENDS=1", `SAYS===ERROR== Profiling failed because a driver resource was unavailable.\n`},
			nil,
			[]string{"another program is using the GPU's counters", "dcgmi"},
		},
		{
			"the harness fails, and ncu only sees it",
			[]string{"ENDS=7", `SAYS===ERROR== The application returned an error code (7).\n==WARNING== No kernels were profiled.\n`},
			nil,
			[]string{"exit status 7", "by hand, without the tool"},
		},
		{"the harness fails", []string{"ENDS=7"}, nil, []string{"with ncu: harness \"/", "marks.sh\" crashed", "exit status 7", "by hand, without the tool"}},
		{"the harness marks nothing", []string{"FEATURES="}, nil, []string{"does not mark the runs that count"}},
		{"counters are closed", nil, func(o *NcuOptions, _ *Target) { o.Root = closed }, []string{"RmProfilingAdminOnly", "sudo"}},
		{"no ncu", nil, func(o *NcuOptions, _ *Target) { o.Program, o.Path = "", "/nowhere" }, []string{"ncu is not installed", "pawl doctor --fix"}},
		{"not ncu", nil, func(o *NcuOptions, _ *Target) { o.Program = "/bin/true" }, []string{"is it an NVIDIA tool?"}},
		{"not a GPU", nil, func(_ *NcuOptions, t *Target) { t.Device.Kind = gpu.CPU }, []string{"is not an NVIDIA GPU"}},
		{"no such set", nil, func(o *NcuOptions, _ *Target) { o.Set = "all" }, []string{`unknown metric set "all"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			target, options := onL4(t, test.env...), here(t, stub)
			if test.change != nil {
				test.change(&options, &target)
			}
			_, err := Ncu(t.Context(), options, target)
			for _, part := range test.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %v\nwant %q in it", err, part)
				}
			}
		})
	}
}

// The real ncu and a real harness; a machine without a GPU has no kernel to offer.
func TestRealNcuDrivesAHarness(t *testing.T) {
	if _, err := os.Stat("/proc/driver/nvidia/version"); err == nil {
		t.Skip("there is a GPU here")
	}
	for _, p := range ncus(t) {
		t.Run(p.version, func(t *testing.T) {
			asked := filepath.Join(t.TempDir(), "asked")
			_, err := Ncu(t.Context(), here(t, p.path), onL4(t, "ASKED="+asked))
			if err == nil || !strings.Contains(err.Error(), "no kernel that matches the selection ran") {
				t.Errorf("got %v", err)
			}
			if lines := readHead(asked, 1<<20); strings.Count(lines, "\n") != 4 || !strings.Contains(lines, `"op":"bye"`) {
				t.Errorf("the harness was asked\n%s", lines)
			}
			plain := onL4(t)
			plain.Plain, plain.Exact, plain.Command.Line = true, false, "./no-such-program"
			_, err = Ncu(t.Context(), here(t, p.path), plain)
			if err == nil || !strings.Contains(err.Error(), "./no-such-program") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOneNcuADevice(t *testing.T) {
	all := reports(t)
	stub := withGPU(t)
	o := here(t, stub)
	target := onL4(t, "REPORT="+all[0])
	release, err := holdCounters(t.Context(), o, target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Ncu(t.Context(), o, target); err == nil || !strings.Contains(err.Error(), "the counter set of NVIDIA L4 is in use by") {
		t.Errorf("while another profiles: %v", err)
	}
	release()
	if _, err := Ncu(t.Context(), o, target); err != nil {
		t.Errorf("after it: %v", err)
	}
}
