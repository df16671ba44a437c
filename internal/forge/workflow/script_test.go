package workflow

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// measureScript is what the measuring job of the gate runs, with a pawl that a test wrote.
func measureScript(t *testing.T, pawl string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash")
	}
	d, err := parse("pawl.yml", rendered(t, sample())[0].Text)
	if err != nil {
		t.Fatal(err)
	}
	script := ""
	for _, j := range d.jobs {
		for _, s := range j.steps {
			if j.id == "measure" && strings.Contains(s.run, " run --no-keep ") {
				script = s.run
			}
		}
	}
	if script == "" {
		t.Fatal("the gate measures nothing")
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pawl"), []byte("#!/bin/bash\n"+pawl), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + dir, "PAWL_FOLDER=.", "BASE=abc", "PAWL_NAME="}
	cmd.Stderr = os.Stderr
	return cmd, dir
}

func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return 0
}

// An answer is no failure of the job, whatever it is; everything else is.
func TestMeasuringJobKeepsTheExitCode(t *testing.T) {
	for code, want := range []int{0, 0, 0, 3, 4, 5} {
		cmd, dir := measureScript(t, "exit "+strconv.Itoa(code)+"\n")
		if got := exitCode(cmd.Run()); got != want {
			t.Errorf("pawl run exits with %d, and the step with %d, want %d", code, got, want)
		}
		if text, _ := os.ReadFile(filepath.Join(dir, "pawl-results/exit-code")); string(text) != strconv.Itoa(code)+"\n" {
			t.Errorf("pawl run exits with %d, and the results say %q", code, text)
		}
	}
}

// A cancelled job signals the shell alone. pawl hears of it, and has time to put clocks back.
func TestCancelledJobLetsPawlPutClocksBack(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd, dir := measureScript(t, `trap 'sleep 0.2; echo restored >"$RUNNER_TEMP/clocks"; exit 5' TERM
echo "$@" >"$RUNNER_TEMP/started"
while :; do sleep 0.05; done
`)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var text []byte
		await.True(t, "pawl to start", func() bool {
			text, _ = os.ReadFile(filepath.Join(dir, "started"))
			return bytes.HasSuffix(text, []byte("\n"))
		})
		if want := "-C . run --no-keep --base abc --out " + dir + "/pawl-results\n"; string(text) != want {
			t.Errorf("pawl %swant %s", text, want)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		code := exitCode(cmd.Wait())
		if text, _ := os.ReadFile(filepath.Join(dir, "clocks")); code != 5 || string(text) != "restored\n" {
			t.Errorf("%v: the step exits with %d, and the clocks are %q", signal, code, text)
		}
	}
}
