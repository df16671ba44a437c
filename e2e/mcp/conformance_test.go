package mcp

import (
	"bufio"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func toolCall(tool string, args map[string]any) *sdk.CallToolParams {
	p := &sdk.CallToolParams{Name: tool, Arguments: args}
	p.SetProgressToken(tool)
	return p
}

func (a *agent) heard(text string) bool { return a.count(text) > 0 }

// count returns how many messages of progress have a text.
func (a *agent) count(text string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, s := range a.told {
		if strings.Contains(s, text) {
			n++
		}
	}
	return n
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// The SDK's client gets through on every transport: each tool answers, and wrong calls are errors that say what to do.
func TestConformance(t *testing.T) {
	top := axpy(t)
	dir := filepath.Join(top, "k")
	write(t, filepath.Join(dir, "kernel.c"), fastKernel)
	t.Run("stdio", func(t *testing.T) { everyTool(t, start(t, dir)) })
	t.Run("socket", func(t *testing.T) {
		path, server := startSocket(t, dir)
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
		must(t, err)
		everyTool(t, connect(t, &sdk.IOTransport{Reader: conn, Writer: conn}))
		if left := below(server.Pid); len(left) > 3 { // the last call's may still be ending
			t.Errorf("a server that runs on collects processes: %v", left)
		}
	})
}

func everyTool(t *testing.T, a *agent) {
	t.Helper()
	list, err := a.session.ListTools(t.Context(), nil)
	must(t, err)
	var names []string
	for _, tool := range list.Tools {
		if names = append(names, tool.Name); tool.OutputSchema != nil {
			t.Errorf("%s has an output schema", tool.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"doctor", "explain", "history", "note", "submit", "submit_batch"}; !slices.Equal(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
	first := a.call("submit", map[string]any{"stage": "compile", "note": "first"})
	diff := "--- a/kernel.c\n+++ b/kernel.c\n@@ -1 +1,2 @@\n #include <math.h>\n+// one\n"
	batch := a.call("submit_batch", map[string]any{"stage": "compile", "candidates": []map[string]any{{"diff": diff}, {"diff": strings.Replace(diff, "one", "two", 1)}, {"diff": "none"}}})
	answers, _ := batch.doc["answers"].([]any)
	if first.str("status") != "compiled" || len(answers) != 3 || answers[1].(map[string]any)["status"] != "compiled" || answers[2].(map[string]any)["status"] != "refused" {
		t.Errorf("%s\n%s", first.text, batch.text)
	}
	for tool, args := range map[string]map[string]any{
		"doctor": {"suite": "k"}, "history": {"suite": "k/pawl.yaml", "skip": 1, "count": 2}, "note": {"id": first.str("id"), "text": "x"}, "explain": {"id": first.str("id"), "other": "base"},
	} {
		if r := a.call(tool, args); r.failed {
			t.Errorf("%s: %s", tool, r.text)
		}
	}
	for _, wrong := range []struct {
		tool string
		args map[string]any
	}{
		{"submit", map[string]any{"shell": "rm -rf /"}},
		{"submit", map[string]any{"stage": "all"}},
		{"submit", map[string]any{"budget_s": -1}},
		{"submit", map[string]any{"commit": "HEAD", "diff": diff}},
		{"submit_batch", map[string]any{"candidates": []map[string]any{}}},
		{"submit_batch", map[string]any{"candidates": []map[string]any{{}}}},
		{"submit_batch", map[string]any{}},
		{"explain", map[string]any{"id": "999"}},
		{"explain", map[string]any{"id": "../1"}},
		{"note", map[string]any{"id": `1"`, "text": "x"}},
		{"history", map[string]any{"count": 11}},
		{"history", map[string]any{"skip": -1}},
		{"doctor", map[string]any{"skip": -1}},
	} {
		if r := a.call(wrong.tool, wrong.args); !r.failed {
			t.Errorf("%s %v: %s", wrong.tool, wrong.args, r.text)
		}
	}
	if _, err := a.session.CallTool(t.Context(), toolCall("shell", nil)); err == nil {
		t.Error("a tool that does not exist answered")
	}
}

// serveSocket starts pawl mcp on a socket and returns its path.
func serveSocket(t *testing.T, dir string, args ...string) string {
	t.Helper()
	path, _ := startSocket(t, dir, args...)
	return path
}

func startSocket(t *testing.T, dir string, args ...string) (path string, server *os.Process) {
	t.Helper()
	folder, err := os.MkdirTemp("", "pawl-mcp-") //nolint:usetesting // that of a test is closed to other accounts
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o755))
	path = filepath.Join(folder, "s")
	_, server = listening(t, dir, 1, append([]string{"--socket", path}, args...)...)
	must(t, os.Chmod(path, 0o666)) // its folder would decide
	return path, server
}

// listening starts a server and returns the first lines that it writes to stderr. After the test SIGTERM ends it,
// with all that it started.
func listening(t *testing.T, dir string, lines int, args ...string) (said []string, server *os.Process) {
	t.Helper()
	cmd := serverCommand(t, dir, args...)
	cmd.Stderr = nil
	out, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	scanner := bufio.NewScanner(out)
	for len(said) < lines && scanner.Scan() {
		said = append(said, scanner.Text())
	}
	if len(said) < lines {
		t.Fatalf("it said %q: %v", said, cmd.Wait())
	}
	t.Cleanup(func() {
		started := below(cmd.Process.Pid)
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		done := make(chan error, 1)
		go func() {
			for scanner.Scan() {
			}
			done <- cmd.Wait()
		}()
		if err := await.Receive(t, "the end of the server", done); err != nil {
			t.Error(err)
		}
		for _, pid := range started {
			await.True(t, "the end of process "+strconv.Itoa(pid), func() bool { return syscall.Kill(pid, 0) != nil })
		}
	})
	return said, cmd.Process
}
