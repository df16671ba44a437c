package wake

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

func host(t *testing.T, h HostConfig) (Runner, *HostConfig) {
	t.Helper()
	h.Name = "box"
	set(&h.Timeout, await.Limit)
	c := &Config{dir: t.TempDir(), State: "s", Secret: Secret{Env: "HOOK_SECRET"}, Hosts: []HostConfig{h}}
	return Runner{c}, &c.Hosts[0]
}

func TestStatusCommand(t *testing.T) {
	for line, want := range map[string]struct {
		power Power
		why   string
	}{
		"echo on":                       {On, ""},
		"printf ' OFF \\n'":             {Off, ""},
		"echo stopping; echo noise >&2": {Stopping, ""},
		"echo on; exit 3":               {Unknown, "exit status 3"},
		"echo perhaps":                  {Unknown, `must print on, off, starting or stopping, got "perhaps"`},
		"true":                          {Unknown, `must print on, off, starting or stopping, got ""`},
		"echo on; echo off":             {Unknown, `must print on, off, starting or stopping, got "on\noff"`},
		"/nowhere":                      {Unknown, "/nowhere"},
	} {
		r, h := host(t, HostConfig{Status: line})
		power, why, busy := r.Ask(t.Context(), h)
		if power != want.power || !strings.Contains(why, want.why) || (why == "") != (want.why == "") || busy {
			t.Errorf("%s: %q %q %v", line, power, why, busy)
		}
	}
}

// A command gets the name of its host and none of the secrets. Its output is truncated.
func TestMoveCommand(t *testing.T) {
	t.Setenv("HOOK_SECRET", "s3cret")
	r, h := host(t, HostConfig{Start: `test "$PAWL_HOST" = box && test -z "$HOOK_SECRET" && touch started`, Stop: "yes why | head -c 100000; exit 1"})
	if why := r.Move(t.Context(), h, Start); why != "" {
		t.Error(why)
	}
	if _, err := os.Stat(filepath.Join(r.Config.dir, "started")); err != nil {
		t.Error(err)
	}
	if why := r.Move(t.Context(), h, Stop); !strings.Contains(why, "exit status 1") || !strings.Contains(why, "why\nwhy") || len(why) > 2*maxOutput {
		t.Errorf("%d bytes: %.100s", len(why), why)
	}
	r, h = host(t, HostConfig{Start: "sleep 600", Timeout: 50 * time.Millisecond})
	if why := r.Move(t.Context(), h, Start); !strings.Contains(why, "was stopped after 50ms") {
		t.Error(why)
	}
}

// A host is busy while its command runs. Processes that an ended command left behind do not count.
func TestBusy(t *testing.T) {
	r, h := host(t, HostConfig{Start: "touch begun; while ! test -e go; do sleep 0.01; done", Stop: "sleep 600 >/dev/null 2>&1 & echo $! > pid", Status: "echo on"})
	ended := make(chan string)
	go func() { ended <- r.Move(t.Context(), h, Start) }()
	await.True(t, "the start command to run", func() bool {
		_, err := os.Stat(filepath.Join(r.Config.dir, "begun"))
		return err == nil
	})
	if _, _, busy := r.Ask(t.Context(), h); !busy {
		t.Error("the start command is running, but the host is not busy")
	}
	if err := os.WriteFile(filepath.Join(r.Config.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if why := <-ended; why != "" {
		t.Error(why)
	}
	if _, _, busy := r.Ask(t.Context(), h); busy {
		t.Error("the start has ended, and the host is busy")
	}
	if why := r.Move(t.Context(), h, Stop); why != "" {
		t.Error(why)
	}
	defer kill(t, filepath.Join(r.Config.dir, "pid"))
	if _, _, busy := r.Ask(t.Context(), h); busy {
		t.Error("what a command left in the background makes the host busy")
	}
}

func kill(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}
