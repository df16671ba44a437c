package harness_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// helpers are processes that a harness starts, by how they leave it.
var helpers = map[string]string{
	"a child":                           `%s &`,
	"a grandchild":                      `sh -c '%s & wait' &`,
	"a child with a session of its own": `setsid sh -c '%s' &`,
	"an orphan":                         `sh -c '%s &'`,
	"an orphan with a session":          `setsid sh -c '%s &'`,
	"a double orphan":                   `setsid sh -c "setsid sh -c '%s &' &"`,
}

// started returns a harness that first starts a helper, which writes its PID to the file.
func started(t *testing.T, how, helper, file string) harness.Command {
	t.Helper()
	c := command(t, "good")
	script := filepath.Join(c.Dir, "helper")
	if err := os.WriteFile(script, fmt.Appendf(nil, "echo $$ > %s.part; mv %[1]s.part %[1]s\n%s\n", file, helper), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Line = fmt.Sprintf(how, "exec sh "+script+" 3<&- 4>&-") + "\n" + c.Line
	return c
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	var pid int
	await.True(t, "the helper's PID", func() bool {
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 0
	})
	return pid
}

// state returns the state of a process, as /proc has it; empty if it is gone.
func state(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))[0]
}

// gone reports whether a process has ended, whether or not its parent knows.
func gone(pid int) bool {
	got := state(pid)
	return got == "" || got == "Z"
}

