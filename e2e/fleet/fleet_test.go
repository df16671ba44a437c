package fleet

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// TestFleet runs gates from a desk to a device and back.
func TestFleet(t *testing.T) {
	w := newWorld(t)
	t.Run("a gate ends like a run here", w.testSame)
	t.Run("a gate builds each side once", w.testBuild)
	t.Run("a host without a device builds", w.testElsewhere)
	for _, o := range kills {
		t.Run("kill -9 of "+o.name+" loses no round", func(t *testing.T) { w.testKill(t, o) })
	}
	t.Run("an interrupt cancels the gate", w.testCancel)
	t.Run("a lost connection does not cancel the gate", w.testGone)
	t.Run("databases are restored from backups", w.testRestore)
	t.Run("the version before this one works with it", w.testPrevious)
	t.Run("another project does not wait for a long queue", w.testFair)
	t.Run("an agent holds one secret", w.testSecrets)
	t.Run("several models have one report", w.testSeveral)
	t.Run("code of a fork does not reach a host for own code", w.testTier)
	t.Run("checked and unknown code run as they must", w.testChecked)
	t.Run("a job of Slurm carries out a lease", w.testSlurm)
	t.Run("hosts at the same time", func(t *testing.T) { // it takes most of a minute to miss a host
		t.Run("a lost host is replaced", func(t *testing.T) {
			t.Parallel()
			w.testLost(t)
		})
		t.Run("one that sleeps is started for a gate, and stopped", func(t *testing.T) {
			t.Parallel()
			w.testHosts(t)
		})
		t.Run("the first host", func(t *testing.T) {
			t.Parallel()
			t.Run("a pull request is gated, and a new push cancels the older gate", w.testHook)
			t.Run("a calibration is shown with the verdict", w.testCalibrate)
		})
	})
	if out := w.must(t, "pawld", "agent", "refusals"); out != "" {
		t.Errorf("the gateway refused requests of its own agent:\n%s", out)
	}
}

// repository is a kernel that says it took as long as the file ms says. While hold exists, it waits after as many calls as hold
// says. It notes its calls, and those that came to their end in ended.
type repository struct{ dir, calls, ended, hold string }

func newRepository(t *testing.T) repository {
	t.Helper()
	dir, outside := t.TempDir(), t.TempDir()
	r := repository{dir, filepath.Join(outside, "calls"), filepath.Join(outside, "ended"), filepath.Join(outside, "hold")}
	r.write(t, "pawl.yaml", "version: 1\nharness: {command: sh kernel.sh, format: hyperfine, files: [kernel.sh, ms], timeout: 1h}\n")
	r.write(t, "kernel.sh", fmt.Sprintf(`exec 9>"$TMPDIR/card"
flock -n 9 || echo two processes on one card >>%[3]s
echo call >>%[1]s
n=$(wc -l <%[1]s)
while [ -e %[2]s ] && { read -r limit <%[2]s; [ "$n" -gt "${limit:-$n}" ]; }; do sleep 0.2 9>&-; done
awk -v ms="$(cat ms)" -v seed=$$ 'BEGIN {
  srand(seed)
  printf "{\"results\":[{\"command\":\"kernel\",\"times\":["
  for (i = 0; i < 9; i++) printf "%%s%%.7f", (i ? "," : ""), ms / 1000 * (1 + 0.002 * rand())
  print "]}]}"
}' 9>&-
echo end >>%[4]s
`, r.calls, r.hold, r.problems(), r.ended))
	r.write(t, ".gitignore", "results/\n")
	r.git(t, "init", "-q", "-b", "main")
	r.commit(t, "100")
	return r
}

// problems is the file in which the kernel says that it was not alone on its card.
func (r repository) problems() string { return r.calls + ".problems" }

func (r repository) write(t *testing.T, name, content string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o600))
}

func (r repository) git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", r.dir, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// commit makes the kernel take so many milliseconds.
func (r repository) commit(t *testing.T, ms string) {
	t.Helper()
	r.write(t, "ms", ms)
	r.git(t, "add", "-A")
	r.git(t, "commit", "-q", "-m", ms)
}

