package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// python is the interpreter that Debian installs its modules for.
const python = "/usr/bin/python3"

// labCommands are benchmarks as people have them. Each takes about a second.
var labCommands = []struct {
	name, folder, kernel string
	needs                []string // a command that fails where the tool is not installed
	build, format        string
	line                 []string
}{
	{"torch.utils.benchmark", "python", "kernel.py", []string{python, "-c", "import torch.utils.benchmark"}, "", "python", []string{python, "torch_timer.py"}},
	{"timeit", "python", "kernel.py", []string{python, "--version"}, "", "python", []string{python, "timeit_repeat.py"}},
	{"pytest-benchmark", "python", "kernel.py", []string{python, "-c", "import pytest_benchmark.plugin"}, "", "python", []string{python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_work.py"}},
	{"triton.testing, a stand-in", "python", "kernel.py", []string{python, "--version"}, "", "python", []string{python, "triton_bench.py"}},
	{"Google Benchmark", "c", "kernel.h", []string{"sh", "-c", "echo '#include <benchmark/benchmark.h>' | c++ -E -x c++ -"}, "c++ -O1 -o google google.cc -lbenchmark -lpthread", "google-benchmark", []string{"./google", "--benchmark_format=json", "--benchmark_repetitions=10", "--benchmark_min_time=0.05"}},
	{"hyperfine", "c", "kernel.h", []string{"hyperfine", "--version"}, "cc -O1 -o main main.c", "hyperfine", []string{"hyperfine", "-N", "-w", "1", "-r", "20", "--export-json", "out.json", "./main"}},
	{"Criterion's files, a stand-in", "c", "kernel.h", []string{"awk", "BEGIN {}"}, "cc -O1 -o prints prints.c", "criterion", []string{"./cargo", "bench"}},
	{"a C program that prints times", "c", "kernel.h", []string{"cc", "--version"}, "cc -O1 -o prints prints.c", "lines", []string{"./prints"}},
	{"a Go benchmark", "go", "kernel.go", []string{"go", "version"}, "go test -c -o work.test .", "go", []string{"./work.test", "-test.run", "^$", "-test.bench", ".", "-test.count", "10", "-test.benchtime", "50ms"}},
}

// paced takes ten samples with pytest-benchmark, which take 2 ms each by the recorder's clock.
const paced = `import itertools, time
from types import SimpleNamespace
from pytest_benchmark.fixture import BenchmarkFixture

tick = itertools.count()
time.perf_counter = lambda: next(tick) / 512

def work():
    end = time.thread_time() + 0.004
    while time.thread_time() < end:
        pass

BenchmarkFixture(SimpleNamespace(name="work", nodeid="bench.py::work")).pedantic(work, rounds=10)
`

// Programs that measure with pytest-benchmark take turns from the second round on, and the record has the samples of a turn.
func TestCommands_PytestBenchmarkTakesTurns(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 here")
	}
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "pytest_benchmark"), os.DirFS("../sdk/python/testdata/standins/pytest_benchmark")))
	write(t, filepath.Join(dir, "bench.py"), paced)
	write(t, filepath.Join(dir, ".gitignore"), "results/\n__pycache__/\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "one")
	pawl(t, dir, "run", "--base", "HEAD", "--force-measure", "--", "python3", "bench.py").want(t, 0)
	for _, c := range load(t, filepath.Join(dir, "results", "current.json")).Cases {
		for _, r := range c.Rounds {
			want := 4
			if r.Round == 0 || runtime.NumCPU() < 2 {
				want = 0
			}
			if len(r.Samples) != 10 || r.SamplesPerTurn != want {
				t.Errorf("%s, round %d: %d samples, %d a turn, want 10 and %d", c.Name(), r.Round, len(r.Samples), r.SamplesPerTurn, want)
			}
		}
	}
}

// labVerdict is the answer to one try.
type labVerdict struct {
	Command string  `json:"command"`
	Change  string  `json:"change"` // "10 % more work" or "same code"
	Try     int     `json:"try"`
	Verdict string  `json:"verdict"`
	Seconds float64 `json:"seconds"`
	// Of the first case: rounds a side, the change, and the spread of the rounds.
	Rounds  int     `json:"rounds"`
	Percent float64 `json:"percent"`
	Spread  float64 `json:"spread"`
}

// The two changes of the lab, as what replaces "100" and "same" in the kernel.
var labChanges = []struct{ name, work, comment string }{{"10 % more work", "110", "more"}, {"same code", "100", "other"}}

