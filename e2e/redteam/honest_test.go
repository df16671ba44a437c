package redteam

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// honest are suites whose kernels come in several right variants. The change takes
// another one in all of them at once, so each case of a run is a variant.
var honest = []struct {
	suite    string
	file     string // that has the line #define VARIANT 0
	variants int    // beside the base
	opencl   bool
	short    int // one variant that every CI run tries
}{
	{"honest-host", "variant.h", 11, false, 7},
	{"honest-threads", "variant.h", 4, false, 0},
	{"honest-long", "variant.h", 2, false, 0},
	{"honest-opencl", "kernel.cl", 7, true, 0},
}

// flagged tells whether a case is called a cheat, or doubted. Slower is slower, and
// noise is noise.
func flagged(c judged) bool {
	doubts := []string{"more than 10 times", "definition changed", "clocks disagree", "implausible"}
	for _, d := range doubts {
		if strings.Contains(c.Sentence, d) {
			return true
		}
	}
	return c.Verdict == "broken" || c.Verdict == "missing"
}

// No honest kernel is called a cheat, at no level that runs kernels for their time.
func TestHonest(t *testing.T) {
	var mu sync.Mutex
	var all tally
	took := map[string]time.Duration{}
	t.Cleanup(func() {
		table(t, "honest.md", all.rows())
		for _, s := range honest {
			t.Logf("%s: trusted %.0f s, checked %.0f s of wall time", s.suite, took[s.suite+"trusted"].Seconds(), took[s.suite+"checked"].Seconds())
		}
	})
	for _, s := range honest {
		for _, level := range []string{"trusted", "checked"} {
			for v := 1; v <= s.variants; v++ {
				t.Run(fmt.Sprintf("%s/%s/%d", s.suite, level, v), func(t *testing.T) {
					inCI(t, v == s.short)
					needsNumPy(t)
					if s.opencl {
						needsOpenCL(t)
					}
					t.Parallel()
					dir := repository(t, s.suite)
					choose(t, filepath.Join(dir, s.file), v)
					got := judge(t, dir, "--trust", level, "--fuzz", "0")
					if len(got.Cases) == 0 || got.Code > 2 {
						t.Fatalf("nothing was judged:\n%s", got.Said)
					}
					mu.Lock()
					defer mu.Unlock()
					took[s.suite+level] += got.Took
					for _, c := range got.Cases {
						t.Logf("%s: %s: %s", c.Name, c.Verdict, c.Sentence)
						if flagged(c) {
							t.Errorf("%s is honest, and called %s: %s", c.Name, c.Verdict, c.Sentence)
						}
						all = append(all, counted{level, strings.TrimPrefix(s.suite, "honest-"), c.Name, c.Verdict, flagged(c)})
					}
				})
			}
		}
	}
}

// tally is every variant that was judged.
type tally []counted

type counted struct {
	level, suite, name, verdict string
	flagged                     bool
}

// rows has one line for each kernel of a suite: how many of its variants ended how.
func (all tally) rows() []string {
	lines := map[string]map[string]int{}
	for _, c := range all {
		key := fmt.Sprintf("| %s | %s | %s |", c.level, c.suite, c.name)
		if lines[key] == nil {
			lines[key] = map[string]int{}
		}
		lines[key]["all"]++
		lines[key][c.verdict]++
		if c.flagged {
			lines[key]["flagged"]++
		}
	}
	var rows []string
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		n := lines[key]
		rows = append(rows, fmt.Sprintf("%s %d | %d | %d | %d | %d | %d |", key, n["all"], n["improvement"], n["maintained"], n["regression"], n["inconclusive"], n["flagged"]))
	}
	return rows
}

// choose makes a variant the one that is built.
func choose(t *testing.T, file string, variant int) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	line := []byte("#define VARIANT 0\n")
	if !bytes.Contains(text, line) {
		t.Fatalf("%s does not say which variant it is", file)
	}
	write(t, file, bytes.Replace(text, line, fmt.Appendf(nil, "#define VARIANT %d\n", variant), 1))
}

func needsNumPy(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import numpy")
	if err := cmd.Run(); err != nil {
		t.Skip("the oracle needs NumPy of the system's Python")
	}
}
