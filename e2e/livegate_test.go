package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/goatnote-inc/pawl/internal/judge/lab"
)

// liveSuite has a kernel of about 1.5 ms and 17 rows of blocks, of which the slowed
// commit computes one twice.
const liveSuite = `version: 1
name: matmul
build: {command: make harness BLOCK_M=16, outputs: [harness]}
harness: {command: ./harness}
measure: {timer: cpu, samples: 60, warmup: 5}
benchmarks:
  matmul: {matrix: {N: [272]}, flops: 2*N*N*N, bytes: 3*4*N*N}
`

// How many gates there are of each kind, half of them slowed.
const (
	idleGates  = 200
	besideLoad = 60
	liveRounds = 32
)

// TestLiveGates records gates on a real machine: the same code and a slowdown of 5.9 % in turn, each to
// 32 rounds, and prints what methods say of them. Only with PAWL_LAB, which names a folder: gates are
// added to a file there, and what is there is kept, so that it can be stopped and goes on. The last 60
// are recorded while loops keep all cores busy.
func TestLiveGates(t *testing.T) {
	out := os.Getenv("PAWL_LAB")
	if out == "" {
		t.Skip("only with PAWL_LAB=FOLDER")
	}
	must(t, os.MkdirAll(out, 0o755))
	path := filepath.Join(out, "gates.jsonl")
	dir := slowRepository(t, liveSuite, slowed)
	gates := readGates(t, path)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	defer file.Close()
	for len(gates) < idleGates+besideLoad {
		g := gateOnce(t, dir, len(gates)+1)
		must(t, json.NewEncoder(file).Encode(g))
		gates = append(gates, g)
		t.Logf("gate %d of %d, slowed %v, beside load %v", g.Seed, idleGates+besideLoad, g.Slowed, g.Loaded)
	}
	must(t, os.WriteFile(filepath.Join(out, "live.md"), []byte(lab.LiveTable(gates, lab.LiveMethods(gates))), 0o644))
	for _, beside := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(gates), func(g lab.LiveGate) bool { return g.Loaded != beside })
		spread, core, lag := lab.LiveNoise(some)
		t.Logf("beside load %v: differences of rounds spread by %.2f %%, without tails by %.2f %%; lag-1 %.2f", beside, 100*spread, 100*core, lag)
	}
}

func readGates(t *testing.T, path string) []lab.LiveGate {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	must(t, err)
	gates, err := lab.ReadLive(bytes.NewReader(text))
	must(t, err)
	return gates
}

// gateOnce measures the slowed commit in every second gate, and in the others the same
// code against itself. The base of the slowed one differs from it in the kernel only.
func gateOnce(t *testing.T, dir string, number int) lab.LiveGate {
	t.Helper()
	slow, beside, base := number%2 == 0, number > idleGates, "HEAD"
	if slow {
		base = "HEAD~1"
	}
	if beside {
		defer keepBusy()()
	}
	pawl(t, dir, "bench", "-f", "pawl.yaml", "--base", base, "--force-measure", "--rounds", strconv.Itoa(liveRounds), "--seed", strconv.Itoa(number)).want(t, 0)
	g, err := lab.NewLiveGate(load(t, filepath.Join(dir, "results/current.json")))
	if err != nil {
		t.Fatal(fmt.Errorf("gate %d: %w", number, err))
	}
	g.Slowed, g.Loaded, g.Seed = slow, beside, number
	return g
}

// keepBusy keeps all cores busy until the function that it returns is called.
func keepBusy() (stop func()) {
	done := make(chan struct{})
	for range runtime.NumCPU() {
		go func() {
			for x := 1.0; ; x *= 1.0000001 {
				select {
				case <-done:
					return
				default:
				}
			}
		}()
	}
	return func() { close(done) }
}