// open starts a session in a turn of its own, and waits in it for the files.
func open(t *testing.T, f *harness.Freezer, c harness.Command, files ...string) (tree *harness.Tree, s *harness.Session) {
	t.Helper()
	tree = f.Tree(filepath.Base(c.Dir))
	c.Tree = tree
	err := f.Turn(tree, func() (err error) {
		if s, err = harness.Start(t.Context(), c, hello); err == nil {
			_, err = s.Prepare(t.Context(), spin)
		}
		for _, file := range files {
			pidIn(t, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return tree, s
}

func measured(t *testing.T, f *harness.Freezer, tree *harness.Tree, s *harness.Session) {
	t.Helper()
	err := f.Turn(tree, func() error {
		_, err := s.Measure(t.Context(), "spin/us50", harness.Measure{Samples: 5})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFreezer_StopsWhatASideStarted(t *testing.T) {
	for name, how := range helpers {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			f := new(harness.Freezer)
			defer f.Close()
			base, b := open(t, f, command(t, "good"))
			other, o := open(t, f, started(t, how, "while :; do :; done", file), file)
			pid := pidIn(t, file)
			measured(t, f, other, o)
			if got := state(pid); got != "T" {
				t.Errorf("the helper is in state %q after its side's turn, want T", got)
			}
			other.Use()
			for range 5 {
				measured(t, f, base, b)
			}
			if use := other.Use(); use.CPU > time.Millisecond || use.Ended > 0 {
				t.Errorf("the stopped side used %+v", use)
			}
			err := f.Turn(other, func() error {
				await.True(t, "the helper to run", func() bool { return state(pid) == "R" || state(pid) == "S" })
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			o.Kill()
			await.True(t, "the helper to be gone", func() bool { return gone(pid) })
		})
	}
}

// A launcher stops its guest itself: continuing the launcher must not continue the guest.
func TestFreezer_LeavesProcessesStoppedThatWereStopped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	f := new(harness.Freezer)
	defer f.Close()
	tree, s := open(t, f, started(t, helpers["a child"], "kill -STOP $$; while :; do :; done", file), file)
	pid := pidIn(t, file)
	_ = f.Turn(tree, func() error {
		await.True(t, "the guest to stop", func() bool { return state(pid) == "T" })
		return nil
	})
	for range 3 {
		measured(t, f, tree, s)
	}
	if got := state(pid); got != "T" {
		t.Errorf("the guest is in state %q, want T", got)
	}
}

func TestFreezer_CountsASideThatIsContinued(t *testing.T) {
	for _, name := range []string{"a child", "an orphan with a session"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			f := new(harness.Freezer)
			defer f.Close()
			base, b := open(t, f, command(t, "good"))
			other, o := open(t, f, started(t, helpers[name], "while :; do :; done", file), file)
			pid := pidIn(t, file)
			measured(t, f, other, o)
			other.Use()
			_ = f.Turn(base, func() error { // what an accomplice or a timer does
				if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				await.True(t, "a process to compute", func() bool { return cpuTicks(pid) > 20 })
				return nil
			})
			if use := other.Use(); use.CPU < 10*time.Millisecond {
				t.Errorf("it was continued for more than 10 ms of CPU time, and used %+v", use)
			}
			measured(t, f, base, b)
		})
	}
}

// A process that was woken may fork one that leaves the tree. It must not pass for one of the side
// that is measured.
func TestFreezer_CountsOrphansOfASideThatIsContinued(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	late := file + ".late"
	f := new(harness.Freezer)
	defer f.Close()
	base, _ := open(t, f, command(t, "good"))
	other, o := open(t, f, started(t, helpers["a child"], fmt.Sprintf(
		`kill -STOP $$
setsid sh -c "sh -c 'echo \$\$ > %s; while :; do :; done' 3<&- 4>&- &"`, late), file), file)
	pid := pidIn(t, file)
	_ = f.Turn(other, func() error {
		await.True(t, "the guest to stop", func() bool { return state(pid) == "T" })
		return nil
	})
	measured(t, f, other, o)
	other.Use()
	base.Use()
	_ = f.Turn(base, func() error {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		spinner := pidIn(t, late)
		await.True(t, "a process to compute", func() bool { return cpuTicks(spinner) > 5 })
		return nil
	})
	if use := other.Use(); use.CPU < 10*time.Millisecond {
		t.Errorf("its orphan spun, and it used %+v", use)
	}
}

// cpuTicks is what a process has computed, in hundredths of a second or what the kernel takes for it.
func cpuTicks(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return user + system
}

// Pawl may be killed at any moment. Nothing that it stopped may be left then.
func TestFreezer_LeavesNothingWhenPawlIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range testrun.Times(30, 200) {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestFreezer_TakesTurnsForEver$")
		cmd.Env = append(os.Environ(), "PAWL_TEST_TURNS="+dir, "TMPDIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(20_000)) * time.Microsecond)
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		files, _ := filepath.Glob(filepath.Join(dir, "*.pid"))
		if len(files) != 2*len(helpers) {
			t.Fatalf("%d helpers, want two of each of %d", len(files), len(helpers))
		}
		for _, file := range files {
			pid := pidIn(t, file)
			await.True(t, "a helper to be gone", func() bool { return gone(pid) })
		}
	}
}

// The process that TestFreezer_LeavesNothingWhenPawlIsKilled starts and kills.
func TestFreezer_TakesTurnsForEver(t *testing.T) {
	dir := os.Getenv("PAWL_TEST_TURNS")
	if dir == "" {
		return // it is another test that starts this one
	}
	f := new(harness.Freezer)
	var trees []*harness.Tree
	var sessions []*harness.Session
	for side := range 2 {
		lines := ""
		var files []string
		var c harness.Command
		for name, how := range helpers {
			file := filepath.Join(dir, fmt.Sprintf("%s-%d.pid", strings.ReplaceAll(name, " ", "-"), side))
			files = append(files, file)
			c = started(t, how, "while :; do sleep 0.01; done", file)
			line, _, _ := strings.Cut(c.Line, "\n")
			lines += line + "\n"
		}
		_, last, _ := strings.Cut(c.Line, "\n")
		c.Line = lines + strings.TrimPrefix(last, "exec ")
		tree, s := open(t, f, c, files...)
		trees, sessions = append(trees, tree), append(sessions, s)
	}
	fmt.Println("ready")
	for {
		for i, tree := range trees {
			measured(t, f, tree, sessions[i])
		}
	}
}

func TestFreezer_AnswersAfterBye(t *testing.T) {
	f := new(harness.Freezer)
	defer f.Close()
	tree, s := open(t, f, command(t, "good"))
	if err := f.Turn(tree, func() error { return s.Bye(t.Context()) }); err != nil {
		t.Error(err)
	}
}

func TestFreezer_EndsWhatIsStopped(t *testing.T) {
	f := new(harness.Freezer)
	defer f.Close()
	file := filepath.Join(t.TempDir(), "pid")
	open(t, f, started(t, helpers["an orphan with a session"], "while :; do :; done", file), file)
	pid := pidIn(t, file)
	if got := state(pid); got != "T" {
		t.Errorf("the helper is in state %q, want T", got)
	}
	f.Close()
	await.True(t, "the helper to be gone", func() bool { return gone(pid) })
}

func BenchmarkTurn(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	f := new(harness.Freezer)
	defer f.Close()
	var trees []*harness.Tree
	for range 2 {
		tree := f.Tree("side")
		trees = append(trees, tree)
		c := harness.Command{Line: "exec " + self, Dir: b.TempDir(), Env: []string{"PAWL_TEST_HARNESS=good"}, Tree: tree}
		err := f.Turn(tree, func() error {
			_, err := harness.Start(b.Context(), c, hello)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	n := 0
	for b.Loop() {
		_ = f.Turn(trees[n%2], func() error { return nil })
		n++
	}
	var used time.Duration
	for _, tree := range trees {
		used += tree.Use().CPU
	}
	b.ReportMetric(float64(used.Nanoseconds())/float64(n), "cpu-ns/turn")
}