// TestCommands_Lab puts pawl run -- before benchmarks that people have, unchanged: ten tries with a kernel that does 10 %
// more work, and ten with the same code. Only with PAWL_LAB, which names a folder:
//
//	PAWL_LAB=FOLDER go test ./e2e -run TestCommands_Lab -count=1 -timeout 6h -v
//
// PAWL_LAB_TRIES=1 makes one try each. Answers are added to commands.jsonl there and those there are kept, so that it can
// be stopped and goes on. A tool that is not installed is left out, and named.
func TestCommands_Lab(t *testing.T) {
	out := os.Getenv("PAWL_LAB")
	if out == "" {
		t.Skip("only with PAWL_LAB=FOLDER")
	}
	tries, err := strconv.Atoi(os.Getenv("PAWL_LAB_TRIES"))
	if err != nil {
		tries = 10
	}
	must(t, os.MkdirAll(out, 0o755))
	path := filepath.Join(out, "commands.jsonl")
	done := testrun.Rows[labVerdict](t, path)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	defer file.Close()
	files, err := txtar.ParseFile(filepath.Join("testdata", "commands.txtar"))
	must(t, err)
	var folders []string // one repository per command; empty where its tool is not installed
	for _, c := range labCommands {
		if msg, err := exec.CommandContext(t.Context(), c.needs[0], c.needs[1:]...).CombinedOutput(); err != nil {
			t.Logf("left out: %s is not installed: %v %.200s", c.name, err, msg)
			folders = append(folders, "")
			continue
		}
		folders = append(folders, labRepository(t, files, c.folder))
	}
	for try := range tries { // all commands get the same number of tries, wherever it is stopped
		for i, c := range labCommands {
			for _, change := range labChanges {
				if folders[i] == "" || count(done, c.name, change.name) > try {
					continue
				}
				git(t, folders[i], "checkout", "-q", ".")
				kernel := filepath.Join(folders[i], c.kernel)
				text, err := os.ReadFile(kernel)
				must(t, err)
				write(t, kernel, strings.NewReplacer("100", change.work, "same", change.comment).Replace(string(text)))
				v := labVerdict{Command: c.name, Change: change.name, Try: try + 1}
				v.ask(t, folders[i], c.build, c.format, c.line)
				must(t, json.NewEncoder(file).Encode(v))
				done = append(done, v)
				t.Logf("%+v", v)
			}
		}
	}
	write(t, filepath.Join(out, "commands.md"), labTable(done))
}

// ask measures one change.
func (v *labVerdict) ask(t *testing.T, dir, build, format string, line []string) {
	t.Helper()
	args := []string{"run", "--base", "HEAD", "--budget", "2m"} // enough to find 10 %, and all tries end within six hours
	if build != "" {
		args = append(args, "--build", build)
	}
	r := pawl(t, dir, append(append(args, "--"), line...)...)
	if !strings.Contains(r.stderr, "format "+format+": ") {
		t.Fatalf("%s is not read as %s: exit code %d\n%s%s", v.Command, format, r.code, r.stdout, r.stderr)
	}
	var got ratchet.Result
	text, err := os.ReadFile(filepath.Join(dir, "results", "verdict.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &got))
	v.Verdict, v.Seconds = string(got.Verdict), r.took.Seconds()
	if f := got.Cases[0].Facts; f != nil {
		v.Rounds, v.Percent, v.Spread = f.Rounds, 100*f.Change, 100*f.Spread
	}
}

// labRepository makes a repository with the files of a folder, and the stand-in of Triton beside Python's.
func labRepository(t *testing.T, files *txtar.Archive, folder string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files.Files {
		if name, ok := strings.CutPrefix(f.Name, folder+"/"); ok {
			must(t, os.WriteFile(filepath.Join(dir, name), f.Data, 0o755)) // one is a program
		}
	}
	if folder == "python" {
		must(t, os.CopyFS(filepath.Join(dir, "triton"), os.DirFS("../sdk/python/testdata/standins/triton")))
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "one")
	return dir
}

func count(done []labVerdict, command, change string) int {
	n := 0
	for _, v := range done {
		if v.Command == command && v.Change == change {
			n++
		}
	}
	return n
}

// labTable counts the answers.
func labTable(done []labVerdict) string {
	var b strings.Builder
	b.WriteString("| command | change | regression | no answer | other | measured change | spread of rounds | rounds | seconds each |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, c := range labCommands {
		for _, change := range labChanges {
			answers := map[string]int{}
			var seconds, rounds, percent, spread []float64
			for _, v := range done {
				if v.Command == c.name && v.Change == change.name {
					answers[v.Verdict]++
					seconds, rounds = append(seconds, v.Seconds), append(rounds, float64(v.Rounds))
					percent, spread = append(percent, v.Percent), append(spread, v.Spread)
				}
			}
			if n := len(seconds); n > 0 {
				fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %+.1f to %+.1f %% | %.1f %% | %.0f | %.0f |\n", c.name, change.name, answers["regression"], answers["inconclusive"],
					n-answers["regression"]-answers["inconclusive"], slices.Min(percent), slices.Max(percent), stats.Median(spread), stats.Mean(rounds), stats.Mean(seconds))
			}
		}
	}
	return b.String()
}
