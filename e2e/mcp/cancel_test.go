package mcp

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A request that is cancelled is answered within a second, and nothing of it runs on: in
// the middle of a build, of a measurement, of a search. The second is for a machine that
// does nothing else: CI runs this one before the others.
func TestCancelInASecond(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for real")
	}
	most := 10 * time.Second
	if os.Getenv("PAWL_ALONE") != "" && stolen(t) < 0.2 {
		most = time.Second
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
				write(t, makefile, strings.ReplaceAll(string(was), "harness:\n", "harness:\n\tsleep 71.25\n"))
				defer write(t, makefile, string(was))
			}
			id := c.beginCall(s.tool, s.args)
			if !c.hears(s.begun, id) {
				return
			}
			began := time.Now()
			c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}}, "notification", "notifications/cancelled")
			took := c.answer(id).at.Sub(began)
			t.Logf("answered after %v", took.Round(time.Millisecond))
			if took > most {
				t.Errorf("it took %v, want %v", took, most)
			}
			for end := time.Now().Add(20 * time.Second); len(below(c.cmd.Process.Pid)) > 0 || s.slow && anybody("sleep\x0071.25"); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) { // a busy machine lets the killed wait
					t.Fatalf("still running: %q", below(c.cmd.Process.Pid))
				}
			}
		})
	}
}

// stolen is which part of the last second this machine was not given.
func stolen(t *testing.T) float64 {
	t.Helper()
	read := func() (steal, all float64) {
		text, err := os.ReadFile("/proc/stat")
		must(t, err)
		line, _, _ := strings.Cut(string(text), "\n")
		for i, field := range strings.Fields(line)[1:] {
			n, _ := strconv.ParseFloat(field, 64)
			if all += n; i == 7 {
				steal = n
			}
		}
		return steal, all
	}
	// Only who wants the processor is refused it.
	stop := time.Now().Add(time.Second)
	steal, all := read()
	for time.Now().Before(stop) {
	}
	steal2, all2 := read()
	return (steal2 - steal) / max(1, all2-all)
}

// hears waits until the server says that it is at a point of a request.
func (c *client) hears(what string, id int) bool {
	c.t.Helper()
	token := `"progressToken":"p` + strconv.Itoa(id) + `"`
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		for _, n := range c.notes {
			if strings.Contains(n.line, token) && strings.Contains(n.line, what) {
				c.mu.Unlock()
				return true
			}
		}
		c.mu.Unlock()
		select {
		case m := <-c.wait[id]:
			c.t.Errorf("answered before it said %q: %.1500s", what, m.line)
			return false
		default:
		}
	}
	c.t.Errorf("it never said %q", what)
	return false
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

// anybody tells whether a process with this command line runs.
func anybody(line string) bool {
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
	write(t, filepath.Join(dir, "Makefile"), strings.ReplaceAll(string(text), "harness:\n", "harness:\n\tsleep 72.25\n"))
	c := dial(t, dir)
	if a := c.call("session_start", nil); a.Exit != 0 {
		t.Fatalf("%.600s", a.line)
	}
	c.call("doctor", nil) // the gates want it
	id := c.beginCall("build", nil)
	if !c.hears("building", id) {
		return
	}
	c.in.Close()
	for end := time.Now().Add(20 * time.Second); anybody("sleep\x0072.25"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the compiler still runs")
		}
	}
}
