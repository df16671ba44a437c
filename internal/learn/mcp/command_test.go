package mcp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// script is a program that stands in for pawl.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pawl")
	if err := os.WriteFile(path, []byte("#!/bin/bash\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRun(t *testing.T) {
	s := tried(t, script(t, `echo '{"event":"built","seconds":1.5,"side":"base"}' >&2
echo "cc: warning" >&2
echo "{\"actor\":\"$PAWL_ACTOR\",\"secret\":\"$SECRET\",\"args\":\"$*\"}"
exit 2`))
	t.Setenv("SECRET", "x")
	var events []map[string]any
	out, err := s.run(t.Context(), "client", []string{"bench", "--json"}, await.Limit, func(e map[string]any) { events = append(events, e) })
	if err != nil {
		t.Fatal(err)
	}
	if out.exit != 2 || strings.TrimSpace(out.said) != "cc: warning" || len(events) != 1 || sentence(events[0]) != "built base in 1.5 s" {
		t.Errorf("%+v %v", out, events)
	}
	if got, want := strings.TrimSpace(string(out.stdout)), `{"actor":"agent:client","secret":"","args":"bench --json"}`; got != want {
		t.Errorf("it answers %s, not %s", got, want)
	}
}

func TestRunBoundsWhatIsSaid(t *testing.T) {
	s := tried(t, script(t, `head -c 3000000 /dev/zero | tr '\0' x; head -c 300000 /dev/zero | tr '\0' y >&2`))
	out, err := s.run(t.Context(), "client", nil, await.Limit, nil)
	if err != nil || !out.cut || len(out.stdout) != maxOutput || len(out.said) > stderrTail {
		t.Errorf("cut %v, %d and %d bytes: %v", out.cut, len(out.stdout), len(out.said), err)
	}
	if a := told(Tool{}, out); a.Cut == "" || a.Result != nil {
		t.Errorf("a cut answer says %+v", a)
	}
}

// A command that does not listen, and what it started in groups of their own, are gone soon
// after the request is cancelled.
func TestRunEndsEverything(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	s := tried(t, script(t, `trap '' INT TERM
set -m
sleep 1000 & echo $! >> `+pids+`
(trap '' INT TERM; sleep 1001 & echo $! >> `+pids+`; wait) &
echo $! >> `+pids+`
echo ready >> `+pids+`
wait; sleep 1002`))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan outcome, 1)
	go func() {
		out, _ := s.run(ctx, "client", nil, time.Hour, nil)
		ended <- out
	}()
	var text []byte
	await.True(t, "the command and its children to start", func() bool {
		text, _ = os.ReadFile(pids)
		return strings.Contains(string(text), "ready") && len(strings.Fields(string(text))) == 4
	})
	cancel()
	if out := await.Receive(t, "the cancelled command to end", ended); out.limit != "cancelled" { // e2e/mcp measures how soon
		t.Errorf("it says %+v", out)
	}
	for pid := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(pid); err == nil {
			await.True(t, "process "+pid+" to die", func() bool { return !alive(n) })
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestRunHasALimit(t *testing.T) {
	s := tried(t, script(t, `sleep 1000`))
	out, err := s.run(t.Context(), "client", nil, 50*time.Millisecond, nil)
	if err != nil || out.limit != "time" {
		t.Errorf("%+v %v", out, err)
	}
}

func TestCleanEnviron(t *testing.T) {
	top := t.TempDir()
	bin := filepath.Join(top, "bin")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, link); err != nil {
		t.Fatal(err)
	}
	got := CleanEnviron([]string{
		"PATH=" + bin + ":/usr/bin:bin:.:" + link + "::/bin", "GIT_SSH_COMMAND=sh", "MAKEFLAGS=x", "LD_PRELOAD=x",
		"PAWL_ACTOR=person", "CI=1", "GITHUB_TOKEN=x", "HOME=/root", "PAWL_TOKEN=x", "BASH_ENV=x",
	}, top)
	want := []string{"PATH=/usr/bin:/bin", "HOME=/root", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
