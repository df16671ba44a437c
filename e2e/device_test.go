package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
	"github.com/goatnote-inc/pawl/measure"
)

const spinSuite = `version: 1
name: spin
device: {kind: nvidia, clocks: 1200MHz, persistence: true}
harness: {command: ./harness, files: [harness]}
measure: {timer: wall, samples: 20, warmup: 5}
benchmarks:
  spin: {matrix: {us: [50, 200]}}
`

// gpuFolder is a suite for a GPU that a test scripts, with a harness that runs
// on the host: everything but the kernel is real.
func gpuFolder(t *testing.T) (string, *devicetest.Stub) {
	t.Helper()
	dir := t.TempDir()
	linkHarness(t, dir)
	write(t, filepath.Join(dir, "pawl.yaml"), spinSuite)
	return dir, devicetest.BuildStub(t)
}

// conformance compiles the harness of the protocol's tests, once.
var conformance = sync.OnceValues(func() (string, error) {
	path := filepath.Join(shared, "conformance")
	out, err := exec.Command("cc", "-O2", "-o", path, "../sdk/cpp/conformance.c", "-lm").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the conformance harness: %w\n%s", err, out)
	}
	return path, err
})

// linkHarness puts the conformance harness into a folder.
func linkHarness(t *testing.T, dir string) {
	t.Helper()
	path, err := conformance()
	must(t, err)
	must(t, os.Link(path, filepath.Join(dir, "harness")))
}

func gpuCommand(t *testing.T, dir string, stub *devicetest.Stub, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, dir, args...)
	cmd.Env = append(cmd.Env, stub.Env()...)
	return cmd
}

func TestClocksAreLockedAndRestored(t *testing.T) {
	needsTime(t)
	dir, stub := gpuFolder(t)
	out, err := gpuCommand(t, dir, stub, "bench", "--rounds", "2").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := load(t, filepath.Join(dir, "results/current.json"))
	if got := run.Testbed.Clocks.String(); got != "1200MHz" {
		t.Errorf("the testbed's clock policy is %q", got)
	}
	if after := run.Rounds[1].Sides[0].After; after == nil || after.Persistence != "on" {
		t.Errorf("device state of a round: %+v", after)
	}
	if g := stub.State().GPUs[0]; g.Locked != 0 || g.Persistence != 0 {
		t.Errorf("clocks and persistence were not restored: %+v", g)
	}
}

