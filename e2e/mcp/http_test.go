package mcp

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Over HTTP the real program lets in who has the token, by its own name, from no other
// page; internal/learn/mcp has the table of everybody else.
func TestHTTP(t *testing.T) {
	dir, _ := checkout(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "mcp", "--http", "127.0.0.1:0")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	said, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(said)
	word := func(after string) string {
		for lines.Scan() {
			if _, rest, ok := strings.Cut(lines.Text(), after); ok {
				return strings.TrimSpace(rest)
			}
		}
		t.Fatalf("it never said %q", after)
		return ""
	}
	url, token := word("serving "), word("token, shown once: ")
	go func() { _, _ = io.Copy(io.Discard, said) }()

	post := func(auth, origin, host, tool string) (int, string) {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"web","version":"1"}}}}`
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		must(t, err)
		for k, v := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool, "Authorization": auth, "Origin": origin,
		} {
			if v != "" {
				req.Header.Set(k, v)
			}
		}
		if host != "" {
			req.Host = host
		}
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		must(t, err)
		return res.StatusCode, string(text)
	}
	if code, text := post("Bearer "+token, "", "", "doctor"); code != 200 || !strings.Contains(text, `"usable":true`) {
		t.Errorf("doctor: %d %.600s", code, text)
	}
	for _, c := range []struct {
		what, auth, origin, host string
		want                     int
	}{
		{"no token", "", "", "", 401},
		{"a wrong token", "Bearer x" + token[1:], "", "", 401},
		{"a page of another origin", "Bearer " + token, "https://attacker.example", "", 403},
		{"a name that leads here", "Bearer " + token, "", "attacker.example", 403},
	} {
		if code, text := post(c.auth, c.origin, c.host, "doctor"); code != c.want || strings.Contains(text, "usable") {
			t.Errorf("%s: %d %.300s", c.what, code, text)
		}
	}
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if out, err := exec.CommandContext(ctx, binary, "-C", dir, "mcp", "--http", "0.0.0.0:0").CombinedOutput(); err == nil || !strings.Contains(string(out), "other machines") {
		t.Errorf("it listens to everybody: %s", out)
	}
}
