package mcp

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHTTP_RefusesOthers(t *testing.T) {
	t.Parallel()
	token := NewToken()
	web := httptest.NewServer(newServer(t).Handler(token))
	defer web.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(web.URL, "http://"))
	for _, c := range []struct {
		name, auth, origin, host string
		want                     int
	}{
		{"a good one", "Bearer " + token, "", "", 200},
		{"its own page", "Bearer " + token, web.URL, "", 200},
		{"by another name of this machine", "Bearer " + token, "", "localhost:" + port, 200},
		{"no token", "", "", "", 401},
		{"a wrong token", "Bearer " + strings.Repeat("x", len(token)), "", "", 401},
		{"another scheme", "Basic " + token, "", "", 401},
		{"the token alone", token, "", "", 401},
		{"a longer token", "Bearer " + token + "x", "", "", 401},
		{"another origin", "Bearer " + token, "https://attacker.example", "", 403},
		{"another port", "Bearer " + token, "http://127.0.0.1:1", "", 403},
		{"a hidden origin", "Bearer " + token, "null", "", 403},
		{"an origin that starts like it", "Bearer " + token, web.URL + ".attacker.example", "", 403},
		{"a name that resolves to this machine", "Bearer " + token, "", "attacker.example:" + port, 403},
		{"such a name and its page", "Bearer " + token, "http://attacker.example", "attacker.example", 403},
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(body))
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
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want || (c.want == 200) != strings.Contains(string(text), `"submit_batch"`) {
			t.Errorf("%s: %d, want %d: %.200s", c.name, res.StatusCode, c.want, text)
		}
	}
}

func TestReadToken(t *testing.T) {
	t.Parallel()
	dir, good := t.TempDir(), NewToken()
	if got, err := ReadToken(write(t, dir, "good", good+"\n")); got != good || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	open := write(t, dir, "open", good)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("good", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{open, link, write(t, dir, "short", "short"), write(t, dir, "spaces", strings.Repeat("a b", 20)), filepath.Join(dir, "none"), dir} {
		if _, err := ReadToken(path); err == nil {
			t.Errorf("%s was accepted", path)
		}
	}
}

func TestTCPAccount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0100007F:1F90": "127.0.0.1:8080", "00000000000000000000000001000000:0050": "[::1]:80",
		"0000000000000000FFFF00000100007F:0050": "127.0.0.1:80", "": "", "01:50": "", "0100007F": "",
	} {
		if got := tableAddress(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := tcpAccount(conn.LocalAddr().String(), l.Addr().String()); got != os.Geteuid() || apart(got) {
		t.Errorf("account %d, want %d", got, os.Geteuid())
	}
	if got := tcpAccount("127.0.0.1:1", l.Addr().String()); apart(got) {
		t.Errorf("account %d of no connection", got)
	}
}

// A socket of a killed server is replaced, one in use is not.
func TestListen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	l, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := Listen(t.Context(), path); err == nil {
		t.Error("two servers on one socket")
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if l, err = Listen(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Listen(t.Context(), write(t, dir, "file", "")); err == nil {
		t.Error("a file was replaced")
	}
}

func TestOnlyOurs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o702: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if got := onlyOurs(dir); got != want {
			t.Errorf("%v: %t", mode, got)
		}
	}
	in := filepath.Join(dir, "in") // a folder that others can replace is not ours
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o755: true, 0o777: false, 0o777 | os.ModeSticky: true} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if got := onlyOurs(in); got != want {
			t.Errorf("in %v: %t", mode, got)
		}
	}
	if onlyOurs(write(t, dir, "file", "")) || onlyOurs(filepath.Join(dir, "none")) {
		t.Error("a file, or nothing, is not a folder")
	}
}
