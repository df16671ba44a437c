package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

const labPairs = 100

// gatePair is one change that does not change the speed, gated by the fleet and by `pawl run` beside it.
type gatePair struct {
	Number int        `json:"number"`
	Here   gateAnswer `json:"here"`
	Fleet  gateAnswer `json:"fleet"`
}

type gateAnswer struct {
	Verdict string  `json:"verdict"`
	Seconds float64 `json:"seconds"` // from the start of the command to its end
	Rounds  int     `json:"rounds"`
	Time    float64 `json:"time"` // of the candidate, in nanoseconds

	Agent     float64 `json:"agent,omitzero"`     // processor time of the agent while its pawl measured, in seconds
	Measuring float64 `json:"measuring,omitzero"` // how long that was
}

// TestLabGates gates changes of a real kernel that do not change its speed, and measures what a gate costs beside a plain run. It
// adds a line for each pair to fleet-gates.jsonl, and continues there when it is started again.
//
//	PAWL_LAB=FOLDER go test ./e2e/fleet -run LabGates -timeout 3h -v
func TestLabGates(t *testing.T) {
	folder := labFolder(t)
	path := filepath.Join(folder, "fleet-gates.jsonl")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer file.Close()
	w := newWorld(t)
	dir, kernel := matmulRepository(t)
	for n := len(testrun.Rows[gatePair](t, path)); n < labPairs; n++ {
		must(t, os.WriteFile(filepath.Join(dir, "matmul.c"), fmt.Appendf(nil, "%s\nconst int matmul_revision = %d;\n", kernel, n), 0o600))
		testrun.Git(t, dir, "commit", "-q", "-a", "-m", fmt.Sprint("revision ", n))
		p := gatePair{Number: n}
		sides := []func(){func() { p.Here = w.answer(t, dir) }, func() { p.Fleet = w.answer(t, dir, "--on", "cpu") }}
		sides[n%2]()
		sides[1-n%2]()
		must(t, json.NewEncoder(file).Encode(p))
		t.Logf("%+v", p)
	}
	text := gatesTable(testrun.Rows[gatePair](t, path))
	t.Log("\n" + text)
	must(t, os.WriteFile(filepath.Join(folder, "fleet-gates.md"), []byte(text), 0o600))
}

// matmulRepository is the example in C, and its kernel.
func matmulRepository(t *testing.T) (dir string, kernel []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "matmul-c")
	must(t, os.CopyFS(dir, os.DirFS("../../examples/matmul-c")))
	sdk, err := os.ReadFile("../../sdk/cpp/pawl.h")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "pawl.h"), sdk, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("harness\nresults/\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "pawl.yaml"), []byte(`version: 1
name: matmul
build: {command: make harness BLOCK_M=16, outputs: [harness]}
harness: {command: ./harness}
measure: {timer: cpu, samples: 60, warmup: 5}
benchmarks:
  matmul: {matrix: {N: [272]}, flops: 2*N*N*N, bytes: 3*4*N*N}
`), 0o600))
	kernel, err = os.ReadFile(filepath.Join(dir, "matmul.c"))
	must(t, err)
	testrun.Git(t, dir, "init", "-q")
	testrun.Git(t, dir, "add", ".")
	testrun.Git(t, dir, "commit", "-q", "-m", "matmul")
	return dir, kernel
}

// answer gates the last commit.
func (w *world) answer(t *testing.T, dir string, args ...string) gateAnswer {
	t.Helper()
	out := filepath.Join(dir, "results")
	must(t, os.RemoveAll(out))
	watched := w.watchAgent()
	start := time.Now()
	stdout, stderr, err := w.run(t, dir, "pawl", append([]string{"run", "--base", "HEAD~1", "--out", out}, args...)...)
	took := time.Since(start).Seconds()
	agent, measuring := watched()
	if code := exitCode(t, err); code > 2 {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	run, err := measure.Load(filepath.Join(out, "current.json"))
	must(t, err)
	a := gateAnswer{Verdict: verdictOf(t, out), Seconds: took, Rounds: len(run.Rounds), Agent: agent, Measuring: measuring}
	for _, s := range summary.Of(run)[0].Sides {
		if s.Implementation == "candidate" {
			a.Time = s.P50
		}
	}
	return a
}

// watchAgent adds up the processor time of the agent while its pawl measures, and how long that is.
func (w *world) watchAgent() (stop func() (used, measuring float64)) {
	pid := w.started["pawl-agent"].Process.Pid
	end, ended := make(chan struct{}), make(chan struct{})
	var used, measuring float64
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		var at time.Time // of the last look, if pawl measured then
		var before float64
		for {
			now, use := time.Now(), threadTime(pid)
			if !measures(pid) {
				at = time.Time{}
			} else {
				if !at.IsZero() {
					used, measuring = used+use-before, measuring+now.Sub(at).Seconds()
				}
				at, before = now, use
			}
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	}()
	return func() (float64, float64) {
		close(end)
		<-ended
		return used, measuring
	}
}

// threadTime returns the processor time of the threads of a process, in seconds.
func threadTime(pid int) (seconds float64) {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		nanoseconds, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseFloat(nanoseconds, 64)
		seconds += n / 1e9
	}
	return seconds
}

// measures reports whether a pawl that the agent started measures.
func measures(agent int) bool {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", agent))
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		for child := range strings.FieldsSeq(string(text)) {
			line, _ := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
			if args := strings.Split(string(line), "\x00"); len(args) > 1 && args[1] == "run" && !slices.Contains(args, "--build-only") {
				return true
			}
		}
	}
	return false
}

// gatesTable compares gates with runs. Durations are compared where both took as many rounds.
func gatesTable(list []gatePair) string {
	count := map[string]map[string]int{"here": {}, "fleet": {}}
	var longer, ratios []float64
	var used, measuring float64
	for _, p := range list {
		count["here"][p.Here.Verdict]++
		count["fleet"][p.Fleet.Verdict]++
		if p.Here.Rounds == p.Fleet.Rounds {
			longer = append(longer, p.Fleet.Seconds-p.Here.Seconds)
		}
		ratios = append(ratios, p.Fleet.Time/p.Here.Time)
		used, measuring = used+p.Fleet.Agent, measuring+p.Fleet.Measuring
	}
	var b strings.Builder
	b.WriteString("| | maintained | no answer | regression | improvement |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, where := range []string{"fleet", "here"} {
		c := count[where]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", map[string]string{"fleet": "`pawl run --on cpu`", "here": "`pawl run`"}[where], c["maintained"], c["inconclusive"], c["regression"], c["improvement"])
	}
	more, ratio := stats.MedianInterval(longer, 0.95, 0), stats.MedianInterval(ratios, 0.95, 0)
	fmt.Fprintf(&b, "\nA gate took %.1f s longer (median of the %d pairs with as many rounds, 95 %% interval %.1f to %.1f s; 95 %% of them within %.1f to %.1f s).\n",
		quantile(longer, 0.5), len(longer), more.Low, more.High, quantile(longer, 0.025), quantile(longer, 0.975))
	fmt.Fprintf(&b, "Time of the kernel in a gate over that in a run: %.4f (median of %d pairs, 95 %% interval %.4f to %.4f; 95 %% of them within %.3f to %.3f).\n",
		quantile(ratios, 0.5), len(ratios), ratio.Low, ratio.High, quantile(ratios, 0.025), quantile(ratios, 0.975))
	fmt.Fprintf(&b, "While pawl measured, the agent used %.3f %% of a core (%.2f s in %.0f s).\n", 100*used/measuring, used, measuring)
	return b.String()
}
