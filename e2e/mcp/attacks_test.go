package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// rawClient speaks JSON-RPC without the SDK, which would not send what attackers send.
type rawClient struct {
	conn  net.Conn
	lines *bufio.Scanner
}

func dialRaw(t *testing.T, path string) *rawClient {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	c := &rawClient{conn, bufio.NewScanner(conn)}
	c.lines.Buffer(nil, 16<<20)
	_, err = io.WriteString(conn, hello)
	must(t, err)
	return c
}

// call sends the arguments of a tool as they are, and returns the line that answers; "" if the server hung up.
func (c *rawClient) call(id int, tool, arguments string) string {
	_, err := fmt.Fprintf(c.conn, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
	for err == nil && c.lines.Scan() {
		if strings.Contains(c.lines.Text(), fmt.Sprintf(`"id":%d,`, id)) || strings.HasSuffix(c.lines.Text(), fmt.Sprintf(`"id":%d}`, id)) {
			return c.lines.Text()
		}
	}
	return ""
}

// refused reports whether an answer is an error of the call or of the protocol, or a status that says so, and leaks nothing.
func refused(line string) bool {
	return (strings.Contains(line, `"isError":true`) || strings.Contains(line, `"error":{`) || strings.Contains(line, `\"status\":\"refused\"`)) && !strings.Contains(line, "root:x:")
}

// Malformed and hostile arguments are refused, and the server answers the next call.
func TestAttacks_Arguments(t *testing.T) {
	top := axpy(t)
	write(t, filepath.Join(top, "k", "kernel.c"), fastKernel)
	path := serveSocket(t, filepath.Join(top, "k"))
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	suite := func(text string) string {
		return `{"stage":"compile","diff":` + quoted(replacing("k/pawl.yaml", axpySuite, text)) + `}`
	}
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	for _, attack := range []struct{ name, tool, arguments string }{
		{"a key that is there twice, the last one out of the repository", "submit", `{"suite":"k","suite":"../../etc"}`},
		{"a key in other letters", "submit", `{"SUITE":"k"}`},
		{"two spellings of the budget", "submit", `{"stage":"compile","budget_s":1,"Budget_S":100000}`},
		{"a key with an escape", "history", `{"su\u0069te":"../../etc/passwd"}`},
		{"deeply nested arguments", "submit", `{"diff":` + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000) + "}"},
		{"a list for a text", "submit", `{"diff":["--- a/k/kernel.c"]}`},
		{"more candidates than a batch may have", "submit_batch", `{"stage":"compile","candidates":[` + strings.TrimSuffix(strings.Repeat(`{"commit":"HEAD"},`, 100_000), ",") + `]}`},
		{"a budget that is no number of seconds", "submit", `{"budget_s":1e999}`},
		{"a budget as a text", "submit", `{"budget_s":"1000000"}`},
		{"a slash that is none", "history", `{"suite":"k／pawl.yaml"}`},
		{"a dot that is none", "history", `{"suite":"k/pawl․yaml"}`},
		{"a letter that is none", "history", `{"suite":"ｋ"}`},
		{"git's folder with an invisible letter", "submit", `{"diff":` + quoted("--- /dev/null\n+++ b/.g\u200cit/hooks/post-checkout\n@@ -0,0 +1 @@\n+x\n") + `}`},
		{"git's folder by its short name", "submit", `{"diff":` + quoted("--- /dev/null\n+++ b/GIT~1/hooks/post-checkout\n@@ -0,0 +1 @@\n+x\n") + `}`},
		{"attributes that run a filter", "submit", `{"diff":` + quoted("--- /dev/null\n+++ b/k/.gitattributes\n@@ -0,0 +1 @@\n+* filter=x\n") + `}`},
		{"the folder of attempts in other letters", "submit", `{"diff":` + quoted("--- /dev/null\n+++ b/k/.PAWL/attempts/pawl/grant.json\n@@ -0,0 +1 @@\n+{}\n") + `}`},
		{"a suite that expands to gigabytes", "submit", suite(axpySuite + bomb)},
		{"a suite that extends a file outside", "submit", suite(axpySuite + "extends: ../../../../../../etc/passwd\n")},
		{"a folder of a commit", "submit", `{"commit":"HEAD:k"}`},
		{"the commit before in this folder", "submit", `{"commit":"@{-1}"}`},
		{"a range of commits", "submit", `{"commit":"HEAD^!"}`},
		{"an attempt before the first", "explain", `{"id":"0"}`},
		{"an attempt by another spelling", "explain", `{"id":"01"}`},
		{"an attempt in other digits", "note", `{"id":"１","text":"x"}`},
		{"an attempt of another folder", "note", `{"id":"../pawl/1","text":"x"}`},
		{"an attempt beyond all numbers", "explain", `{"id":"18446744073709551617"}`},
	} {
		// Of what is no JSON for it the server cannot know the number of the call: it may hang up.
		if line := dialRaw(t, path).call(7, attack.tool, attack.arguments); !refused(line) && (line != "" || attack.name != "deeply nested arguments") {
			t.Errorf("%s: %.600s", attack.name, line)
		}
	}
	c := dialRaw(t, path)
	if line := c.call(1000, "submit", `{"stage":"compile"}`); !strings.Contains(line, `\"status\":\"compiled\"`) {
		t.Errorf("afterwards: %s", line)
	}
	if line := c.call(1001, "note", `{"id":"1","text":`+quoted(strings.Repeat("note ", 500_000))+`}`); refused(line) {
		t.Errorf("a long note: %s", line)
	}
	if line := c.call(1002, "history", `{"count":1}`); len(line) > 4000 {
		t.Errorf("a long note makes a history of %d bytes", len(line))
	}
	if line := c.call(1003, "submit", `{"diff":`+quoted(strings.Repeat("x", 5<<20))+`}`); line != "" && !refused(line) {
		t.Errorf("a message of 5 MiB: %.200s", line)
	}
	if line := dialRaw(t, path).call(1, "history", `{}`); refused(line) || line == "" {
		t.Errorf("another client afterwards: %q", line)
	}
}

