package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

func TestOwn(t *testing.T) {
	stat := func(pid int, comm string, parent int) string {
		return fmt.Sprintf("%d (%s) S %d %d 1 0", pid, comm, parent, parent)
	}
	machine := map[string]string{
		"proc/1/stat":   stat(1, "init", 0),
		"proc/100/stat": stat(100, "pawl", 1),
		"proc/200/stat": stat(200, "harness", 100),
		"proc/300/stat": stat(300, "a) S 1 (b", 200), // a name that looks like the fields after it
		"proc/400/stat": stat(400, "stranger", 1),
		"proc/500/stat": "500 (broken",
		"proc/600/stat": stat(600, "loop", 601),
		"proc/601/stat": stat(601, "loop", 600),
		"proc/400/comm": "stranger\n",
	}
	p := host.OpenProcesses(files(machine), 100)
	for pid, want := range map[int]bool{
		100: true, 200: true, 300: true,
		1: false, 400: false, 500: false, 600: false, 999: false, 0: false, -7: false,
	} {
		if got := p.Own(pid); got != want {
			t.Errorf("Own(%d) = %v, want %v", pid, got, want)
		}
	}
	if got := p.Name(400); got != "stranger" {
		t.Errorf("Name(400) = %q", got)
	}
	if got := p.Name(999); got != "" {
		t.Errorf("Name of a process that is not there = %q", got)
	}
}

// A real child is ours, our parent is not.
func TestOwnOnThisMachine(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("this machine has no /proc")
	}
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	p := host.OpenProcesses(os.DirFS("/"), os.Getpid())
	if !p.Own(child.Process.Pid) {
		t.Error("a child of this process is taken for a stranger")
	}
	if p.Own(os.Getppid()) {
		t.Error("the parent of this process is taken for our own")
	}
}
