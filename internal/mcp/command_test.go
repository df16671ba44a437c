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
	out, err := s.run(t.Context(), "client", []string{"bench", "--json"}, time.Minute, func(e map[string]any) { events = append(events, e) })
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
	out, err := s.run(t.Context(), "client", nil, time.Minute, nil)
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
sleep 300 & echo $! >> `+pids+`
(trap '' INT TERM; sleep 301 & echo $! >> `+pids+`; wait) &
echo $! >> `+pids+`
echo ready >> `+pids+`
wait; sleep 302`))
	ctx, cancel := context.WithCancel(t.Context())
	type end struct {
		out outcome
		at  time.Time
	}
	ended := make(chan end, 1)
	go func() {
		out, _ := s.run(ctx, "client", nil, time.Minute, nil)
		ended <- end{out, time.Now()}
	}()
	for {
		text, _ := os.ReadFile(pids)
		if strings.Contains(string(text), "ready") && len(strings.Fields(string(text))) == 4 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	cancel()
	e := <-ended
	if took := e.at.Sub(began); took > 20*time.Second { // 1 s without load: e2e/mcp measures it
		t.Errorf("it took %v", took)
	}
	if e.out.limit != "cancelled" {
		t.Errorf("it says %+v", e.out)
	}
	text, _ := os.ReadFile(pids)
	for pid := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(pid)
		for end := time.Now().Add(20 * time.Second); err == nil && alive(n); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) { // a busy machine lets the killed wait
				t.Fatalf("process %d still runs", n)
			}
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestRunHasALimit(t *testing.T) {
	s := tried(t, script(t, `sleep 300`))
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
