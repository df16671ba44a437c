package daemon

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// process is a pawld that runs.
type process struct {
	cmd     *exec.Cmd
	Address string // where it listens
	Socket  string // of the admin
	mu      sync.Mutex
	log     strings.Builder
	ended   chan struct{}
}

// startServe starts pawld serve on a database and waits until it listens.
func startServe(t *testing.T, url string, env ...string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{Socket: filepath.Join(dir, "admin.sock")}
	p.start(t, append([]string{
		"PAWLD_DATABASE_URL=" + url, "PAWLD_DATABASE_ALLOW_UNSAFE=true", "PAWLD_LISTEN=127.0.0.1:0", "PAWLD_SHUTDOWN_DELAY=0s",
		"PAWLD_BLOBS_URL=file://" + filepath.Join(dir, "blobs"), "PAWLD_ADMIN_LISTEN=unix:" + p.Socket,
	}, env...), "serve")
	p.wait(t, func(line map[string]any) bool {
		p.Address, _ = line["address"].(string)
		return line["msg"] == "listening"
	})
	return p
}

// start starts a command. It is ended with the test.
func (p *process) start(t *testing.T, env []string, args ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(self, args...)
	p.cmd.Env = append([]string{asPawld, "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + os.Getenv("TMPDIR"), "GORACE=atexit_sleep_ms=0"}, env...)
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.ended = make(chan struct{})
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.mu.Lock()
			p.log.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
		}
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("%v said:\n%s", args, p.said())
		}
	})
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// wait waits for a line of its log.
func (p *process) wait(t *testing.T, is func(map[string]any) bool) {
	t.Helper()
	p.awaitAlive(t, "a line of the log", func() bool {
		for line := range strings.Lines(p.said()) {
			var fields map[string]any
			if json.Unmarshal([]byte(line), &fields) == nil && is(fields) {
				return true
			}
		}
		return false
	})
}

// awaitAlive waits until holds returns true. It fails if the process ends first.
func (p *process) awaitAlive(t *testing.T, what string, holds func() bool) {
	t.Helper()
	await.True(t, what, func() bool {
		ended := false
		select {
		case <-p.ended:
			ended = true
		default:
		}
		if holds() {
			return true
		}
		if ended {
			t.Fatalf("it ended while the test waited for %s: %v", what, p.cmd.ProcessState)
		}
		return false
	})
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// code waits for its end.
func (p *process) code(t *testing.T) int {
	t.Helper()
	await.Receive(t, "the process to end", p.ended)
	return p.cmd.ProcessState.ExitCode()
}

// get asks for a path; 0 where nobody answers.
func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}