// A client cannot cancel the call of another one by its number.
func TestAttacks_CancelOfAnother(t *testing.T) {
	top := axpy(t)
	write(t, filepath.Join(top, "k", "kernel.c"), hungKernel)
	path, server := startSocket(t, filepath.Join(top, "k"))
	a, b := dialRaw(t, path), dialRaw(t, path)
	answer := make(chan string, 1)
	go func() { answer <- a.call(7, "submit", `{"stage":"smoke","budget_s":4}`) }()
	await.True(t, "the kernel to run", func() bool { return len(below(server.Pid)) > 0 })
	_, err := io.WriteString(b.conn, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"x"}}`+"\n")
	must(t, err)
	if line := await.Receive(t, "the answer", answer); !strings.Contains(line, `\"status\":\"timeout\"`) {
		t.Errorf("%s", line)
	}
}

// spentBy returns what all attempts took.
func spentBy(a *agent) float64 {
	a.t.Helper()
	seconds, _ := a.call("history", map[string]any{"suite": "k"}).doc["spent_s"].(float64)
	return seconds
}

// Where the budget is enforced, none of these gets time for nothing: calls that are canceled, whose client goes away, at the same
// time, with tiny budgets, by other names of the suite, and a server that is killed.
func TestAttacks_Budget(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be a client of another account")
	}
	top, state := axpy(t), t.TempDir()
	t.Setenv("PAWL_TEST_STATE", state)
	write(t, filepath.Join(top, "k", "kernel.c"), hungKernel)
	path, server := startKillable(t, filepath.Join(top, "k"), "--total", "1h")
	client := func(path string) (*agent, net.Conn) {
		conn, err := dialAs(t.Context(), other, "unix", path)
		must(t, err)
		return connect(t, &sdk.IOTransport{Reader: conn, Writer: conn}), conn
	}
	a, _ := client(path)
	// running starts a call whose kernel hangs, and returns when the kernel runs.
	running := func(seconds float64) (conn net.Conn, cancel func(), done chan struct{}) {
		t.Helper()
		one, conn := client(path)
		ctx, cancel := contextWithCancel(t)
		done = make(chan struct{})
		go func() {
			defer close(done)
			_, _ = one.session.CallTool(ctx, toolCall("submit", map[string]any{"stage": "smoke", "budget_s": seconds}))
		}()
		await.True(t, "the kernel to run", func() bool { return one.heard("looking for wrong results") })
		return conn, cancel, done
	}
	grows := func(what string, do func()) {
		t.Helper()
		before := spentBy(a)
		do()
		await.True(t, "the cost of "+what, func() bool { return spentBy(a) > before })
	}
	grows("a canceled call", func() {
		_, cancel, done := running(600)
		cancel()
		<-done
	})
	grows("a client that goes away", func() {
		conn, cancel, _ := running(600)
		defer cancel()
		conn.Close()
	})
	grows("tiny budgets", func() {
		for range 3 {
			a.call("submit", map[string]any{"stage": "smoke", "budget_s": 1e-9})
		}
	})
	var names sync.WaitGroup
	before := spentBy(a)
	for _, name := range []string{"k", "./k", "k/pawl.yaml", "k/../k//pawl.yaml", ""} { // at the same time
		names.Go(func() {
			args := map[string]any{"stage": "smoke", "budget_s": 1, "suite": name}
			if res, err := a.session.CallTool(t.Context(), toolCall("submit", args)); err != nil || a.read(res).about.Budget != "enforced" {
				t.Errorf("suite %q: %v", name, err)
			}
		})
	}
	names.Wait()
	if took := spentBy(a) - before; took < 4.9 {
		t.Errorf("five names of a suite and a second for each: %.2f s", took)
	}
	before = spentBy(a)
	const long = 60 // seconds, in which the kernel begins to run even on a busy machine
	_, cancel, _ := running(long)
	defer cancel()
	killed := below(server.Process.Pid)
	must(t, server.Process.Kill())
	_ = server.Wait()
	for _, pid := range killed {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	b, _ := client(serveSocket(t, filepath.Join(top, "k"), "--total", fmt.Sprintf("%.0fs", before+long+4)))
	if took := spentBy(b) - before; took < long-0.1 {
		t.Errorf("a killed server: %.2f s of a budget of %d s were charged", took, long)
	}
	var calls sync.WaitGroup
	for range 8 { // together they get what is left, and no more
		calls.Go(func() {
			_, _ = b.session.CallTool(t.Context(), toolCall("submit", map[string]any{"stage": "smoke", "budget_s": 600}))
		})
	}
	calls.Wait()
	if r := b.call("history", map[string]any{"suite": "k"}); r.doc["left_s"] != 0.0 {
		t.Errorf("%s", r.text)
	}
}

