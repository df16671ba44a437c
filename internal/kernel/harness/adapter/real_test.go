package adapter

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRealHyperfine reads what the installed hyperfine writes today.
func TestRealHyperfine(t *testing.T) {
	program, err := exec.LookPath("hyperfine")
	if err != nil {
		t.Skip("hyperfine is not installed")
	}
	path := filepath.Join(t.TempDir(), "run.json")
	out, err := exec.CommandContext(t.Context(), program, "--style", "none", "-N", "--runs", "4",
		"-L", "word", "a,b", "--export-json", path, "echo {word}").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run, err := ReadFile(t.Context(), path, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	wholesome(t, run)
	for i, name := range []string{"echo a/word-a", "echo b/word-b"} {
		if c := run.Cases[i]; c.Name() != name || len(c.Rounds[0].Samples) != 4 {
			t.Errorf("case %d is %s with %d samples, want %s with 4", i, c.Name(), len(c.Rounds[0].Samples), name)
		}
	}
}

// TestRealGo reads what this Go's testing package prints.
func TestRealGo(t *testing.T) {
	var out strings.Builder
	for i := range 3 {
		r := testing.BenchmarkResult{N: 1000, T: time.Duration(i+1) * time.Millisecond, Bytes: 64, MemAllocs: 2000, MemBytes: 32000}
		fmt.Fprintf(&out, "BenchmarkMul/n=64-8\t%s\t%s\n", r, r.MemString())
	}
	run := mustRead(t, "", out.String())
	want := map[string][]float64{
		"Mul/n=64-8":           {1000, 2000, 3000},
		"Mul/n=64-8:B/s":       {64e6, 32e6, 21.33e6},
		"Mul/n=64-8:B/op":      {32, 32, 32},
		"Mul/n=64-8:allocs/op": {2, 2, 2},
	}
	if len(run.Cases) != len(want) {
		t.Errorf("%d cases, want %d", len(run.Cases), len(want))
	}
	for _, c := range run.Cases {
		for i, v := range c.Rounds[0].Samples {
			if v != want[c.Name()][i] {
				t.Errorf("%s: sample %d is %v, want %v", c.Name(), i, v, want[c.Name()])
			}
		}
	}
}
