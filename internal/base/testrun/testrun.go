// Package testrun tells tests how they run: in CI or at night, with or without the race
// detector. CI runs part of the slow tests; the nightly run (make nightly) runs all of them. It
// also has what tests of several packages need: the pawl binary, rows of a lab, steps of a page,
// compiled code. Only tests may import this package.
package testrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Nightly reports whether all tests should run: PAWL_NIGHTLY is set.
func Nightly() bool { return os.Getenv("PAWL_NIGHTLY") != "" }

// Times returns how often to try something: few times in CI, many times at night.
func Times(few, many int) int {
	if Nightly() {
		return many
	}
	return few
}

// NightlyOnly skips the test in CI.
func NightlyOnly(t testing.TB) {
	t.Helper()
	if !Nightly() {
		t.Skip("nightly test: run `make nightly`")
	}
}

// SkipRace skips a test of sequential arithmetic under the race detector, which makes it ten
// times slower and finds nothing. CI also runs it without the detector.
func SkipRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("sequential arithmetic: runs without the race detector")
	}
}

// Pawl returns the path of the pawl binary for end-to-end tests: the value of PAWL, or a binary
// that it builds into dir. It builds without the race detector, to measure the real program.
func Pawl(dir string) (string, error) {
	if named := os.Getenv("PAWL"); named != "" {
		return named, nil
	}
	binary := filepath.Join(dir, "pawl")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "github.com/goatnote-inc/pawl/cmd/pawl")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return binary, nil
}

// Rows returns the lines of a file of JSON, to which a lab adds results. None if there is no file yet.
func Rows[T any](t testing.TB, path string) []T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var rows []T
	for line := range bytes.Lines(text) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rows = append(rows, row)
	}
	return rows
}

// Step is a command of a page, and what the page shows below it.
type Step struct{ Command, Output string }

var consoleBlock = lazyregexp.New("(?s)```console\n(.*?)```")

// Steps returns what the console blocks of a page tell its readers to type.
func Steps(page string) []Step {
	var steps []Step
	for _, block := range consoleBlock.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				steps = append(steps, Step{Command: strings.TrimSpace(command)})
				continue
			}
			steps[len(steps)-1].Output += line
		}
	}
	return steps
}

// Compile compiles a text with a real compiler and returns the path of what came out, beside the source. It skips the
// test where the compiler is missing.
func Compile(t testing.TB, out, source, text string, command ...string) string {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("there is no %s here", command[0])
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, source), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], source, "-o", out)...)
	cmd.Dir = dir
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, log)
	}
	return filepath.Join(dir, out)
}