// startKillable starts pawl mcp on a socket, for a test that kills it.
func startKillable(t *testing.T, dir string, args ...string) (path string, server *exec.Cmd) {
	t.Helper()
	folder, err := os.MkdirTemp("", "pawl-mcp-") //nolint:usetesting // that of a test is closed to other accounts
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o755))
	path = filepath.Join(folder, "s")
	server = serverCommand(t, dir, append([]string{"--socket", path}, args...)...)
	server.Stderr = nil
	said, err := server.StderrPipe()
	must(t, err)
	must(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill() })
	_, err = bufio.NewReader(said).ReadString('\n') // it serves
	must(t, err)
	must(t, os.Chmod(path, 0o666))
	return path, server
}

// For the same account a budget is advice, whatever the client does: other folders, another home, a clone, a file in the
// place of the attempts. It is called so, and nothing hangs.
func TestAttacks_AdvisoryIsCalledSo(t *testing.T) {
	top := axpy(t)
	dir := filepath.Join(top, "k")
	git(t, top, "clone", "-q", ".", "clone")
	for _, test := range []struct {
		name, dir string
		before    func()
	}{
		{"another working folder", filepath.Join(top, "clone", "k"), func() {}},
		{"another home", dir, func() { t.Setenv("HOME", t.TempDir()); t.Setenv("XDG_STATE_HOME", t.TempDir()) }},
		{"attempts that were removed", dir, func() { must(t, os.RemoveAll(filepath.Join(dir, ".pawl"))) }},
		{"attempts that are pipes", dir, func() {
			one := filepath.Join(dir, ".pawl", "attempts", "pawl", "77")
			must(t, os.MkdirAll(one, 0o755))
			for _, name := range []string{"submission.json", "answer.json", "note.txt", "explained.json"} {
				must(t, syscall.Mkfifo(filepath.Join(one, name), 0o644))
			}
		}},
		{"attempts behind a link", dir, func() {
			must(t, os.RemoveAll(filepath.Join(dir, ".pawl")))
			must(t, os.Symlink(t.TempDir(), filepath.Join(dir, ".pawl")))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.before()
			write(t, filepath.Join(test.dir, "kernel.c"), fastKernel)
			a := start(t, test.dir)
			if r := a.call("submit", map[string]any{"stage": "compile", "files": []string{"k/kernel.c"}}); r.str("status") != "compiled" || r.about.Budget != "advisory" {
				t.Errorf("%s %+v", r.text, r.about)
			}
		})
	}
}
