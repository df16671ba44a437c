package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// A request that is cancelled in the middle of a build, a measurement or a search is
// answered, and nothing that it started keeps running.
func TestCancel_EndsEverything(t *testing.T) {
	cancelEach(t, func(*testing.T, time.Duration) {})
}

// On an idle machine the answer comes within a second.
func TestCancel_IsAnsweredInASecond(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("measures time: make lab PAGE=agents")
	}
	cancelEach(t, func(t *testing.T, took time.Duration) {
		t.Helper()
		t.Logf("answered after %v", took.Round(time.Millisecond))
		if took > time.Second {
			t.Errorf("it took %v, want at most a second", took)
		}
	})
}

// cancelEach cancels a build, a measurement and a search, and calls answered with the time
// that each answer took.
func cancelEach(t *testing.T, answered func(t *testing.T, took time.Duration)) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures for real")
	}
	dir, fast := checkout(t)
	write(t, filepath.Join(dir, "matmul.c"), fast)
	c := dial(t, dir)
	if a := c.call("session_start", nil); a.Exit != 0 {
		t.Fatalf("%.600s", a.line)
	}
	few := map[string]any{"case": "matmul/N192", "samples": 5, "rounds": 2}
	for _, s := range []struct {
		name, tool string
		args       map[string]any
		begun      string   // what is said when it is in the middle
		slow       bool     // the compiler sleeps
		before     []string // tools that the gates want first
	}{
		{"build", "build", nil, "building", true, []string{"doctor"}},
		{"bench", "bench", map[string]any{"samples": 5000, "rounds": 50}, "round 1", false, []string{"preflight", "fuzz"}},
		{"tune", "tune", map[string]any{"case": "matmul/N192", "seconds": 300}, "evaluation", false, []string{"bench", "profile"}},
	} {
		t.Run(s.name, func(t *testing.T) {
			for _, tool := range s.before {
				args := map[string]map[string]any{"fuzz": {"points": 3}, "bench": few, "profile": {"case": "matmul/N192"}}[tool]
				if a := c.call(tool, args); a.Refused != "" || a.Exit > 2 {
					t.Fatalf("%s: %.1500s", tool, a.line)
				}
			}
			makefile := filepath.Join(dir, "Makefile")
			was, err := os.ReadFile(makefile)
			must(t, err)
			if s.slow {
				write(t, makefile, strings.ReplaceAll(string(was), "harness:\n", "harness:\n\tsleep 2071.25\n"))
				defer write(t, makefile, string(was))
			}
			id := c.beginCall(s.tool, s.args)
			c.hears(s.begun, id)
			began := time.Now()
			c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}}, "notification", "notifications/cancelled")
			m := c.answer(id)
			answered(t, m.at.Sub(began))
			if !strings.Contains(m.line, "cancel") {
				t.Errorf("the answer does not say that it was cancelled: %.600s", m.line)
			}
			await.True(t, "everything that it started to end", func() bool {
				return len(below(c.cmd.Process.Pid)) == 0 && !running("sleep\x002071.25")
			})
		})
	}
}

// hears waits until the server says that it is at a point of a request.
func (c *client) hears(what string, id int) {
	c.t.Helper()
	token := `"progressToken":"p` + strconv.Itoa(id) + `"`
	await.TrueWithin(c.t, 10*time.Minute, fmt.Sprintf("the server to say %q", what), func() bool {
		select {
		case m := <-c.wait[id]:
			c.t.Fatalf("answered before it said %q: %.1500s", what, m.line)
		default:
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.ContainsFunc(c.notes, func(n message) bool { return strings.Contains(n.line, token) && strings.Contains(n.line, what) })
	})
}

// below are the command lines of everything that a process started and that still runs.
func below(pid int) []string {
	var list []string
	children, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, path := range children {
		text, _ := os.ReadFile(path)
		for child := range strings.FieldsSeq(string(text)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if len(line) > 0 {
				list = append(list, string(line))
			}
			n, _ := strconv.Atoi(child)
			list = append(list, below(n)...)
		}
	}
	return list
}

// running reports whether a process with this command line runs.
func running(line string) bool {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if text, _ := os.ReadFile(path); strings.HasPrefix(string(text), line) {
			return true
		}
	}
	return false
}

// A client that goes away takes its work with it.
func TestClientGoesAway(t *testing.T) {
	dir, _ := checkout(t)
	text, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	must(t, err)
	write(t, filepath.Join(dir, "Makefile"), strings.ReplaceAll(string(text), "harness:\n", "harness:\n\tsleep 2072.25\n"))
	c := dial(t, dir)
	if a := c.call("session_start", nil); a.Exit != 0 {
		t.Fatalf("%.600s", a.line)
	}
	c.call("doctor", nil) // the gates want it
	id := c.beginCall("build", nil)
	c.hears("building", id)
	c.in.Close()
	await.True(t, "the compiler to end", func() bool { return !running("sleep\x002072.25") })
}
