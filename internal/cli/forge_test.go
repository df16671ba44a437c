package cli_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/forgetest"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/measure"
)

// A pull request on a forge that pawl has never seen: it starts, is slower, is accepted by a comment, and a fork's run is
// published from its artifact.
func TestForge_WholePullRequest(t *testing.T) { // not parallel: it replaces the list of forges
	head := forge.Head{Repo: 1, Branch: "change", SHA: untrustedtest.Head}
	m := &forgetest.Memory{
		Current: forge.Job{
			Repo: "owner/name", Pull: 1, RunURL: "memory://runs/7", Summary: filepath.Join(t.TempDir(), "summary.md"),
			Event: forge.Event{Kind: forge.OnPull, Name: "merge request", Head: untrustedtest.Head, Base: untrustedtest.Base},
		},
		Token: "MEMORY_TOKEN",
		Pulls: map[int]forge.Pull{1: {Number: 1, Open: true, HeadRepo: 1, HeadBranch: "change", HeadSHA: untrustedtest.Head, BaseSHA: untrustedtest.Base}},
		Files: map[string][]byte{untrustedtest.Head + ":pawl.yaml": []byte(untrustedtest.Suite)},
		Said:  map[int][]forge.Comment{}, Permissions: map[string]forge.Permission{"writer": forge.Write}, Uploads: map[int64][]byte{},
	}
	defer func(was []forge.Forge) { env.Forges = was }(env.Forges)
	env.Forges = []forge.Forge{m}
	dir := t.TempDir()
	suite, results := filepath.Join(dir, "pawl.yaml"), filepath.Join(dir, "results")
	for path, text := range map[string]string{suite: untrustedtest.Suite, filepath.Join(results, untrusted.Code): "0\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := measure.Save(filepath.Join(results, untrusted.Record), untrustedtest.Record(map[string]float64{"softmax/N128": 0.1})); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"MEMORY_TOKEN": "t", "GOMEMLIMIT": "off"}
	run := func(want int, args ...string) {
		t.Helper()
		var out bytes.Buffer
		io := &command.IO{In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(name string) string { return env[name] }}
		if code := cli.Main(t.Context(), append([]string{"ci", "comment", "--suite", suite}, args...), io); code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s", args, code, want, out.String())
		}
	}
	check := func(status forge.Status, conclusion forge.Conclusion) {
		t.Helper()
		if c, ok := m.Check(untrustedtest.Head, "pawl"); !ok || c.Status != status || c.Conclusion != conclusion {
			t.Fatalf("the check is %+v, want %s %q", c, status, conclusion)
		}
	}

	run(0, "--start")
	check(forge.InProgress, "")
	run(1, "--results", results, "--fail")
	check(forge.Completed, forge.Failure)
	if s := m.Sections(1); len(s) != 1 || !strings.Contains(s[0], "softmax/N128") {
		t.Errorf("the report is %q", s)
	}
	m.Said[1] = []forge.Comment{{Author: "writer", Body: "/pawl accept 1111111 needed"}}
	run(0, "--results", results, "--fail")
	check(forge.Completed, forge.Neutral)

	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	if err := z.AddFS(os.DirFS(results)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	m.Said[1] = nil
	m.AllRuns = []forge.Run{{ID: 5, Workflow: "ci.yml", Event: "merge request", Pull: true, Head: head, Fork: true, Status: "completed"}}
	m.Uploaded, m.Uploads[8] = []forge.Artifact{{ID: 8, Name: "pawl-results", Run: 5}}, packed.Bytes()
	m.Current.Event = forge.Event{Kind: forge.OnRun, Name: "run", Run: 5}
	run(0, "--workflow", "ci.yml")
	check(forge.Completed, forge.Neutral)

	env["MEMORY_TOKEN"] = ""
	run(3, "--results", results)
}
