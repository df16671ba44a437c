package pawl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program on the page about the Go packages judges a record.
func TestGoPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/how-to/go-packages.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(page), "```go\n")
	program, _, closed := strings.Cut(program, "```\n")
	if !found || !closed {
		t.Fatal("the page has no program")
	}
	if lines := strings.Count(program, "\n"); lines > 45 {
		t.Errorf("the program has %d lines", lines)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "run", file, "measure/testdata/v1/run.json").CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited { //nolint:errorlint // as it is returned
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(out), "attention on NVIDIA L4, 2 rounds\n") {
		t.Errorf("%s", out)
	}
}
