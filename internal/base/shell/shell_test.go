package shell_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

func output(t *testing.T, line string) string {
	t.Helper()
	out, err := shell.Command(t.Context(), line, t.TempDir(), []string{"ANSWER=42"}).Output()
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return strings.TrimSpace(string(out))
}

func TestLines(t *testing.T) {
	for line, want := range map[string]string{
		"echo hello":               "hello",
		"cd / && pwd":              "/",
		"exit 0":                   "",
		"true":                     "",
		`sh -c 'echo $ANSWER'`:     "42",
		"exec echo already":        "already",
		"A=1 sh -c 'echo $A'":      "1",
		"if true; then echo y; fi": "y",
		"printf %s text":           "text",
	} {
		if got := output(t, line); got != want {
			t.Errorf("%q printed %q, want %q", line, got, want)
		}
	}
}

// A plain command is the process itself: what the kernel kills is the program.
func TestAPlainCommandTakesTheShellsPlace(t *testing.T) {
	cmd := shell.Command(t.Context(), "sleep 600", t.TempDir(), nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer shell.Kill(cmd)
	await.True(t, "the process to run sleep itself", func() bool {
		exe, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "exe"))
		return strings.HasSuffix(exe, "sleep") || strings.Contains(exe, "coreutils")
	})
}

func TestTheGroupDiesWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pidFile := filepath.Join(t.TempDir(), "pid")
	cmd := shell.Command(ctx, "sleep 600 & echo $! > "+pidFile+"; wait", t.TempDir(), nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid string
	await.True(t, "the pid of the child", func() bool {
		b, _ := os.ReadFile(pidFile)
		pid = strings.TrimSpace(string(b))
		return strings.HasSuffix(string(b), "\n")
	})
	cancel()
	_ = cmd.Wait()
	await.True(t, "process "+pid+" to die with its group", func() bool {
		_, err := os.Readlink("/proc/" + pid + "/exe")
		return err != nil
	})
}

// The list of variables is git's own.
func TestEnvironIsThatOfNoRepository(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		t.Skip("no git")
	}
	for name := range strings.FieldsSeq(string(out)) {
		t.Setenv(name, "astray")
	}
	t.Setenv("PAWL_KEEP", "1")
	env := shell.Environ()
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasSuffix(kv, "=astray") }) {
		t.Errorf("a variable of git's is left: %v", env)
	}
	if !slices.Contains(env, "PAWL_KEEP=1") {
		t.Error("a variable of the user's is gone")
	}
}
