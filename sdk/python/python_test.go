// Package python_test runs the tests of the Python SDK, so that `go test ./...` covers it.
package python_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestPytest(t *testing.T) {
	t.Parallel()
	python, err := findPython(t)
	if err != nil {
		t.Skipf("the Python SDK is not tested: %v", err)
	}
	noteInputs(t, "*.py", "pawl_perf/*.py", "testdata/*/*.py", "testdata/*/*/*.py", "testdata/*/*/*/*.py", "../../examples/sdpa-pytorch/*.py", "../../examples/matmul-c/evolve.py",
		"../../docs/how-to/*python.md", "../../docs/how-to/agents-loops.md")
	cmd := exec.CommandContext(t.Context(), python, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1") // plugins of this machine change what tests see
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	t.Logf("%s\n%s", cmd, out)
}

// findPython returns an interpreter that has pytest. The one in PATH is often not the
// system's, where distributions install pytest and torch, so both are asked.
func findPython(t *testing.T) (string, error) {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if exec.CommandContext(t.Context(), path, "-c", "import pytest").Run() == nil {
			return path, nil
		}
	}
	return "", errors.New("no python3 with pytest was found in /usr/bin or PATH; install pytest to run these tests")
}

// noteInputs reads the files that pytest will read. The go command repeats a cached
// result unless a file that the test itself opened has changed.
func noteInputs(t *testing.T, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		for _, path := range paths {
			if _, err := os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}
