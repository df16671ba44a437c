package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/measure"
)

// aLongRun is a command that measures for minutes unless it is stopped.
func aLongRun(t *testing.T) (dir string, cmd *exec.Cmd) {
	t.Helper()
	dir = t.TempDir()
	linkHarness(t, dir)
	write(t, filepath.Join(dir, "pawl.yaml"), strings.Replace(spinSuite, "kind: nvidia, clocks: 1200MHz, persistence: true", "kind: cpu", 1))
	return dir, command(t, dir, "bench", "--rounds", "500", "--samples", "5")
}

// readUntil returns what was read when a line holds the text, and goes on reading
// into the channel until the end.
func readUntil(t *testing.T, r io.Reader, text string) (rest chan string) {
	t.Helper()
	lines := bufio.NewReader(r)
	var all strings.Builder
	for !strings.Contains(all.String(), text) {
		line, err := lines.ReadString('\n')
		if all.WriteString(line); err != nil {
			t.Fatalf("it ended before it said %q:\n%s", text, all.String())
		}
	}
	rest = make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(lines) // a terminal whose other end is closed is an error, too
		rest <- all.String() + string(b)
	}()
	return rest
}

// keptOf checks how an interrupted command ended, and what it left.
func keptOf(t *testing.T, dir, said string, err error) {
	t.Helper()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 5 {
		t.Errorf("%v, want exit code 5\n%s", err, said)
	}
	run := load(t, filepath.Join(dir, "results/current.json"))
	if run.End.State != measure.Interrupted || len(run.Rounds) == 0 {
		t.Errorf("the record ends with %+v after %d rounds", run.End, len(run.Rounds))
	}
	rounds := fmt.Sprintf("%d round", len(run.Rounds))
	for _, want := range []string{"saving what is done", "interrupted after " + rounds, "saved in results/current.json"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if left := processesIn(dir); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

func TestSignalsKeepWhatWasMeasured(t *testing.T) {
	needsTime(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			dir, cmd := aLongRun(t)
			stderr, err := cmd.StderrPipe()
			must(t, err)
			must(t, cmd.Start())
			rest := readUntil(t, stderr, "round 1 of 500 done")
			must(t, cmd.Process.Signal(s))
			said := <-rest
			keptOf(t, dir, said, cmd.Wait())
		})
	}
}

// terminal opens a pseudo terminal of a size.
func terminal(t *testing.T, width, height uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	must(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	must(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}))
	return master, slave
}

// On a terminal the key does what the signal does, and the picture stays in the
// window.
func TestControlCOnATerminal(t *testing.T) {
	needsTime(t)
	dir, cmd := aLongRun(t)
	const width = 60
	master, slave := terminal(t, width, 15)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, cmd.Start())
	must(t, slave.Close())
	rest := readUntil(t, master, "round 2 of 500")
	if _, err := master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	said := <-rest
	keptOf(t, dir, said, err)
	for line := range strings.Lines(said) {
		_, picture, _ := strings.Cut(line, "\x1b[J")
		if strings.HasPrefix(picture, "round ") && len(strings.TrimRight(picture, "\r\n")) > width {
			t.Errorf("%q is wider than the window", picture)
		}
	}
	if !strings.Contains(said, "\x1b[J") {
		t.Errorf("no picture was drawn:\n%s", said)
	}
}

// Two pawls in one folder would write one record: the second waits and names the first.
func TestTwoPawlsOneFolder(t *testing.T) {
	needsTime(t)
	dir, first := aLongRun(t)
	stderr, err := first.StderrPipe()
	must(t, err)
	must(t, first.Start())
	rest := readUntil(t, stderr, "round 1 of 500 done")
	holder := fmt.Sprintf("process %d (pawl bench)", first.Process.Pid)
	pawl(t, dir, "bench", "--wait", "300ms").want(t, 3,
		"waiting for results/current.json, held by "+holder,
		"results/current.json is still being written by "+holder)
	pawl(t, dir, "bench", "--rounds", "1", "--samples", "5", "--out", "results/other.json", "--wait", "0s").want(t, 3, "is in use by "+holder) // the CPU is taken, too
	must(t, first.Process.Signal(os.Interrupt))
	said := <-rest
	keptOf(t, dir, said, first.Wait())
	pawl(t, dir, "bench", "--rounds", "1", "--samples", "5", "--wait", "0s").want(t, 0, "record: results/current.json")
}
