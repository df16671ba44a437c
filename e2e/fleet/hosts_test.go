package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
)

const sleeper = "sleeper" // host and device model

// hostsFile writes the file of fleet.hosts: a host that is on while its agent runs.
func (w *world) hostsFile(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(w.dir, sleeper)
	must(t, os.MkdirAll(dir, 0o700))
	pid := filepath.Join(dir, "pid")
	for name, script := range map[string]string{
		"start": fmt.Sprintf("%s serve --server %s --state %s --code %s --device cpu:%s --model %s >>%s 2>&1 &\necho $! >%s\n",
			filepath.Join(w.bin, "pawl-agent"), w.gateway, filepath.Join(dir, "agent"), filepath.Join(dir, "code"), sleeper, sleeper, filepath.Join(dir, "log"), pid),
		"stop":   fmt.Sprintf("kill $(cat %s)\n", pid),
		"status": fmt.Sprintf("grep -qs serve /proc/$(cat %s)/cmdline && echo on || echo off\n", pid),
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600))
	}
	path := filepath.Join(dir, "hosts.yaml")
	must(t, os.WriteFile(path, []byte("version: 1\nhosts:\n  - {name: sleeper, start: sh start, stop: sh stop, status: sh status, idle: 30s}\nbudget: {hours_per_day: 20}\n"), 0o600))
	t.Cleanup(func() {
		text, _ := os.ReadFile(pid)
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
		if log, _ := os.ReadFile(filepath.Join(dir, "log")); t.Failed() {
			t.Logf("sleeper:\n%s", log)
		}
	})
	return path
}

// A host is off. A gate waits for its device, so it is started; when it was idle for long enough, it is stopped.
func (w *world) testHosts(t *testing.T) {
	t.Helper()
	dir := filepath.Join(w.dir, sleeper)
	enrolled := w.startAs(sleeper, nil, "pawl-agent", "serve", "--server", w.gateway, "--state", filepath.Join(dir, "agent"), "--code", w.enroll(t, dir, sleeper), "--device", "cpu:"+sleeper, "--model", sleeper)
	device := func(state string) func() bool {
		return func() bool {
			for line := range strings.Lines(w.must(t, "pawl", "fleet", "devices")) {
				if f := strings.Fields(line); strings.Contains(line, " cpu:sleeper on sleeper") && (f[1] == state || state == "") {
					return true
				}
			}
			return false
		}
	}
	await.TrueWithin(t, patience, "the device to be in the fleet", device(""))
	must(t, enrolled.Process.Signal(syscall.SIGTERM))
	_ = enrolled.Wait()
	await.TrueWithin(t, patience, "the device to sleep", device("asleep"))

	r := newRepository(t)
	r.commit(t, "120")
	stdout, stderr, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", sleeper)
	if exitCode(t, err) != 1 || verdictOf(t, filepath.Join(r.dir, "results")) != "regression" {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	var sum wake.Summary
	await.TrueWithin(t, patience, "the host to be stopped", func() bool {
		must(t, json.Unmarshal([]byte(w.must(t, "pawld", "fleet", "hosts", "--json")), &sum))
		return sum.Hosts[0].Power == wake.Off && sum.Spent > 0
	})
	await.TrueWithin(t, patience, "the device to sleep again", device("asleep"))
	if len(sum.Hosts) != 1 || sum.Hosts[0].Failed > 0 || sum.Waiting+sum.Running > 0 {
		t.Errorf("%+v", sum)
	}
}