// A spoiled round is dropped, kept, and measured again.
func TestThrottledRoundIsDropped(t *testing.T) {
	needsTime(t)
	dir, stub := gpuFolder(t)
	stub.Update(func(s *devicetest.State) { s.GPUs[0].ReasonsAfter = devicetest.At{N: 0, Bits: int(gpu.HWThermal)} })
	cmd := gpuCommand(t, dir, stub, "bench", "--rounds", "2")
	out, _ := cmd.CombinedOutput()
	run := load(t, filepath.Join(dir, "results/current.json"))
	if len(run.Rounds) != 3 || run.Rounds[0].Dropped == "" {
		t.Fatalf("%d rounds, want three attempts at the first, all dropped\n%s", len(run.Rounds), out)
	}
	if !strings.Contains(string(out), "the device throttled") || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("exit code %d, want 2, and the reason\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

// Kill -9 at any moment: the record opens and holds every round that was
// reported as done, and the next start restores the clocks.
func TestKillNine(t *testing.T) {
	needsTime(t)
	dir, stub := gpuFolder(t)
	rng := rand.New(rand.NewPCG(20, 9))
	took, events := measureOnce(t, dir, stub)
	withRounds, locked := 0, 0
	kills := testrun.Times(8, 20)
	least := kills / 4
	for kill := range kills {
		cmd := gpuCommand(t, dir, stub, "bench", "--rounds", "8", "--json")
		stderr, err := cmd.StderrPipe()
		must(t, err)
		must(t, cmd.Start())
		// The moment is a random event plus a short random time. A random time alone would be
		// too early or too late on a machine whose speed changes.
		after, pause := rng.IntN(events), int64(took)/int64(events)
		if kill%4 == 0 { // during startup, when clocks are locked
			after, pause = 0, int64(took)/4
		}
		reached, reported := make(chan struct{}), make(chan int, 1)
		go func() { reported <- countRounds(stderr, after, reached) }()
		await.Receive(t, fmt.Sprintf("event %d of %d", after, events), reached)
		time.Sleep(time.Duration(rng.Int64N(pause)))
		must(t, cmd.Process.Kill())
		done := <-reported
		_ = cmd.Wait()
		waitForHarness(t, dir)

		if stub.State().GPUs[0].Locked != 0 {
			locked++
		}
		run, err := measure.Load(filepath.Join(dir, "results/current.json"))
		switch {
		case err != nil && done > 0:
			t.Errorf("kill %d: %d rounds were done, and the record does not open: %v", kill, done, err)
		case err == nil && len(run.Rounds) < done:
			t.Errorf("kill %d: the record holds %d rounds, %d were done", kill, len(run.Rounds), done)
		case err == nil && len(run.Rounds) > 0:
			withRounds++
		}
		out, err := gpuCommand(t, dir, stub, "bench", "--rounds", "1", "--samples", "3").CombinedOutput()
		if err != nil {
			t.Fatalf("kill %d: the next start fails: %v\n%s", kill, err, out)
		}
		if g := stub.State().GPUs[0]; g.Locked != 0 || g.Persistence != 0 {
			t.Errorf("kill %d: the next start left the clocks at %+v\n%s", kill, g, out)
		}
		if done > 0 && !strings.Contains(string(out), "interrupted run was saved") && run.End.State == measure.Interrupted {
			t.Errorf("kill %d: it does not say that an interrupted run was saved\n%s", kill, out)
		}
	}
	t.Logf("%d kills: %d left rounds behind, %d left the clocks locked", kills, withRounds, locked)
	if withRounds < least || locked < least {
		t.Errorf("the kills came too early or too late to test anything: %d with rounds, %d with clocks locked", withRounds, locked)
	}
}

// measureOnce returns how long a run takes and how many events it reports.
func measureOnce(t *testing.T, dir string, stub *devicetest.Stub) (took time.Duration, events int) {
	t.Helper()
	cmd := gpuCommand(t, dir, stub, "bench", "--rounds", "8", "--json")
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return time.Since(began), bytes.Count(said.Bytes(), []byte("\n"))
}

// countRounds returns how many rounds were reported as done. It closes reached when it has
// read as many lines as after says, or at the end.
func countRounds(r io.Reader, after int, reached chan<- struct{}) int {
	reach := sync.OnceFunc(func() { close(reached) })
	defer reach()
	n, lines := 0, 0
	if after == 0 {
		reach()
	}
	for s := bufio.NewScanner(r); s.Scan(); {
		if bytes.Contains(s.Bytes(), []byte(`"event":"round_done"`)) {
			n++
		}
		if lines++; lines == after {
			reach()
		}
	}
	return n
}

// waitForHarness waits until the harness of a killed pawl is gone: it must go
// by itself.
func waitForHarness(t *testing.T, dir string) {
	t.Helper()
	await.True(t, "the harness to end with the pawl that started it", func() bool { return len(processesIn(dir)) == 0 })
}

// processesIn lists the processes that run a program from the folder.
func processesIn(dir string) []string {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	var pids []string
	for _, l := range links {
		if exe, err := os.Readlink(l); err == nil && strings.HasPrefix(exe, dir) {
			pids = append(pids, l)
		}
	}
	return pids
}

// Two pawls on one device: one waits and names the other, and their rounds do not overlap.
func TestTwoPawlsOneDevice(t *testing.T) {
	needsTime(t)
	a, stub := gpuFolder(t)
	b := t.TempDir()
	must(t, os.CopyFS(b, os.DirFS(a)))
	must(t, os.Chmod(filepath.Join(b, "harness"), 0o755))
	begin := func(dir, rounds, until string) (cmd *exec.Cmd, rest chan string) {
		cmd = gpuCommand(t, dir, stub, "bench", "--rounds", rounds, "--wait", "10m")
		stderr, err := cmd.StderrPipe()
		must(t, err)
		must(t, cmd.Start())
		return cmd, readUntil(t, stderr, until)
	}
	one, rest := begin(a, "5000", "round 1 of")
	other, otherRest := begin(b, "3", "waiting for NVIDIA L4, held by process")
	must(t, one.Process.Signal(os.Interrupt)) // the second waits for it
	said, otherSaid := <-rest, <-otherRest
	if err := one.Wait(); one.ProcessState.ExitCode() != 5 {
		t.Errorf("the first: %v, want exit code 5\n%s", err, said)
	}
	if err := other.Wait(); err != nil {
		t.Errorf("the second: %v\n%s", err, otherSaid)
	}
	if strings.Count(otherSaid, "waiting for NVIDIA L4, held by process") != 1 || strings.Contains(said, "waiting for") {
		t.Errorf("the second must wait and say for whom:\n%s\nthe first:\n%s", otherSaid, said)
	}
	first, last := span(t, load(t, filepath.Join(a, "results/current.json"))), span(t, load(t, filepath.Join(b, "results/current.json")))
	if first[1].After(last[0]) {
		t.Errorf("the rounds overlap: one ends at %v, the other begins at %v", first[1], last[0])
	}
}

func span(t *testing.T, run *measure.Run) [2]time.Time {
	t.Helper()
	last := run.Rounds[len(run.Rounds)-1].Sides[0]
	return [2]time.Time{run.Rounds[0].Sides[0].Started, last.Started.Add(time.Duration(last.Seconds * float64(time.Second)))}
}

// pawl itself must not disturb what it measures: under 2 % of a core while
// rounds run, watching the device ten times a second.
func TestOwnCPU(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("measures time: make lab PAGE=overhead")
	}
	dir, stub := gpuFolder(t)
	write(t, filepath.Join(dir, "pawl.yaml"), strings.Replace(spinSuite, "[50, 200]", "[5000]", 1))
	cmd := gpuCommand(t, dir, stub, "bench", "--rounds", "3", "--samples", "400", "--json")
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	var wall time.Duration
	var cpu float64
	var began time.Time
	var cpuBegan float64
	for s := bufio.NewScanner(stderr); s.Scan(); {
		switch {
		case strings.Contains(s.Text(), `"event":"side_started"`):
			began, cpuBegan = time.Now(), cpuSeconds(t, cmd.Process.Pid)
		case strings.Contains(s.Text(), `"event":"round_done"`):
			wall += time.Since(began)
			cpu += cpuSeconds(t, cmd.Process.Pid) - cpuBegan
		}
	}
	must(t, cmd.Wait())
	share := cpu / wall.Seconds()
	t.Logf("pawl used %.2f s of CPU in %.1f s of rounds: %.2f %% of one core", cpu, wall.Seconds(), share*100)
	if share > 0.02 {
		t.Errorf("pawl used %.1f %% of a core, want at most 2 %%", share*100)
	}
}

// cpuSeconds is the CPU time of a process alone, without those it started.
func cpuSeconds(t *testing.T, pid int) float64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+2:]))
	var ticks float64
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.ParseFloat(f, 64)
		must(t, err)
		ticks += n
	}
	return ticks / 100
}