func (w *world) testSame(t *testing.T) {
	for _, test := range []struct {
		ms, verdict string
		code        int
	}{{"120", "regression", 1}, {"80", "improvement", 0}} {
		r := newRepository(t)
		r.commit(t, test.ms)
		took := map[string]time.Duration{}
		for where, args := range map[string][]string{"here": nil, "fleet": {"--on", "cpu"}} {
			out := filepath.Join(r.dir, "results", where)
			start := time.Now()
			stdout, stderr, err := w.run(t, r.dir, "pawl", append([]string{"run", "--base", "HEAD~1", "--out", out}, args...)...)
			took[where] = time.Since(start)
			if code := exitCode(t, err); code != test.code {
				t.Fatalf("%s ms, %s: exit code %d, want %d\n%s%s", test.ms, where, code, test.code, stdout, stderr)
			}
			if got := verdictOf(t, out); got != test.verdict {
				t.Errorf("%s ms, %s: verdict %q, want %q\n%s%s", test.ms, where, got, test.verdict, stdout, stderr)
			}
			for _, name := range []string{"current.json", "ratchet_report.md", "report.html"} {
				if _, err := os.Stat(filepath.Join(out, name)); err != nil {
					t.Errorf("%s ms, %s: %v", test.ms, where, err)
				}
			}
		}
		t.Logf("%s ms: %.1f s here, %.1f s on the fleet", test.ms, took["here"].Seconds(), took["fleet"].Seconds())
	}
}

// Each side is built once, before the measurement. A change that does not build is not measured.
func (w *world) testBuild(t *testing.T) {
	r := newRepository(t)
	built := filepath.Join(t.TempDir(), "built")
	r.write(t, "pawl.yaml", "version: 1\nbuild: {command: sh build.sh, outputs: [out]}\nharness: {command: sh kernel.sh, format: hyperfine, files: [kernel.sh, ms]}\n")
	r.write(t, "build.sh", fmt.Sprintf("echo \"$(wc -l <%s)\" >>%s\npwd >out\n", r.calls, built))
	r.write(t, ".gitignore", "results/\nout\n")
	must(t, os.WriteFile(r.calls, nil, 0o600))
	r.commit(t, "100")
	r.commit(t, "120")
	if stdout, stderr, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "cpu"); exitCode(t, err) != 1 || verdictOf(t, filepath.Join(r.dir, "results")) != "regression" {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	text, err := os.ReadFile(built)
	must(t, err)
	if string(text) != "0\n0\n" {
		t.Errorf("builds, each with the calls of the kernel before it: %q, want two and none", text)
	}
	calls := r.made()
	r.write(t, "build.sh", "echo 'k.c:1:1: error: broken' >&2\nexit 2\n")
	r.commit(t, "100")
	if stdout, stderr, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "cpu"); exitCode(t, err) != 1 || !strings.Contains(stdout, "broken") || r.made() != calls {
		t.Errorf("a change that does not build: %v, %d calls\n%s%s", err, r.made()-calls, stdout, stderr)
	}
	await.TrueWithin(t, patience, "the agent to remove the workspaces", func() bool {
		left, err := filepath.Glob(filepath.Join(w.state(), "leases", "*"))
		return err == nil && len(left) == 0
	})
}

// verdictOf returns the verdict of the only case of a run.
func verdictOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
	must(t, err)
	var v struct {
		Cases []struct{ Verdict string }
	}
	must(t, json.Unmarshal(text, &v))
	if len(v.Cases) != 1 {
		t.Fatalf("%d cases:\n%s", len(v.Cases), text)
	}
	return v.Cases[0].Verdict
}

// testKill kills a part of the fleet at seeded moments of a gate.
func (w *world) testKill(t *testing.T, o outage) {
	t.Helper()
	again := func() *exec.Cmd { w.again(agents); return w.started[agents] }
	l := &outageLab{w, "cpu", []*island{{state: w.state(), start: again, cmd: w.started[agents]}}}
	times := testrun.Times(1, o.hits)
	o.gates = 1
	for n := range times {
		l.strike(t, o, n)
	}
}

func (w *world) testCancel(t *testing.T) {
	r := newRepository(t)
	r.commit(t, "120")
	g := w.startGate(t, r, 6, "cpu")
	must(t, g.cmd.Process.Signal(os.Interrupt))
	if code := exitCode(t, g.wait()); code != 5 {
		t.Errorf("exit code %d, want 5\n%s", code, g.said())
	}
	await.TrueWithin(t, patience, "the gate to be canceled", func() bool {
		return strings.Contains(w.must(t, "pawl", "fleet", "show", g.id), "canceled")
	})
	await.TrueWithin(t, patience, "the device to be free", func() bool {
		return strings.Contains(w.must(t, "pawl", "fleet", "devices"), "ready")
	})
	if left, _ := filepath.Glob(filepath.Join(w.state(), "leases", "*")); len(left) > 0 {
		t.Errorf("the agent kept %v of a canceled gate", left)
	}
}

