// Package testrun tells tests how they run: in CI or at night, with or without the race
// detector. CI runs part of the slow tests; the nightly run (make nightly) runs all of them.
// Only tests may import this package.
package testrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
