package mcp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHTTPTurnsAway(t *testing.T) {
	s := tried(t, script(t, `echo '{}'`))
	token := NewToken()
	web := httptest.NewServer(s.Handler(HTTPOptions{Token: token, Hosts: []string{"gpu.example"}}))
	defer web.Close()
	own := strings.TrimPrefix(web.URL, "http://")
	for _, c := range []struct {
		name, auth, origin, host string
		want                     int
	}{
		{"a good one", "Bearer " + token, "", "", 200},
		{"its own page", "Bearer " + token, web.URL, "", 200},
		{"by its given name", "Bearer " + token, "", "gpu.example:80", 200},
		{"no token", "", "", "", 401},
		{"a wrong token", "Bearer " + strings.Repeat("x", len(token)), "", "", 401},
		{"another scheme", "Basic " + token, "", "", 401},
		{"the token alone", token, "", "", 401},
		{"a longer token", "Bearer " + token + "x", "", "", 401},
		{"another origin", "Bearer " + token, "https://attacker.example", "", 403},
		{"another port", "Bearer " + token, "http://127.0.0.1:1", "", 403},
		{"no origin to speak of", "Bearer " + token, "null", "", 403},
		{"an origin that begins like it", "Bearer " + token, web.URL + ".attacker.example", "", 403},
		{"a name that leads here", "Bearer " + token, "", "attacker.example:" + own[strings.LastIndex(own, ":")+1:], 403},
		{"such a name, and its page", "Bearer " + token, "http://attacker.example", "attacker.example", 403},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{
			"Authorization": c.auth, "Origin": c.origin, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list",
		} {
			if v != "" {
				req.Header.Set(k, v)
			}
		}
		if c.host != "" {
			req.Host = c.host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want || (c.want == 200) != strings.Contains(string(body), `"session_start"`) {
			t.Errorf("%s: %d, not %d: %.200s", c.name, res.StatusCode, c.want, body)
		}
	}
}

func TestReadToken(t *testing.T) {
	dir := t.TempDir()
	file := func(text string, mode os.FileMode) string {
		path := filepath.Join(dir, "token")
		os.Remove(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := NewToken()
	if got, err := ReadToken(file(good+"\n", 0o600)); got != good || err != nil {
		t.Errorf("%q %v", got, err)
	}
	for text, mode := range map[string]os.FileMode{good: 0o644, "short": 0o600, strings.Repeat("a b", 20): 0o600} {
		if _, err := ReadToken(file(text, mode)); err == nil {
			t.Errorf("%q %v is taken", text, mode)
		}
	}
}
