package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// tool is a benchmark tool, used as its documentation shows: first the base, then the candidate.
type tool struct {
	name    string
	rules   []string                                                       // how its results become an answer
	target  string                                                         // what make builds for it, on each side
	missing func(t *testing.T, l *lab) string                              // why it cannot be used here; empty if it can
	compare func(t *testing.T, l *lab, candidate string) map[string]answer // candidate is the folder of a side
}

// The rules, as the page names them. 3 % is halfway between no change and the planted one, which favors a threshold.
const (
	hyperfineSpread = "mean ± σ do not overlap"
	hyperfineMean   = "means differ by 3 %"
	googleCPU       = "`compare.py`: U test of CPU time, p < 0.05"
	googleTime      = "`compare.py`: U test of wall time, p < 0.05"
	benchstatRule   = "U test, p < 0.05"
	pytestMin       = "`--benchmark-compare-fail=min:3%`"
	pytestMean      = "`--benchmark-compare-fail=mean:3%`"
	pawlRule        = "its verdict"
)

const threshold = 0.03

var tools = []tool{
	{"pawl", []string{pawlRule}, "", nil, comparePawl},
	{"hyperfine", []string{hyperfineSpread, hyperfineMean}, "program", inPath("hyperfine"), compareHyperfine},
	{"Google Benchmark", []string{googleCPU, googleTime}, "google", missingGoogle, compareGoogle},
	{"benchstat", []string{benchstatRule}, "gobench", nil, compareBenchstat},
	{"pytest-benchmark", []string{pytestMin, pytestMean}, "libkernel.so", missingPytest, comparePytest},
}

func inPath(program string) func(*testing.T, *lab) string {
	return func(t *testing.T, l *lab) string {
		t.Helper()
		if _, err := l.output(t, program, "--version"); err != nil {
			return program + " is not in PATH"
		}
		return ""
	}
}

// direction returns the answer of a rule that found a difference or not.
func direction(found bool, base, candidate float64) answer {
	switch {
	case !found:
		return same
	case candidate > base:
		return slower
	default:
		return faster
	}
}

func beyond(base, candidate float64) answer {
	change := candidate/base - 1
	return direction(change > threshold || change < -threshold, base, candidate)
}

func (l *lab) readJSON(t *testing.T, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
}

// pawl runs as in CI, without the parts that the others do not have: checks of results and profiles.
func comparePawl(t *testing.T, l *lab, candidate string) map[string]answer {
	t.Helper()
	base := "HEAD"
	if candidate == slowSide {
		base = "HEAD~1"
	}
	l.run(t, l.pawl, "-C", "repository", "run", "--base", base, "--force-measure", "--fuzz", "0", "--profile", "0")
	var got ratchet.Result
	l.readJSON(t, "repository/results/verdict.json", &got)
	a := same
	switch {
	case got.Severity() == ratchet.SeverityFail: // broken would be a false alarm, too
		a = slower
	case got.Verdict == ratchet.Improvement:
		a = faster
	case got.Severity() == ratchet.SeverityNoAnswer:
		a = unsure
	}
	return map[string]answer{pawlRule: a}
}

func compareHyperfine(t *testing.T, l *lab, candidate string) map[string]answer {
	t.Helper()
	// 25 runs of 100 kernels, about 2.5 s a side.
	l.run(t, "hyperfine", "-N", "--style", "none", "--warmup", "1", "--runs", "25", "--export-json", "hyperfine.json", baseSide+"/program", candidate+"/program")
	var got struct {
		Results []struct{ Mean, Stddev float64 }
	}
	l.readJSON(t, "hyperfine.json", &got)
	if len(got.Results) != 2 {
		t.Fatalf("hyperfine has %d results", len(got.Results))
	}
	b, c := got.Results[0], got.Results[1]
	apart := c.Mean-c.Stddev > b.Mean+b.Stddev || c.Mean+c.Stddev < b.Mean-b.Stddev
	return map[string]answer{hyperfineSpread: direction(apart, b.Mean, c.Mean), hyperfineMean: beyond(b.Mean, c.Mean)}
}

// comparePy is where Debian's libbenchmark-tools puts it.
const comparePy = "/usr/share/benchmark/compare.py"

func missingGoogle(t *testing.T, l *lab) string {
	t.Helper()
	if _, err := l.output(t, "python3", comparePy, "--help"); err != nil {
		return "compare.py does not run: install libbenchmark-dev, libbenchmark-tools and python3-scipy"
	}
	return ""
}

