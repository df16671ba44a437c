package sides

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// killFiles are a suite whose harness the change edits, so that the base's worktree gets an overlay.
const killFiles = `
-- .gitignore --
results/
.pawl/
kernel
-- pawl.yaml --
version: 1
build: {command: sleep 0.3 && cp harness.sh kernel, outputs: [kernel]}
harness: {command: sh harness.sh, format: hyperfine}
definition: [harness.sh]
measure: {rounds: [3]}
-- harness.sh --
sleep 0.1
echo '{"results":[{"command":"kernel","times":[0.1,0.1001,0.1002,0.1003,0.1004]}]}'
`

// kill -9 leaves nothing behind that the next run does not remove. At once after the kill, git
// status is as before. The next run --base does not wait for the device, gives the usual exit code, and
// leaves no worktree, lock or overlay of the killed run. Every other kill also ends all processes
// that pawl started, as a container does when it is stopped.
func TestKilledRun(t *testing.T) {
	beside(t)
	const seed = 9
	kills := testrun.Times(10, 100)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	r := newRepository(t, killFiles)
	r.write(t, "-- harness.sh --\nsleep 0.1 # changed\necho '{\"results\":[{\"command\":\"kernel\",\"times\":[0.1,0.1001,0.1002,0.1003,0.1004]}]}'\n-- dirty.txt --\nnot committed\n")
	args := []string{"run", "--base", "HEAD", "--no-cache", "--json", "--profile", "0"}
	usual := r.pawl(t, ".", []int{0, 2}, args...)
	events := strings.Count(usual.said, `"event":`)
	status, clean := r.git(t, "status", "--porcelain", "--ignored"), r.left(t)
	if len(clean) > 0 {
		t.Fatalf("a run that was not killed left %v", clean)
	}
	var midway int // kills that left something
	for kill := range kills {
		// In CI after a fixed number of events; at night at any moment.
		after, wait := kill*events/kills, time.Duration(0)
		if testrun.Nightly() {
			after, wait = 0, time.Duration(rng.Int64N(int64(usual.took)))
		}
		r.kill(t, args, after, wait, kill%2 == 1)
		if is := r.git(t, "status", "--porcelain", "--ignored"); is != status {
			t.Errorf("kill %d (after %d events and %v): git status was\n%s\nand is\n%s", kill, after, wait, status, is)
		}
		abandoned := r.left(t)
		if len(abandoned) > 0 {
			midway++
		}
		next := r.pawl(t, ".", []int{usual.code}, append(args, "--wait", "1s")...)
		if left := r.left(t); len(left) > 0 {
			t.Fatalf("kill %d (after %d events and %v) left %v, and the next run (%v) left %v", kill, after, wait, abandoned, next.took, left)
		}
	}
	t.Logf("%d kills of a run of %v, %d of which left something for the next run", kills, usual.took.Round(time.Millisecond), midway)
	if midway == 0 {
		t.Error("no kill left anything: they all came too early or too late")
	}
}

// kill starts pawl and kills it after a number of events and a time, alone or with its processes.
func (r *repository) kill(t *testing.T, args []string, after int, wait time.Duration, all bool) {
	t.Helper()
	cmd := r.command(t, ".", args...)
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	reached := make(chan struct{})
	go func() {
		defer close(reached)
		lines := bufio.NewScanner(stderr)
		for n := 0; n < after && lines.Scan(); n++ { //nolint:revive // the lines are only counted
		}
	}()
	<-reached
	time.Sleep(wait)
	victims := []int{cmd.Process.Pid}
	if all {
		victims = append(victims, descendants(cmd.Process.Pid)...)
	}
	for _, pid := range victims {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone already
	}
	_ = cmd.Wait()
}

// descendants lists the processes that a process started, and those that they started.
func descendants(pid int) []int {
	var list []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(word)
			list = append(append(list, child), descendants(child)...)
		}
	}
	return list
}

// left lists what is in the git folder only while a run goes on: worktrees that git knows, their
// folders, which hold the overlay, and locks.
func (r *repository) left(t *testing.T) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(r.git(t, "worktree", "list", "--porcelain")) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok && path != r.dir {
			list = append(list, line)
		}
	}
	for _, glob := range []string{"repository/.git/worktrees/*", "repository/.git/pawl/*", "repository/.git/*.lock"} {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(r.dir), glob))
		must(t, err)
		list = append(list, found...)
	}
	return list
}