// The process at the desk is killed. The gate ends, and the server has its result.
func (w *world) testGone(t *testing.T) {
	r := newRepository(t)
	r.commit(t, "120")
	g := w.startGate(t, r, 6, "cpu")
	must(t, g.cmd.Process.Kill())
	_ = g.wait()
	must(t, os.Remove(r.hold))
	var shown struct {
		Parts []struct {
			State, Record string
			Exit          *int
			Rounds        int
		}
	}
	await.TrueWithin(t, patience, "the gate to end", func() bool {
		must(t, json.Unmarshal([]byte(w.must(t, "pawl", "fleet", "show", g.id, "--json")), &shown))
		return len(shown.Parts) == 1 && !slices.Contains([]string{"waiting", "measuring"}, shown.Parts[0].State)
	})
	if p := shown.Parts[0]; p.State != "done" || p.Exit == nil || *p.Exit != 1 || p.Rounds != 6 || p.Record == "" || r.made() != 12 {
		t.Errorf("%+v after %d calls", p, r.made())
	}
}

// The only host serves own code.
func (w *world) testTier(t *testing.T) {
	r := newRepository(t)
	r.commit(t, "120")
	cmd := w.command(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "cpu", "--trust", "checked")
	must(t, cmd.Start())
	await.TrueWithin(t, patience, "the gate to wait for a host of its tier", func() bool {
		return strings.Contains(w.must(t, "pawl", "fleet", "queue"), "serves this tier")
	})
	must(t, cmd.Process.Signal(os.Interrupt))
	if code := exitCode(t, cmd.Wait()); code != 5 {
		t.Errorf("exit code %d, want 5", code)
	}
	if r.made() != 0 {
		t.Errorf("the code of the fork ran %d times", r.made())
	}
	w.must(t, "pawld", "fleet", "tier", "kernels", "checked")
	if out, errs, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "cpu", "--trust", "trusted"); exitCode(t, err) == 0 || !strings.Contains(errs, "tier checked") {
		t.Errorf("more trust than the project has: %v\n%s%s", err, out, errs)
	}
	w.must(t, "pawld", "fleet", "tier", "kernels", "own")
}

func (w *world) testCalibrate(t *testing.T) {
	w.must(t, "pawld", "fleet", "calibrate", "cpu:0")
	await.TrueWithin(t, patience, "the calibration", func() bool {
		return strings.Contains(w.must(t, "pawl", "fleet", "devices"), "of 1 calibration")
	})
	t.Log(w.must(t, "pawl", "fleet", "devices"))
	r := newRepository(t)
	r.commit(t, "120")
	stdout, stderr, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "cpu")
	if code := exitCode(t, err); code != 1 || !strings.Contains(stdout, "cpu:0 calibrated ") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for _, name := range []string{"verdict.json", "ratchet_report.md", "report.html"} {
		text, err := os.ReadFile(filepath.Join(r.dir, "results", name))
		if err != nil || !strings.Contains(string(text), "cpu:0 calibrated ") {
			t.Errorf("%s does not have the calibration: %v", name, err)
		}
	}
}

// made returns how often the kernel was called.
func (r repository) made() int { return countLines(r.calls) }

func countLines(path string) int {
	text, _ := os.ReadFile(path)
	return strings.Count(string(text), "\n")
}

// gate is a running pawl run --on.
type gate struct {
	cmd   *exec.Cmd
	id    string
	lines []string
	rest  chan struct{}
}

// startGate returns when the kernel waits after so many calls.
func (w *world) startGate(t *testing.T, r repository, calls int, model string) *gate {
	t.Helper()
	must(t, os.WriteFile(r.hold, []byte(strconv.Itoa(calls)), 0o600))
	g := w.sendGate(t, r, model)
	await.TrueWithin(t, patience, "the kernel to wait", func() bool { return r.made() > calls })
	return g
}

// sendGate returns when the server has the gate.
func (w *world) sendGate(t *testing.T, r repository, model string, env ...string) *gate {
	t.Helper()
	g := &gate{cmd: w.command(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", model), rest: make(chan struct{})}
	g.cmd.Env = append(slices.Clip(g.cmd.Env), env...)
	stderr, err := g.cmd.StderrPipe()
	must(t, err)
	must(t, g.cmd.Start())
	lines := bufio.NewReader(stderr)
	for g.id == "" {
		line, err := lines.ReadString('\n')
		g.lines = append(g.lines, line)
		if err != nil {
			t.Fatalf("no gate started: %v\n%s", errors.Join(err, g.cmd.Wait()), strings.Join(g.lines, ""))
		}
		if _, id, ok := strings.Cut(strings.TrimSpace(line), "gate "); ok {
			g.id = id
		}
	}
	go func() {
		defer close(g.rest)
		text, _ := io.ReadAll(lines)
		g.lines = append(g.lines, string(text))
	}()
	return g
}

func (g *gate) wait() error {
	<-g.rest
	return g.cmd.Wait()
}

func (g *gate) said() string { return strings.Join(g.lines, "") }

func exitCode(t *testing.T, err error) int {
	t.Helper()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	if ok {
		return exit.ExitCode()
	}
	return 0
}
