package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestLabEntry is what an entry in the journal costs a command: pawl suite check with and
// without an open session, in turns, for docs/lab/learning.md.
func TestLabEntry(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("a figure for the docs: set PAWL_LAB")
	}
	const pairs = 60
	folders := [2]string{t.TempDir(), t.TempDir()}
	for _, dir := range folders {
		suite := "version: 1\nharness: {command: ./harness}\nbenchmarks: {matmul: {matrix: {N: [256, 512]}}}\n"
		if err := os.WriteFile(filepath.Join(dir, "pawl.yaml"), []byte(suite), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(dir string, args ...string) time.Duration {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Dir = dir
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return time.Since(began)
	}
	run(folders[1], "session", "start", "--goal", "x")
	var times [2][]time.Duration
	var more []time.Duration
	for range pairs {
		without, with := run(folders[0], "suite", "check"), run(folders[1], "suite", "check")
		times[0], times[1], more = append(times[0], without), append(times[1], with), append(more, with-without)
	}
	for _, list := range [][]time.Duration{times[0], times[1], more} {
		slices.Sort(list)
		t.Logf("median %v, quartiles %v and %v", list[pairs/2], list[pairs/4], list[3*pairs/4])
	}
}
