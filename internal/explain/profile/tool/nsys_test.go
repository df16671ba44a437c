package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/measure"
)

// nsys is the real one that is installed here.
func nsys(t *testing.T) string {
	t.Helper()
	at, err := exec.LookPath("nsys")
	if err != nil {
		t.Skip("no nsys on the path")
	}
	return at
}

func TestNsysArgs(t *testing.T) {
	const common = "profile --trace=cuda,nvtx --cuda-graph-trace=node --sample=none --cpuctxsw=none --force-overwrite=true --output=out/case"
	for name, test := range map[string]struct {
		t    Target
		want string
	}{
		"marked":     {Target{Exact: true}, common + " --capture-range=cudaProfilerApi --capture-range-end=stop --kill=none"},
		"by range":   {Target{NVTX: "pawl/"}, common + " --capture-range=nvtx --nvtx-capture=pawl --capture-range-end=none"},
		"everything": {Target{}, common},
	} {
		if diff := cmp.Diff(strings.Fields(test.want), nsysArgs(test.t, "out/case")); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}

func TestFunctionName(t *testing.T) {
	for signature, want := range map[string]string{
		"void gemm<float>(const float *, float *, int)": "gemm",
		"gemm(float*)": "gemm",
		"gemm":         "gemm",
		"void at::native::(anonymous namespace)::copy<int>(int*)": "copy",
		"void ns::k<ns::T<(int)4>, (bool)1>(ns::T<(int)4>)":       "k",
		"_Z4gemmPf": "_Z4gemmPf",
		"":          "",
	} {
		if got := functionName(signature); got != want {
			t.Errorf("%q: %q, want %q", signature, got, want)
		}
	}
}

// database makes a trace as nsys keeps it: four launches of two kernels, 250 us each
// of the first.
func database(t *testing.T) string {
	t.Helper()
	const tables = `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.executescript("""
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
INSERT INTO StringIds VALUES (1,'void gemm<float>(const float *, float *, int)'), (2,'gemm'), (3,'fill(float *)'), (4,'fill');
INSERT INTO TARGET_INFO_GPU VALUES (0,'NVIDIA L4');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1000,251000,0,1,7,11,1,1,2,40,64,64,1,256,1,1,8192,0), (260000,262000,0,1,7,12,1,3,4,16,64,1,1,256,1,1,0,0),
  (300000,550000,0,1,7,13,1,1,2,40,64,64,1,256,1,1,8192,0), (560000,562000,0,1,7,14,1,3,4,16,64,1,1,256,1,1,0,0);
""")
c.commit()
`
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		t.Skip("no python3 to make a database with")
	}
	at := filepath.Join(t.TempDir(), "trace.sqlite")
	if out, err := exec.Command(python, "-c", tables, at).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return at
}

// A trace as the real nsys prints it, against the clock of a harness.
func TestNsys(t *testing.T) {
	t.Setenv("NSYS", nsys(t))
	t.Setenv("TRACE", database(t))
	stub, err := filepath.Abs("testdata/nsys-with-gpu.sh")
	if err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(t.TempDir(), "seen")
	target := onL4(t, "SEEN="+seen)
	target.Kernel = "^gemm$"
	got, err := Nsys(t.Context(), TraceOptions{Program: stub, Runs: 1}, target)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Profile.Launches) != 2 {
		t.Fatalf("%d launches of the kernel, want 2", len(got.Profile.Launches))
	}
	facts := got.Profile.Launches[1].Facts()
	for name, want := range map[string]float64{"time_ns": 250000, "registers": 40, "gap_ns": 38000, "launches": 2} {
		if facts[name] != want {
			t.Errorf("%s is %v, want %v", name, facts[name], want)
		}
	}
	if got.Profile.Tool.Name != "nsys" || got.Profile.Tool.Version == "" {
		t.Errorf("the tool is %+v", got.Profile.Tool)
	}
	if diff := cmp.Diff([]string{filepath.Join(target.Dir, "scan_N1024.nsys-rep")}, got.Files); diff != "" {
		t.Error(diff)
	}
	if line := readHead(seen, 1<<20); !strings.Contains(line, "--capture-range=cudaProfilerApi") {
		t.Errorf("nsys was started with %s", line)
	}
	for own, agree := range map[float64]bool{251e3: true, 25e3: false} {
		c, err := CompareClocks(measure.Samples{own}, got.Profile, 2)
		if err != nil || c.Agree != agree || c.Trace != 250000 {
			t.Errorf("against %v ns: %+v, %v", own, c, err)
		}
	}
	target.Kernel = "^conv"
	if _, err := Nsys(t.Context(), TraceOptions{Program: stub, Runs: 1}, target); err == nil || !strings.Contains(err.Error(), `no kernel in the trace matches "^conv"`) {
		t.Errorf("got %v", err)
	}
	target = onL4(t, "LEAVES_NOTHING=1")
	if _, err := Nsys(t.Context(), TraceOptions{Program: stub, Runs: 1}, target); err == nil || !strings.Contains(err.Error(), "nothing was captured") {
		t.Errorf("got %v", err)
	}
}

// The real nsys and a real harness; a machine without a GPU has no kernel to offer.
func TestRealNsysDrivesAHarness(t *testing.T) {
	if _, err := os.Stat("/proc/driver/nvidia/version"); err == nil {
		t.Skip("there is a GPU here")
	}
	at := nsys(t)
	asked := filepath.Join(t.TempDir(), "asked")
	_, err := Nsys(t.Context(), TraceOptions{Program: at, Runs: 1}, onL4(t, "ASKED="+asked))
	if err == nil || !strings.Contains(err.Error(), "nothing was captured") {
		t.Errorf("a marked run: %v", err)
	}
	if lines := readHead(asked, 1<<20); strings.Count(lines, "\n") != 4 || !strings.Contains(lines, `"op":"bye"`) {
		t.Errorf("the harness was asked\n%s", lines)
	}
	plain := onL4(t)
	plain.Plain, plain.Exact, plain.Command.Line = true, false, "true"
	_, err = Nsys(t.Context(), TraceOptions{Program: at}, plain)
	if err == nil || !strings.Contains(err.Error(), "the trace has no kernel") {
		t.Errorf("everything: %v", err)
	}
}

func TestNsysIsMissing(t *testing.T) {
	_, err := Nsys(t.Context(), TraceOptions{Root: os.DirFS(t.TempDir()), Path: t.TempDir()}, onL4(t))
	if err == nil || !strings.Contains(err.Error(), "nsys is not installed: install Nsight Systems") {
		t.Errorf("got %v", err)
	}
}
