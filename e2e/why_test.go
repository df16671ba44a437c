package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// changes are realistic changes to a kernel, with what pawl must report about them.
var changes = []struct {
	name  string // of the source in testdata/why
	cause string // of internal/explain/diagnose/causes
	words []string
	moves map[string][2]float64 // how many times as much of a quantity there must be, at least and at most
}{
	{"stride", "host-cache", []string{"misses the l1 data cache more often"}, map[string][2]float64{"host_l1_misses": {5, 50}, "host_instructions": {1, 2.5}}},
	{"tile", "host-instructions", []string{"more instructions", "loop overhead"}, map[string][2]float64{"host_instructions": {2, 6}, "host_branches": {3, 15}, "host_l1_misses": {0.5, 2}}},
	{"scalar", "host-vector", []string{"vector instructions are gone or narrower"}, map[string][2]float64{"host_instructions": {6, 30}, "host_l1_misses": {0.5, 2}}},
}

const whySuite = `version: 1
name: why
build: {command: make harness, outputs: [harness]}
harness: {command: ./harness}
measure: {timer: cpu, samples: 15, warmup: 2}
benchmarks:
  matmul: {matrix: {N: [256]}, flops: 2*N*N*N, bytes: 3*4*N*N}
`

// whyProject is a repository with the kernel as it was.
func whyProject(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"gcc", "make", "valgrind", "objdump"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s here", program)
		}
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("what the changes cost is known of x86-64")
	}
	dir := copyExample(t, "matmul-c")
	withSDK(t, dir)
	write(t, filepath.Join(dir, "pawl.yaml"), whySuite)
	write(t, filepath.Join(dir, ".gitignore"), "harness\nresults/\n")
	// Not for this machine alone, and not with AVX-512, which valgrind cannot run.
	write(t, filepath.Join(dir, "Makefile"), "harness:\n\tgcc -O3 -march=x86-64-v3 -I. -o harness harness.c matmul.c\n.PHONY: harness\n")
	change(t, dir, "matmul")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "the kernel as it was")
	return dir
}

// change puts a source of testdata/why in the place of the kernel.
func change(t *testing.T, dir, name string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata/why", name+".c"))
	must(t, err)
	write(t, filepath.Join(dir, "matmul.c"), string(source))
}

// The counts of a deliberate change move as its cause says, and the cause is named first.
// The records of one such run are testdata of internal/explain/diagnose; to count again takes a minute.
func TestTheCauseOfAChangeIsNamed(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("only with PAWL_LAB: TestRunNamesTheCauseOfARegression goes the whole way")
	}
	dir := whyProject(t)
	before := countedIn(t, dir)
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			change(t, dir, c.name)
			after := countedIn(t, dir)
			for quantity, limits := range c.moves {
				if times := after.Facts[quantity] / before.Facts[quantity]; !(times >= limits[0] && times <= limits[1]) {
					t.Errorf("%s is %v, was %v: %.2f times", quantity, after.Facts[quantity], before.Facts[quantity], times)
				}
			}
			d, err := diagnose.Compare(before, after)
			must(t, err)
			if len(d.Causes) == 0 || d.Causes[0].Name != c.cause || len(d.Causes[0].Fixes) == 0 {
				t.Errorf("the first cause is not %s: %+v", c.cause, d.Causes)
			}
			sentence := strings.ToLower(d.Sentence)
			for _, words := range append(c.words, "try first") {
				if !strings.Contains(sentence, words) {
					t.Errorf("it does not say %q: %s", words, d.Sentence)
				}
			}
			t.Log(d.Sentence)
		})
	}
}

// countedIn builds the kernel and looks at it with callgrind, which counts the same on every machine.
func countedIn(t *testing.T, dir string) diagnose.Subject {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "harness")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make: %v\n%s", err, out)
	}
	target := tool.Target{
		Command: harness.Command{Line: "./harness", Dir: dir},
		Hello:   harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.CPU}},
		Prepare: harness.Prepare{Benchmark: "matmul", Implementation: "candidate", Params: map[string]any{"N": 256}, Cache: measure.Hot, Timer: measure.TimerCPU, Seed: 1},
		Warmup:  1, Exact: true, Device: gpu.Identity{Kind: gpu.CPU}, Cache: measure.Hot, Dir: t.TempDir(), Stem: "matmul", Timeout: 10 * time.Minute,
	}
	r, err := tool.Callgrind(t.Context(), target)
	must(t, err)
	l, _ := r.Profile.Main()
	if l.Kernel != "matmul" {
		t.Errorf("the hottest function is %q", l.Kernel)
	}
	r.Profile.Code.Functions, err = codeid.Mixes(t.Context(), []string{filepath.Join(dir, "harness")}, []string{l.Kernel})
	must(t, err)
	r.Profile.Subject = profile.Subject{Case: "matmul/N256/candidate", Nanoseconds: timeOf(t, target)}
	seen, err := diagnose.NewSubject(r.Profile, nil)
	must(t, err)
	return seen
}

// timeOf is the median CPU time of a run, without any tool.
func timeOf(t *testing.T, target tool.Target) float64 {
	t.Helper()
	s, err := harness.Start(t.Context(), target.Command, target.Hello)
	must(t, err)
	defer s.Kill()
	_, err = s.Prepare(t.Context(), target.Prepare)
	must(t, err)
	m, err := s.Measure(t.Context(), "matmul", harness.Measure{Samples: 41})
	must(t, err)
	slices.Sort(m.Samples)
	return m.Samples[len(m.Samples)/2]
}

// The whole loop: the regression is found, profiled, and its cause stands in the report.
func TestRunNamesTheCauseOfARegression(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	dir := whyProject(t)
	for i, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			if i > 0 {
				testrun.NightlyOnly(t)
			}
			change(t, dir, c.name)
			must(t, os.RemoveAll(filepath.Join(dir, "results")))
			pawl(t, dir, "run", "--base", "HEAD").want(t, 1, "regression")
			report, err := os.ReadFile(filepath.Join(dir, "results", "ratchet_report.md"))
			must(t, err)
			for _, words := range c.words {
				if !strings.Contains(strings.ToLower(string(report)), words) {
					t.Errorf("the report does not say %q:\n%s", words, report)
				}
			}
			for _, side := range []string{"", ".base"} {
				records, err := filepath.Glob(filepath.Join(dir, "results", "profiles", "matmul_*"+side+".json"))
				if err != nil || len(records) == 0 {
					t.Errorf("%v: there is no record of the side %q", err, side)
				}
			}
		})
	}
}
