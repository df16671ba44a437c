package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/sdk"
)

// checkout writes a repository to disk.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func choose(t *testing.T, dir string) Finding {
	t.Helper()
	survey, err := Scan(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	x, err := survey.Choose("", nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// inShell is a Setup that builds with a shell, and the lines it said.
func inShell(dir string) (Setup, *[]string) {
	said := &[]string{}
	return Setup{
		Dir: dir, Name: "s", Hello: harness.Hello{Device: harness.HelloDevice{Kind: gpu.CPU}},
		Build: func(ctx context.Context, b suite.Build) error {
			cmd := exec.CommandContext(ctx, "/bin/sh", "-c", b.Command)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
			return nil
		},
		Say: func(line string) { *said = append(*said, line) },
	}, said
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 here")
	}
}

const harnessPy = `import pawl_harness as pawl

@pawl.benchmark("sort", configs=[dict(N=10), dict(N=20)], flops="N")
def sort(N):
    return lambda: sorted(range(N))

pawl.main()
`

// The harness cannot find its SDK: it is put beside it, and the suite names the cases.
func TestSetupBringsTheSDK(t *testing.T) {
	needPython(t)
	dir := checkout(t, map[string]string{"bench/harness.py": harnessPy, ".gitignore": "results\n*.o"})
	s, said := inShell(dir)
	res, err := s.Run(t.Context(), choose(t, dir))
	if err != nil || res.Problem != nil {
		t.Fatal(err, res.Problem)
	}
	if diff := gocmp.Diff([]string{"pawl.yaml", ".pawl/suite.schema.json", ".gitignore", "bench/pawl_harness.py"}, res.Wrote); diff != "" {
		t.Errorf("wrote (-want +got)\n%s", diff)
	}
	want := `# yaml-language-server: $schema=.pawl/suite.schema.json
# Measures bench/harness.py.
# pawl suite check checks this file; pawl suite schema suite lists all keys.
version: 1
name: s
# definition: [bench/harness.py] # if it contains no kernel: changes are then measured with the base's version
harness:
  command: python3 bench/harness.py
measure:
  timer: cpu # CPU time of one thread: other processes do not count. With threads, use wall
benchmarks:
  sort:
    matrix: {N: [10, 20]}
    flops: N
`
	if diff := gocmp.Diff(want, read(t, dir, "pawl.yaml")); diff != "" {
		t.Errorf("suite (-want +got)\n%s", diff)
	}
	if got := read(t, dir, "bench/pawl_harness.py"); got != string(sdk.Python) {
		t.Error("pawl_harness.py is not the SDK's")
	}
	if got, want := read(t, dir, ".gitignore"), "results\n*.o\n/bench/__pycache__/\n"; got != want {
		t.Errorf(".gitignore is %q, want %q", got, want)
	}
	if got := read(t, dir, SchemaFile); got != string(suite.Schema()) {
		t.Error("the schema is not the suite's")
	}
	if !slices.Contains(*said, "writing bench/pawl_harness.py, which bench/harness.py needs") {
		t.Errorf("said %q", *said)
	}
}

// Where the SDK can be found, however that is, nothing is brought.
func TestSetupLeavesTheSDKWhereItIsFound(t *testing.T) {
	needPython(t)
	dir := checkout(t, map[string]string{
		"harness.py":           "import sys\nsys.path.append('lib/python')\n" + harnessPy,
		"lib/python/readme.py": "",
	})
	if err := os.WriteFile(filepath.Join(dir, "lib/python/pawl_harness.py"), sdk.Python, 0o666); err != nil {
		t.Fatal(err)
	}
	s, _ := inShell(dir)
	res, err := s.Run(t.Context(), choose(t, dir))
	if err != nil || res.Problem != nil || slices.Contains(res.Wrote, "pawl_harness.py") {
		t.Fatal(err, res)
	}
}

// A suite that does not run yet is a beginning: it is written, valid, and it is said
// what is wrong.
func TestSetupWithProblems(t *testing.T) {
	for _, tt := range []struct {
		name    string
		files   map[string]string
		problem string
		wrote   []string
	}{
		{
			"the build fails",
			map[string]string{"harness.c": harnessC, "pawl.h": "", "Makefile": "harness: harness.c\n\techo no luck; false"},
			"no luck",
			[]string{"pawl.yaml", ".pawl/suite.schema.json", ".gitignore"},
		},
		{
			"no compiler: the header is brought, in case it is missing too",
			map[string]string{"harness.c": harnessC, "Makefile": "harness: harness.c\n\tno-such-compiler -o $@ $<"},
			"no-such-compiler",
			[]string{"pawl.yaml", ".pawl/suite.schema.json", ".gitignore", "pawl.h"},
		},
		{
			"another header is missing",
			map[string]string{"harness.c": harnessC, "Makefile": "harness: harness.c\n\t@echo 'harness.c:3: x.h: No such file or directory'; false"},
			"x.h",
			[]string{"pawl.yaml", ".pawl/suite.schema.json", ".gitignore"},
		},
		{
			"the program is no harness",
			map[string]string{"harness.c": harnessC, "pawl.h": "", "Makefile": "harness: harness.c\n\techo 'exit 3' >$@; chmod +x $@"},
			"exit status 3",
			[]string{"pawl.yaml", ".pawl/suite.schema.json", ".gitignore"},
		},
		{
			"the harness lists nothing",
			map[string]string{"harness.py": "import pawl_harness as pawl\npawl.main()\n", "pawl_harness.py": string(sdk.Python)},
			"lists no benchmarks",
			[]string{"pawl.yaml", ".pawl/suite.schema.json", ".gitignore"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			needPython(t)
			if _, err := exec.LookPath("make"); err != nil {
				t.Skip("there is no make here")
			}
			dir := checkout(t, tt.files)
			s, _ := inShell(dir)
			res, err := s.Run(t.Context(), choose(t, dir))
			if err != nil || res.Suite == nil {
				t.Fatal(err)
			}
			if res.Problem == nil || !strings.Contains(res.Problem.Error(), tt.problem) {
				t.Errorf("the problem is %v, want %q in it", res.Problem, tt.problem)
			}
			if diff := gocmp.Diff(tt.wrote, res.Wrote); diff != "" {
				t.Errorf("wrote (-want +got)\n%s", diff)
			}
			if _, err := suite.Load(filepath.Join(dir, SuiteFile)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Nothing is written over but pawl.yaml, and that only when asked to.
func TestSetupWritesOverNothing(t *testing.T) {
	files := map[string]string{"a.cl": "kernel void a() {}", "pawl.h": "mine", ".gitignore": "/results/\n/harness\n"}
	dir := checkout(t, files)
	s, _ := inShell(dir)
	s.Build = func(context.Context, suite.Build) error { return errors.New("not today") }
	x := choose(t, dir)
	if err := os.WriteFile(filepath.Join(dir, SuiteFile), []byte("version: 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := s.Run(t.Context(), x)
	if e, ok := errors.AsType[*ExistsError](err); !ok || e.Path != SuiteFile {
		t.Fatalf("want that pawl.yaml is in the way, got %v", err)
	}
	s.Force = true
	res, err := s.Run(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]string{"harness.c", "pawl.yaml", ".pawl/suite.schema.json"}, res.Wrote); diff != "" {
		t.Errorf("wrote (-want +got)\n%s", diff)
	}
	for name, want := range files {
		if got := read(t, dir, name); got != want {
			t.Errorf("%s is %q now", name, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "harness.c"), []byte("filled in since"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = s.Run(t.Context(), x)
	if e, ok := errors.AsType[*ExistsError](err); !ok || e.Path != "harness.c" {
		t.Errorf("want that harness.c is in the way, got %v", err)
	}
}

func TestSetupStaysInside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := checkout(t, map[string]string{"harness.c": harnessC})
	if err := os.Symlink(outside, filepath.Join(dir, ".gitignore")); err != nil {
		t.Fatal(err)
	}
	s, _ := inShell(dir)
	if _, err := s.Run(t.Context(), choose(t, dir)); err == nil {
		t.Error("a link that leads outside is followed")
	}
	if got := read(t, filepath.Dir(outside), "precious"); got != "precious" {
		t.Errorf("a file outside is %q now", got)
	}
}

// The beginnings that init writes build and run as they are. The CUDA one runs on
// the virtual GPU of the SDK.
func TestSkeletonsRun(t *testing.T) {
	virtual, err := filepath.Abs("../../../sdk/virtualgpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, tool string
		files      map[string]string
	}{
		{"C", "cc", map[string]string{"Makefile": "", "fir.c": "void fir(void) {\n}\n"}},
		{"CUDA", "c++", map[string]string{"a.cu": "__global__ void a() {}"}},
		{"OpenCL", "clinfo", map[string]string{"a.cl": "kernel void a() {}"}},
		{"Triton", "python3", map[string]string{"a.py": "@triton.jit\ndef a(): pass\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath(tt.tool); err != nil {
				t.Skipf("there is no %s here", tt.tool)
			}
			if testing.Short() && tt.name == "CUDA" {
				t.Skip("compiles slowly")
			}
			if out, _ := exec.CommandContext(t.Context(), "clinfo", "-l").Output(); tt.name == "OpenCL" && !strings.Contains(string(out), "Device") {
				t.Skip("there is no OpenCL device here")
			}
			t.Setenv("PATH", virtual+":"+os.Getenv("PATH"))
			dir := checkout(t, tt.files)
			s, _ := inShell(dir)
			res, err := s.Run(t.Context(), choose(t, dir))
			if err != nil || res.Problem != nil {
				t.Fatal(err, res.Problem)
			}
			if len(res.Answer.Listed) != 1 || res.Answer.Listed[0].Name != "placeholder" {
				t.Errorf("the harness lists %+v", res.Answer.Listed)
			}
			if len(res.Suite.Benchmarks) != 1 || res.Suite.Benchmarks[0].Name != suite.Placeholder {
				t.Error("the suite does not name the placeholder: a gate could pass with it")
			}
			if !strings.Contains(read(t, dir, res.Wrote[0]), "TODO") {
				t.Errorf("%s does not say where the kernel goes", res.Wrote[0])
			}
		})
	}
}
