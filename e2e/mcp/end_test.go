package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	forever = "2073.25" // seconds, to know the process by
)

// The server ends when its client goes away and at SIGTERM, also while it builds or runs a candidate. Nothing that it
// started keeps running, and no worktree stays.
func TestEnd(t *testing.T) {
	builds := strings.Replace(axpySuite, `"gcc`, `"sleep `+forever+`; gcc`, 1)
	for _, test := range []struct {
		name, file, text, told string
		end                    func(in io.Closer, server *os.Process) error
	}{
		{"the input ends during a build", "pawl.yaml", builds, "building", func(in io.Closer, _ *os.Process) error { return in.Close() }},
		{"SIGTERM during a build", "pawl.yaml", builds, "building", func(_ io.Closer, p *os.Process) error { return p.Signal(syscall.SIGTERM) }},
		{"the input ends during a run", "kernel.c", hungKernel, "looking for wrong results", func(in io.Closer, _ *os.Process) error { return in.Close() }},
		{"SIGTERM during a run", "kernel.c", hungKernel, "looking for wrong results", func(_ io.Closer, p *os.Process) error { return p.Signal(syscall.SIGTERM) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			top := axpy(t)
			cmd := serverCommand(t, filepath.Join(top, "k"))
			in, err := cmd.StdinPipe()
			must(t, err)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			lines := make(chan string, 100)
			go func() {
				for s := bufio.NewScanner(out); s.Scan(); {
					lines <- s.Text()
				}
				close(lines)
			}()
			write(t, filepath.Join(top, "k", test.file), test.text)
			_, err = io.WriteString(in, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"submit","arguments":{"stage":"smoke","budget_s":600},"_meta":{"progressToken":"p"}}}`+"\n")
			must(t, err)
			for line := range lines {
				if strings.Contains(line, `"id":2`) {
					t.Fatalf("it answered early: %s", line)
				}
				if strings.Contains(line, test.told) {
					break
				}
			}
			var started []int
			await.True(t, "something to run for a while", func() bool { // otherwise the test shows nothing
				before := below(cmd.Process.Pid)
				time.Sleep(300 * time.Millisecond)
				started = below(cmd.Process.Pid)
				return slices.ContainsFunc(started, func(pid int) bool { return slices.Contains(before, pid) })
			})
			must(t, test.end(in, cmd.Process))
			ended := make(chan error, 1)
			go func() {
				for range lines { // until the server closes its output
				}
				ended <- cmd.Wait()
			}()
			if err := await.ReceiveWithin(t, 30*time.Second, "the end of the server", ended); err != nil {
				t.Errorf("%v: %s", err, cmd.Stderr)
			}
			for _, pid := range started {
				await.True(t, "the end of process "+strconv.Itoa(pid), func() bool { return syscall.Kill(pid, 0) != nil })
			}
			if left, _ := filepath.Glob(filepath.Join(top, ".git", "pawl", "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// SIGTERM ends a server on a socket and its running call, whose client stays.
func TestEnd_Socket(t *testing.T) {
	top := axpy(t)
	write(t, filepath.Join(top, "k", "kernel.c"), hungKernel)
	conn := make(chan net.Conn, 1)
	t.Cleanup(func() { (<-conn).Close() }) // after the server's end
	path, server := startSocket(t, filepath.Join(top, "k"))
	c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
	must(t, err)
	conn <- c
	_, err = io.WriteString(c, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"submit","arguments":{"stage":"smoke","budget_s":600},"_meta":{"progressToken":"p"}}}`+"\n")
	must(t, err)
	told := false
	for s := bufio.NewScanner(c); !told && s.Scan(); {
		told = strings.Contains(s.Text(), "looking for wrong results")
	}
	await.True(t, "the kernel to run", func() bool { return len(below(server.Pid)) > 0 })
}

// below returns the processes that a process started, and those that they started.
func below(pid int) []int {
	var list []int
	children, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, path := range children {
		text, _ := os.ReadFile(path)
		for child := range strings.FieldsSeq(string(text)) {
			n, _ := strconv.Atoi(child)
			list = append(append(list, n), below(n)...)
		}
	}
	return list
}

// A call that is canceled ends, and the next one is answered.
func TestCancel(t *testing.T) {
	top := axpy(t)
	a := start(t, filepath.Join(top, "k"))
	write(t, filepath.Join(top, "k", "kernel.c"), hungKernel)
	ctx, cancel := contextWithCancel(t)
	done := make(chan error, 1)
	go func() {
		_, err := a.session.CallTool(ctx, toolCall("submit", map[string]any{"stage": "smoke", "budget_s": 600}))
		done <- err
	}()
	await.True(t, "the kernel to run", func() bool { return a.heard("looking for wrong results") })
	cancel()
	if err := await.Receive(t, "the end of the call", done); err == nil {
		t.Error("a canceled call was answered")
	}
	write(t, filepath.Join(top, "k", "kernel.c"), fastKernel)
	if r := a.call("submit", map[string]any{"stage": "compile"}); r.str("status") != "compiled" {
		t.Errorf("%s", r.text)
	}
}

// An answer is made from its own submission: after one that was measured, one that does not compile has no verdict.
func TestStaleVerdict_IsImpossible(t *testing.T) {
	top := axpy(t)
	a := start(t, filepath.Join(top, "k"))
	write(t, filepath.Join(top, "k", "kernel.c"), fastKernel)
	first := a.call("submit", map[string]any{"stage": "quick", "budget_s": 300})
	if first.str("status") != "measured" || first.str("verdict") == "" {
		t.Fatalf("%s", first.text)
	}
	write(t, filepath.Join(top, "k", "kernel.c"), kernelOf("c[i] = oops;"))
	second := a.call("submit", map[string]any{"stage": "quick"})
	for _, field := range []string{"verdict", "speedup", "interval", "worst", "rounds"} {
		if second.doc[field] != nil {
			t.Errorf("%s of the first submission: %s", field, second.text)
		}
	}
	var doc struct {
		Errors []struct {
			File         string
			Line, Column int
			Message      string
		}
	}
	must(t, json.Unmarshal([]byte(second.text), &doc))
	if second.str("status") != "compile_error" || second.str("id") == first.str("id") || len(doc.Errors) == 0 || doc.Errors[0].File != "kernel.c" || doc.Errors[0].Line != 3 {
		t.Errorf("%s", second.text)
	}
}
