package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// In the middle of a measurement the files of an agent, and the environments and command lines of its processes, hold one
// secret: its key, in one file. Nothing of pawld, its databases, the forge or the project's keys is there.
func (w *world) testSecrets(t *testing.T) {
	secrets := map[string]string{"the fleet's secret": strings.Repeat("s", 32), "the forge's token": w.forge.Token}
	var env []string // nothing of the server's is on the host
	for _, kv := range w.env {
		switch name, value, _ := strings.Cut(kv, "="); {
		case name == "PAWL_TOKEN":
			secrets["the key of a project"] = value
			fallthrough
		case strings.HasPrefix(name, "PAWLD_"), name == "PAWL_SERVER", name == "PAWL_PROJECT":
			env = append(env, name+"=")
		}
	}
	i := w.newIsland(t, "bare", "a", env...)
	defer func() { _ = i.cmd.Process.Kill() }()
	code, err := os.ReadFile(filepath.Join(w.dir, "barea", "code"))
	must(t, err)
	secrets["the one-time code"] = strings.TrimSpace(string(code))

	r := newRepository(t)
	r.commit(t, "120")
	g := w.startGate(t, r, 6, "bare")
	dump := map[string][]byte{}
	must(t, filepath.WalkDir(i.state, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // git and pawl remove files meanwhile
		}
		if text, err := os.ReadFile(path); err == nil {
			dump[path] = text
		}
		return nil
	}))
	processes := append([]int{i.cmd.Process.Pid}, descendants(i.cmd.Process.Pid)...)
	for _, pid := range processes {
		for _, name := range []string{"environ", "cmdline"} {
			path := fmt.Sprintf("/proc/%d/%s", pid, name)
			dump[path], _ = os.ReadFile(path)
		}
	}
	must(t, os.Remove(r.hold))
	if code := exitCode(t, g.wait()); code != 1 {
		t.Errorf("exit code %d, want 1\n%s", code, g.said())
	}

	var id struct{ Key string }
	must(t, json.Unmarshal(dump[filepath.Join(i.state, "agent.json")], &id))
	if len(processes) < 3 || len(dump) < 2*len(processes)+10 || len(id.Key) < 40 {
		t.Fatalf("%d processes, %d files and a key of %d characters: nothing was looked at", len(processes), len(dump), len(id.Key))
	}
	for path, text := range dump {
		for what, secret := range secrets {
			if len(secret) < 12 || bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s is in %s", what, path)
			}
		}
		if n := bytes.Count(text, []byte(id.Key)); (filepath.Base(path) == "agent.json") != (n == 1) {
			t.Errorf("the agent's key is %d times in %s", n, path)
		}
		if filepath.Base(path) == "lease.json" {
			var f struct{ Token []byte }
			must(t, json.Unmarshal(text, &f))
			if len(f.Token) < 100 || bytes.Contains(f.Token, []byte("gate/kernels/"+g.id)) {
				t.Errorf("the token of the task is not sealed: %q", f.Token)
			}
		}
	}
	await.TrueWithin(t, patience, "the agent to remove the lease", func() bool { return !i.busy() })
}
