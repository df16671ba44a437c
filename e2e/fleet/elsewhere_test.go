package fleet

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

// A host without a device builds both sides in the sandbox. The host of the card, whose tools are equal, measures them.
func (w *world) testElsewhere(t *testing.T) {
	if _, err := build.FindSandbox(t.Context()); err != nil {
		t.Skip("builds cannot be handed over: ", err)
	}
	kept := w.hostTools(t)
	start := func(name string, enroll []string, args ...string) *exec.Cmd {
		t.Helper()
		dir := filepath.Join(w.dir, name)
		must(t, os.MkdirAll(filepath.Join(dir, "cache"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "cache", "host-tools.json"), kept, 0o600))
		code := w.enroll(t, dir, name, enroll...)
		return w.startAs(name, []string{"PAWL_CACHE=" + filepath.Join(dir, "cache")}, "pawl-agent",
			append([]string{"serve", "--server", w.gateway, "--state", filepath.Join(dir, "agent"), "--code", code}, args...)...)
	}
	builder := start("builder", []string{"--build-only"}, "--build-only")
	defer func() { _ = builder.Process.Kill() }() // the version before this one knows no such host
	start("elsewhere", nil, "--device", "cpu:elsewhere", "--model", "elsewhere", "--built-elsewhere")
	await.TrueWithin(t, patience, "both hosts to name their tools", func() bool {
		var list []struct {
			Host struct{ Tools string }
		}
		must(t, json.Unmarshal([]byte(w.must(t, "pawld", "agent", "list", "--json")), &list))
		tools := map[string]int{}
		for _, a := range list {
			tools[a.Host.Tools]++
		}
		delete(tools, "")
		for _, hosts := range tools {
			return len(tools) == 1 && hosts == 2
		}
		return false
	})

	r := newRepository(t)
	r.write(t, "pawl.yaml", "version: 1\nbuild: {command: cat /etc/debian_version ms >out, outputs: [out], sandbox: always}\n"+
		"harness: {command: sh kernel.sh, format: hyperfine, files: [kernel.sh, ms]}\n")
	r.write(t, ".gitignore", "results/\nout\n")
	r.commit(t, "100")
	r.commit(t, "120")
	stdout, stderr, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "elsewhere")
	if exitCode(t, err) != 1 || verdictOf(t, filepath.Join(r.dir, "results")) != "regression" {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	run, err := measure.Load(filepath.Join(r.dir, "results", "current.json"))
	must(t, err)
	if len(run.Implementations) != 2 {
		t.Fatalf("sides: %+v", run.Implementations)
	}
	for _, i := range run.Implementations {
		if b := i.Build; !b.Elsewhere || !b.Sandboxed || len(b.Outputs) != 1 {
			t.Errorf("%s was built as %+v, want it built elsewhere, in the sandbox", i.Name, b)
		}
	}
	if built, err := filepath.Glob(filepath.Join(w.dir, "elsewhere", "cache", "builds", "??", "*")); err != nil || len(built) != 0 {
		t.Errorf("the host of the card built %v, %v", built, err)
	}
}

// hostTools returns the file that keeps the digest of this machine's tools. It takes a minute, so CI keeps it.
func (w *world) hostTools(t *testing.T) []byte {
	t.Helper()
	dir := filepath.Join(w.dir, "tools")
	if cache, err := os.UserCacheDir(); err == nil {
		if _, err := os.Stat(filepath.Join(cache, "pawl-ci")); err == nil {
			dir = filepath.Join(cache, "pawl-ci", "tools")
		}
	}
	cmd := w.command(t, w.dir, "pawl", "build", "--tools")
	cmd.Env = append(cmd.Env, "PAWL_CACHE="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "host-tools.json"))
	must(t, err)
	return text
}