func compareGoogle(t *testing.T, l *lab, candidate string) map[string]answer {
	t.Helper()
	l.run(t, "python3", comparePy, "-d", "google.json", "benchmarks", baseSide+"/google", candidate+"/google", "--benchmark_repetitions=10", "--benchmark_min_time=0.25")
	var got []struct {
		RunType      string `json:"run_type"`
		Measurements []struct {
			Real      float64 `json:"real_time"`
			RealOther float64 `json:"real_time_other"`
			CPU       float64 `json:"cpu_time"`
			CPUOther  float64 `json:"cpu_time_other"`
		}
		UTest struct {
			CPU  float64 `json:"cpu_pvalue"`
			Real float64 `json:"time_pvalue"`
		} `json:"utest"`
	}
	l.readJSON(t, "google.json", &got)
	if len(got) == 0 || got[0].RunType != "iteration" || len(got[0].Measurements) != 10 {
		t.Fatalf("compare.py has %+v", got)
	}
	var cpu, wall [2][]float64
	for _, m := range got[0].Measurements {
		cpu[0], cpu[1] = append(cpu[0], m.CPU), append(cpu[1], m.CPUOther)
		wall[0], wall[1] = append(wall[0], m.Real), append(wall[1], m.RealOther)
	}
	return map[string]answer{
		googleCPU:  direction(got[0].UTest.CPU < 0.05, stats.Median(cpu[0]), stats.Median(cpu[1])),
		googleTime: direction(got[0].UTest.Real < 0.05, stats.Median(wall[0]), stats.Median(wall[1])),
	}
}

func compareBenchstat(t *testing.T, l *lab, candidate string) map[string]answer {
	t.Helper()
	for i, side := range []string{baseSide, candidate} {
		text := l.run(t, side+"/gobench", "-test.run", "^$", "-test.bench", ".", "-test.count", "10", "-test.benchtime", "0.25s")
		if err := os.WriteFile(filepath.Join(l.dir, []string{"old.txt", "new.txt"}[i]), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := benchstatAnswer(l.run(t, l.benchstat, "-format", "csv", "old.txt", "new.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]answer{benchstatRule: a}
}

// benchstatAnswer reads benchstat's table. Its column "vs base" has ~ where the test finds no difference.
func benchstatAnswer(text string) (answer, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return "", err
	}
	for _, row := range rows {
		if len(row) < 7 || !strings.HasPrefix(row[0], "Kernel") {
			continue
		}
		switch row[5][0] {
		case '~':
			return same, nil
		case '+':
			return slower, nil
		case '-':
			return faster, nil
		}
	}
	return "", fmt.Errorf("benchstat has no row for the kernel:\n%s", text)
}

func TestBenchstatAnswer_IsTheColumnVsBase(t *testing.T) {
	for column, want := range map[string]answer{"~": same, "+5.90%": slower, "-4.12%": faster} {
		text := "goos: linux\n,old.txt,,new.txt,,,\n,sec/op,CI,sec/op,CI,vs base,P\nKernel-2,0.001,1%,0.00105,1%," + column + ",p=0.002 n=10\ngeomean,0.001,,0.00105,,+5.00%,\n"
		if got, err := benchstatAnswer(text); got != want {
			t.Errorf("%s: %s %v, want %s", column, got, err, want)
		}
	}
	if _, err := benchstatAnswer("goos: linux\n"); err == nil {
		t.Error("output without a table gives an answer")
	}
}

func missingPytest(t *testing.T, l *lab) string {
	t.Helper()
	if _, err := l.output(t, "python3", "-c", "import pytest_benchmark"); err != nil {
		return "python3 has no pytest-benchmark"
	}
	return ""
}

func comparePytest(t *testing.T, l *lab, candidate string) map[string]answer {
	t.Helper()
	type result struct {
		Benchmarks []struct {
			Stats struct{ Min, Mean float64 }
		}
	}
	var got [2]result
	for i, side := range []string{baseSide, candidate} {
		l.run(t, "python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--benchmark-max-time=2.5", "--benchmark-json=pytest.json", side+"/test_kernel.py")
		l.readJSON(t, "pytest.json", &got[i])
		if len(got[i].Benchmarks) != 1 {
			t.Fatalf("pytest-benchmark has %+v", got[i])
		}
	}
	b, c := got[0].Benchmarks[0].Stats, got[1].Benchmarks[0].Stats
	return map[string]answer{pytestMin: beyond(b.Min, c.Min), pytestMean: beyond(b.Mean, c.Mean)}
}
