package shell_test

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

func TestStart_HidesMemory(t *testing.T) {
	t.Setenv("PAWL_DEBUGGER", "")
	if err := shell.Run(shell.Command(t.Context(), "true", t.TempDir(), nil)); err != nil {
		t.Fatal(err)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("dumpable is %d, %v; want 0", dumpable, err)
	}
}

// An exit status is for the one that waits for the command, also if an orphan is reaped beside it.
func TestProcess_ReapsOrphansOnly(t *testing.T) {
	cmd := shell.Command(t.Context(), "setsid sh -c 'sleep 0.01 &'; exit 7", t.TempDir(), nil)
	if err := shell.Start(cmd); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the orphan to be reaped", func() bool {
		list := shell.Processes()
		for _, p := range list {
			p.Reap()
		}
		return !slices.ContainsFunc(list, func(p shell.Process) bool { return p.PID != cmd.Process.Pid })
	})
	_ = shell.Wait(cmd)
	if got := cmd.ProcessState.ExitCode(); got != 7 {
		t.Errorf("exit code %d, want 7", got)
	}
}
