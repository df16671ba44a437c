package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/lab"
	"github.com/goatnote-inc/pawl/ratchet"
)

// liveSuite has a kernel of about 1.5 ms and 17 rows of blocks, of which the slowed
// commit computes one twice.
const liveSuite = `version: 1
name: matmul
build: {command: make harness BLOCK_M=16, outputs: [harness]}
harness: {command: ./harness}
measure: {timer: cpu, samples: 200, warmup: 10}
benchmarks:
  matmul: {matrix: {N: [272]}, flops: 2*N*N*N, bytes: 3*4*N*N}
`

// liveGate is one pawl run, as a line of the file that PAWL_LAB names.
type liveGate struct {
	Slowed  bool            `json:"slowed"`
	Seed    int             `json:"seed"`
	Verdict ratchet.Verdict `json:"verdict"`
	Rounds  int             `json:"rounds"`
	Change  float64         `json:"change"`
	Spread  float64         `json:"spread"`
	Seconds float64         `json:"seconds"`
	Load    float64         `json:"load"` // of the machine, when it ended
}

// TestLiveGates is the lab's proof on a real machine: 200 gates of the same code and
// 100 of a slowdown of 5.9 %, in turn, each a whole pawl run with its judge. Only with
// PAWL_LAB, which names a folder: gates are added to a file there, and what is there is
// kept, so that it can be stopped and goes on. PAWL_LAB_STREAM=2 is a second process beside
// the first, with a file and seeds of its own; all files of the folder count.
func TestLiveGates(t *testing.T) {
	out := os.Getenv("PAWL_LAB")
	if out == "" {
		t.Skip("only with PAWL_LAB=FOLDER")
	}
	stream := 1
	if text := os.Getenv("PAWL_LAB_STREAM"); text != "" {
		var err error
		stream, err = strconv.Atoi(text)
		must(t, err)
	}
	must(t, os.MkdirAll(out, 0o755))
	path := filepath.Join(out, fmt.Sprintf("gates-%d.jsonl", stream))
	dir := slowRepository(t, slowed)
	write(t, filepath.Join(dir, "pawl.yaml"), liveSuite)
	git(t, dir, "commit", "-q", "-a", "-m", "a smaller kernel")
	seed := 10_000*(stream-1) + len(readGates(t, path))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	defer file.Close()
	for len(allGates(t, out)) < 300 {
		seed++
		g := gateOnce(t, dir, seed)
		must(t, json.NewEncoder(file).Encode(g))
		t.Logf("gate %d, slowed %v: %s after %d rounds, %+.2f %%, %.0f s", seed, g.Slowed, g.Verdict, g.Rounds, 100*g.Change, g.Seconds)
	}
	done := allGates(t, out)
	must(t, os.WriteFile(filepath.Join(out, "live.md"), []byte(liveTable(done)), 0o644))
	if n := countGates(done, false, ratchet.Regression); n > 1 {
		t.Errorf("%d gates of the same code found a regression, at most 1 may", n)
	}
	if found, of := countGates(done, true, ratchet.Regression), countGates(done, true, ""); 100*found < 95*of {
		t.Errorf("%d of %d gates found the slowdown, at least 95 %% must", found, of)
	}
}

func allGates(t *testing.T, folder string) []liveGate {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "gates-*.jsonl"))
	must(t, err)
	var list []liveGate
	for _, path := range paths {
		list = append(list, readGates(t, path)...)
	}
	return list
}

func readGates(t *testing.T, path string) []liveGate {
	t.Helper()
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	must(t, err)
	defer file.Close()
	var list []liveGate
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var g liveGate
		must(t, json.Unmarshal(lines.Bytes(), &g))
		list = append(list, g)
	}
	return list
}

// gateOnce judges the slowed commit in every third gate, and in the others the same
// code against itself. The base of the slowed one differs from it in the kernel only.
func gateOnce(t *testing.T, dir string, seed int) liveGate {
	t.Helper()
	g := liveGate{Slowed: seed%3 == 0, Seed: seed}
	base := "HEAD"
	if g.Slowed {
		base = "HEAD~2"
	}
	began := time.Now()
	r := pawl(t, dir, "run", "-f", "pawl.yaml", "--base", base, "--force-measure", "--seed", strconv.Itoa(seed))
	g.Seconds = time.Since(began).Seconds()
	if r.code > 2 {
		t.Fatalf("gate %d: exit code %d\n%s", seed, r.code, r.stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "results/verdict.json"))
	must(t, err)
	var verdict ratchet.Result
	must(t, json.Unmarshal(text, &verdict))
	if len(verdict.Cases) != 1 || verdict.Cases[0].Facts == nil {
		t.Fatalf("gate %d: %d cases: %s", seed, len(verdict.Cases), verdict.Sentence)
	}
	f := verdict.Cases[0].Facts
	g.Verdict, g.Rounds, g.Change, g.Spread, g.Load = verdict.Verdict, f.Rounds, f.Change, f.Spread, loadAverage()
	return g
}

func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}

// countGates counts those with a verdict; without one, all.
func countGates(gates []liveGate, slowed bool, verdict ratchet.Verdict) int {
	n := 0
	for _, g := range gates {
		if g.Slowed == slowed && (verdict == "" || g.Verdict == verdict) {
			n++
		}
	}
	return n
}

func liveTable(gates []liveGate) string {
	var b strings.Builder
	b.WriteString("| code | gates | regression | maintained | no answer | rounds, mean | seconds, mean | spread of a round's difference, mean | load, mean |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, slowed := range []bool{false, true} {
		var n int
		var rounds, seconds, spread, load float64
		for _, g := range gates {
			if g.Slowed == slowed {
				n++
				rounds, seconds, spread, load = rounds+float64(g.Rounds), seconds+g.Seconds, spread+g.Spread, load+g.Load
			}
		}
		if n == 0 {
			continue
		}
		name := map[bool]string{false: "the same", true: "5.9 % more work"}[slowed]
		share := func(v ratchet.Verdict) string {
			r := lab.NewRate(countGates(gates, slowed, v), n)
			return fmt.Sprintf("%d (%.1f to %.1f %%)", r.Count, 100*r.Low, 100*r.High)
		}
		mean := func(sum float64) float64 { return sum / float64(n) }
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %.1f | %.1f | %.2f %% | %.1f |\n", name, n,
			share(ratchet.Regression), share(ratchet.Maintained), share(ratchet.Inconclusive), mean(rounds), mean(seconds), 100*mean(spread), mean(load))
	}
	return b.String()
}
