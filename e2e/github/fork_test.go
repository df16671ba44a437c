package github

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge"
)

const forkID = 2002

// artifact packs what a job kept, as GitHub does.
func (w *world) artifact(name string) []byte {
	w.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	if err := z.AddFS(os.DirFS(filepath.Join(w.store, name))); err != nil {
		w.Fatal(err)
	}
	if err := z.Close(); err != nil {
		w.Fatal(err)
	}
	return out.Bytes()
}

// A fork's own run measures and can tell nobody: its token may not write. The second
// workflow does, from the default branch, and what it says is neutral.
func TestAForkIsPublishedByTheSecondWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("checkout", "--quiet", "-b", "theirs")
	w.slow(200)
	w.commit("a stranger's change")
	p := forge.Pull{
		Open: true, Fork: true, HeadRepo: forkID, HeadBranch: "theirs", HeadSHA: w.git("rev-parse", "HEAD"), Author: "stranger",
		BaseBranch: "main", BaseSHA: w.git("rev-parse", "origin/main"),
	}
	p.Number = w.github.AddPull(p)
	w.git("push", "--quiet", "origin", fmt.Sprintf("HEAD:refs/pull/%d/head", p.Number))
	r := w.act("pawl-gate", "pull_request", w.github.ReadOnlyToken, w.pullEvent(p))
	w.wantJobs(r, "touched, measure-fork")
	if checks, comments := w.github.Checks(p.HeadSHA), w.github.Comments(p.Number); len(checks)+len(comments) != 0 {
		t.Fatalf("the fork's own run wrote %+v %+v", checks, comments)
	}

	run := forge.Run{Workflow: ".github/workflows/pawl-gate.yml", Event: "pull_request", Head: forge.Head{Repo: forkID, Branch: "theirs", SHA: p.HeadSHA}, Status: "completed", Conclusion: "success"}
	run.ID = w.github.AddRun(run)
	w.github.AddArtifact(run.ID, "pawl-results", w.artifact("pawl-results"))
	w.github.SetMergeBase(p.BaseSHA, p.HeadSHA, p.BaseSHA)
	w.git("checkout", "--quiet", "main")
	w.wantJobs(w.act("pawl-publish", "workflow_run", w.github.Token, event{
		"action": "completed", "repository": w.repository(),
		"workflow_run": event{"id": run.ID, "event": "pull_request", "head_sha": p.HeadSHA, "head_repository": event{"id": forkID}},
	}), "publish")
	if c := w.check(p.HeadSHA); c.Status != forge.Completed || c.Conclusion != forge.Neutral {
		t.Errorf("the check is %s, %s: %s", c.Status, c.Conclusion, c.Title)
	}
	if body := w.report(p.Number).Body; !strings.Contains(body, "fork") || !strings.Contains(body, w.name) {
		t.Errorf("the report is:\n%s", body)
	}
}
