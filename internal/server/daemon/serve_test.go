package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// inside is a client of the admin socket.
func inside(p *process) *http.Client {
	return &http.Client{Timeout: await.Limit, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", p.Socket)
		},
	}}
}

func TestServe(t *testing.T) {
	t.Parallel()
	p := startServe(t, storetest.URL(t), "PAWLD_SHUTDOWN_DELAY=1h")
	outside, admin := &http.Client{Timeout: await.Limit}, inside(p)
	public := "http://" + p.Address

	await.True(t, "the server to be ready", func() bool { code, _ := get(t, outside, public+"/readyz"); return code == 200 })
	for path, want := range map[string]int{"/livez": 200, "/v1/projects": 200, "/nowhere": 404} {
		if code, text := get(t, outside, public+path); code != want {
			t.Errorf("%s: %d, want %d: %s", path, code, want, text)
		}
	}
	// What is for the operator is on the socket, and nowhere else.
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/log/level"} {
		if code, text := get(t, admin, "http://admin"+path); code != 200 {
			t.Errorf("on the socket %s: %d %s", path, code, text)
		}
		if code, _ := get(t, outside, public+path); code != 404 {
			t.Errorf("strangers get %d from %s", code, path)
		}
	}
	if info, err := os.Stat(p.Socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is open to others: %v %v", info, err)
	}
	_, text := get(t, admin, "http://admin/metrics")
	for _, want := range []string{"pawld_build_info{", "pawld_requests_total{", "pawld_database_connections ", "pawld_queue_oldest_seconds ", "pawld_ingest_points_total 0", "go_goroutines "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s among the metrics", want)
		}
	}
	testLogLevel(t, admin)

	// It says that it goes, and still answers.
	p.signal(t, syscall.SIGTERM)
	await.True(t, "the server to stop being ready", func() bool { code, _ := get(t, outside, public+"/readyz"); return code == 503 })
	if code, _ := get(t, outside, public+"/livez"); code != 200 {
		t.Errorf("while it waits for balancers it answers %d", code)
	}
}

func testLogLevel(t *testing.T, admin *http.Client) {
	t.Helper()
	for body, want := range map[string]int{"loud": 400, "debug": 204} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://admin/log/level", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := admin.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("level %q: %d, want %d", body, resp.StatusCode, want)
		}
	}
	if _, text := get(t, admin, "http://admin/log/level"); strings.TrimSpace(text) != "debug" {
		t.Errorf("the level is %q", text)
	}
}

// A second signal is an order.
func TestServeSecondSignal(t *testing.T) {
	t.Parallel()
	p := startServe(t, storetest.URL(t), "PAWLD_SHUTDOWN_DELAY=1h")
	p.signal(t, syscall.SIGTERM)
	p.wait(t, func(line map[string]any) bool { return line["msg"] == "draining" })
	await.True(t, "a second signal to end the server", func() bool { // one right after the first is ignored
		select {
		case <-p.ended:
			return true
		default:
		}
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		return false
	})
	if state, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !state.Signaled() || state.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", p.cmd.ProcessState)
	}
}

// A database that is away is no reason to be restarted, and one to get no requests.
func TestServeWithoutDatabase(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(storetest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	line := newCable(t, u.Host)
	u.Host = line.address()
	p := startServe(t, u.String())
	outside := &http.Client{Timeout: await.Limit}
	ready := func() int { code, _ := get(t, outside, "http://"+p.Address+"/readyz"); return code }
	await.True(t, "the server to be ready", func() bool { return ready() == 200 })
	line.cut()
	await.True(t, "the server to stop being ready", func() bool { return ready() == 503 })
	if code, _ := get(t, outside, "http://"+p.Address+"/livez"); code != 200 {
		t.Errorf("it is called dead: %d", code)
	}
	line.mend()
	await.True(t, "the server to be ready again", func() bool { return ready() == 200 })
	p.signal(t, syscall.SIGTERM)
	if code := p.code(t); code != 0 {
		t.Errorf("it exits with %d", code)
	}
	if _, err := os.Stat(p.Socket); err == nil {
		t.Error("the socket is left behind")
	}
}

// Whatever a driver says of a connection, the password is not in it.
func TestPasswordIsNotTold(t *testing.T) {
	for _, args := range [][]string{{"migrate"}, {"serve"}, {"fsck"}, {"project", "list"}, {"config", "check"}} {
		for _, url := range []string{"postgres://pawl:hunter2@127.0.0.1:1/pawl?connect_timeout=2", "postgres://pawl:hunter2@127.0.0.1:port/pawl", "host=127.0.0.1 port=1 password=hunter2"} {
			code, out, errs := pawld(t, []string{"PAWLD_DATABASE_URL=" + url, "PAWLD_CI_ISSUERS=", "PAWLD_BLOBS_URL=file://" + t.TempDir()}, args...)
			if code == 0 || strings.Contains(out+errs, "hunter2") {
				t.Errorf("%v: exit %d: %s%s", args, code, out, errs)
			}
		}
	}
}

// cable is a connection to the database that can be cut.
type cable struct {
	to string
	l  net.Listener

	mu    sync.Mutex
	off   bool
	conns []net.Conn
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{to: to, l: l}
	go c.carry()
	t.Cleanup(func() { _ = l.Close(); c.cut() })
	return c
}

func (c *cable) address() string { return c.l.Addr().String() }

func (c *cable) carry() {
	for {
		in, err := c.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", c.to)
		c.mu.Lock()
		if c.off || err != nil {
			_ = in.Close()
			if err == nil {
				_ = out.Close()
			}
			c.mu.Unlock()
			continue
		}
		c.conns = append(c.conns, in, out)
		c.mu.Unlock()
		go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
	}
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

func (c *cable) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = false
}
