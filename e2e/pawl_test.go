package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/measure"
)

// binary is the pawl under test, and shared a folder of all tests.
var binary, shared string

func TestMain(m *testing.M) {
	os.Exit(testrun.WithPawl(m, func(pawl, dir string) { binary, shared = pawl, dir }))
}

// result is what a command left.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
	cpu            time.Duration // CPU time, with that of its processes
}

// pawl runs a command in a folder, with locks of the test's own.
func pawl(t *testing.T, dir string, args ...string) result {
	t.Helper()
	cmd := command(t, dir, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	r := result{stdout: out.String(), stderr: errs.String(), took: time.Since(began)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("pawl %v: %v", args, err)
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return r
}

func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PAWL_LOCK_DIR="+lockDir(t), "PAWL_CACHE="+filepath.Join(lockDir(t), "cache"), "NO_COLOR=1")
	return cmd
}

var lockDirs = map[string]string{}

// lockDir is one folder a test: tests must not wait for each other, and must
// not meet a pawl that a person runs on this machine.
func lockDir(t *testing.T) string {
	t.Helper()
	if lockDirs[t.Name()] == "" {
		lockDirs[t.Name()] = t.TempDir()
	}
	return lockDirs[t.Name()]
}

func (r result) want(t *testing.T, code int, contains ...string) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", r.code, code, r.stdout, r.stderr)
	}
	for _, c := range contains {
		if !strings.Contains(r.stdout+r.stderr, c) {
			t.Errorf("the output does not say %q\nstdout:\n%s\nstderr:\n%s", c, r.stdout, r.stderr)
		}
	}
	return r
}

// copyExample puts an example's sources into a folder of its own, as a user who
// knows nothing of this repository would have them.
func copyExample(t *testing.T, name string, without ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join("../examples", name))))
	for _, f := range append(without, "results", "harness") {
		must(t, os.RemoveAll(filepath.Join(dir, f)))
	}
	return dir
}

// withSDK puts pawl.h beside the sources.
func withSDK(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile("../sdk/cpp/pawl.h")
	must(t, err)
	write(t, filepath.Join(dir, "pawl.h"), string(b))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), 0o644))
}

var git = testrun.Git

func load(t *testing.T, path string) *measure.Run {
	t.Helper()
	run, err := measure.Load(path)
	must(t, err)
	return run
}

var must = testrun.Must

func needsTime(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures for real")
	}
}
