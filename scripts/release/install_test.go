package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// shell types commands in a folder, without a network.
type shell struct {
	dir string
	env []string
	in  []string // a command that starts others in a container
}

func newShell(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, ".path")
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	// The Python that CI installs; the first one in PATH may be another.
	python := "/usr/bin/python3"
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import ensurepip, pytest").CombinedOutput(); err != nil {
		t.Skipf("no python3 with venv and pytest: %s", out)
	}
	if err := os.Symlink(python, filepath.Join(path, "python3")); err != nil {
		t.Fatal(err)
	}
	return &shell{dir: dir, env: append(
		os.Environ(), "PATH="+path+":/usr/bin:/bin", "HOME="+dir, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=", "LC_ALL=C",
		"PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_CACHE_DIR=1", "PIP_CONFIG_FILE=/dev/null", "PIP_NO_COLOR=1",
	)}
}

func (s *shell) run(t *testing.T, command string) string {
	t.Helper()
	argv := append(slices.Clone(s.in), "/bin/sh", "-c", command)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("$ %s: %v\n%s", command, err, out)
	}
	return string(out)
}

func (s *shell) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// files returns what is in the virtual environment.
func (s *shell) files(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(filepath.Join(s.dir, ".venv"), func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "__pycache__" {
			return fs.SkipDir // of pip itself
		}
		list = append(list, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// withWheel puts a wheel with the pawl of this machine into the folder.
func (s *shell) withWheel(t *testing.T) {
	t.Helper()
	binary, err := testrun.Pawl(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	files, err := packageFiles(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	name, wheel, err := pack("9.8.7", []string{"linux_" + machine}, append(files, file{name: "pawl_perf/bin/pawl", data: data, program: true}))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, name, wheel)
}

// The page is typed as it stands, in a fresh environment without a network. "..." stands for what
// depends on the machine.
func TestInstallPage_IsTyped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the wheel of this test is for Linux")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", "install-pip.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	s.withWheel(t)
	var fresh []string // what the environment holds before anything is installed
	steps := testrun.Steps(string(text))
	if len(steps) < 6 {
		t.Fatalf("the page has only %d commands", len(steps))
	}
	for n, step := range steps {
		if got := s.run(t, step.Command); !matches(step.Output, got) {
			t.Errorf("$ %s\n%s\nwant\n%s", step.Command, got, step.Output)
		}
		if n == 0 {
			fresh = s.files(t)
		}
	}
	if diff := cmp.Diff(fresh, s.files(t)); diff != "" {
		t.Errorf("uninstalling leaves or takes files (-before +after):\n%s", diff)
	}
	s.run(t, ".venv/bin/pip install pawl_perf-*.whl")
	testInstalled(t, s)
}

// testInstalled uses the command, the package and the plugin.
func testInstalled(t *testing.T, s *shell) {
	t.Helper()
	if got := s.run(t, ".venv/bin/python -m pawl_perf help"); !strings.Contains(got, "pawl") {
		t.Errorf("python -m pawl_perf says %q", got)
	}
	if got := s.run(t, ".venv/bin/pawl 'no such' --x; echo $?"); !strings.HasSuffix(got, "\n4\n") {
		t.Errorf("a wrong command ends with %q, want pawl's exit code", got)
	}
	got := s.run(t, `.venv/bin/python -c 'import sys, pawl_perf
assert not {"asyncio", "numpy", "pawl_perf.submit"} & set(sys.modules)
from pawl_perf import evaluate, harness, oracle, record, SubmitError
print(harness.__version__, oracle.__name__, evaluate.__module__)
try:
    evaluate(suite="/nowhere")
except SubmitError as e:
    print("refused:", bool(str(e)))'`)
	if want := regexp.MustCompile(`^\d+\.\d+\.\d+ pawl_perf\.oracle pawl_perf\.submit\nrefused: True\n$`); !want.MatchString(got) {
		t.Errorf("the package says %q", got)
	}
	testPlugin(t, s)
}

// testPlugin judges a test whose clock is a stand-in: the verdict does not depend on the machine.
func testPlugin(t *testing.T, s *shell) {
	t.Helper()
	s.write(t, "kernel.py", []byte("MS = 100\n"))
	s.write(t, ".gitignore", []byte("*\n!kernel.py\n!test_it.py\n"))
	s.write(t, "test_it.py", []byte(`import random, time, kernel

def test_sum(pawl, monkeypatch):
    now = [0.0]
    def clock():
        now[0] += kernel.MS * (1 + 0.002 * random.random()) / 1e3
        return now[0]
    monkeypatch.setattr(time, "perf_counter", clock)
    pawl.bench(lambda: 1, samples=9)
`))
	s.run(t, "git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m one")
	pytest := "PYTHONPATH=$(/usr/bin/python3 -c 'import os, pytest; print(os.path.dirname(os.path.dirname(pytest.__file__)))') .venv/bin/python -m pytest -p no:cacheprovider --pawl-base HEAD test_it.py; echo $?"
	if got := s.run(t, pytest); !strings.Contains(got, "1 passed") || !strings.HasSuffix(got, "\n0\n") {
		t.Errorf("the same code:\n%s", got)
	}
	s.write(t, "kernel.py", []byte("MS = 120\n"))
	if got := s.run(t, pytest); !strings.Contains(got, "test_it.test_sum: regression.") || !strings.Contains(got, "1 failed") || !strings.HasSuffix(got, "\n1\n") {
		t.Errorf("slower code:\n%s", got)
	}
}

// matches compares outputs. "..." stands for anything within a line, and at its end also for more lines.
func matches(want, got string) bool {
	pattern := regexp.QuoteMeta(want)
	pattern = strings.ReplaceAll(pattern, `\.\.\.`+"\n", `(?s:.*)`+"\n")
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, `.*`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(got)
}
